"""`gpufleet jobs` against a real control plane with the real MPI operator; nodes are fake, no container runs."""

import base64
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from api_client import wait_until
from control_plane import ControlPlane
from nodes import Nodes
from workloads import pods

GPUFLEET = str(Path(sys.executable).with_name("gpufleet"))
IMAGE = ["--image", "training:1"]
WORKER, LAUNCHER = ("training.kubeflow.org/job-role=worker", "training.kubeflow.org/job-role=launcher")


def outputs(operator: ControlPlane, namespace: str, folder: Path, **pools: dict[str, Any]) -> str:
    """A file like `pulumi stack output --json --show-secrets` makes it."""
    file = folder / "outputs.json"
    content = {
        "kubeconfig": operator.kubeconfig.read_text(),
        "registry_urls": {"dev/training": "registry.invalid/dev/training"},
        "jobs": {"namespace": namespace, "pools": pools},
    }
    file.write_text(json.dumps(content))
    return str(file)


def gpufleet(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([GPUFLEET, *arguments], capture_output=True, text=True, timeout=120, check=False)


@contextmanager
def watched(operator: ControlPlane, namespace: str, selector: str) -> Iterator[dict[str, dict[str, Any]]]:
    """Pods as they were last seen, by name: the operator deletes workers when their job has ended."""
    seen: dict[str, dict[str, Any]] = {}
    done = threading.Event()

    def look() -> None:
        while not done.wait(0.1):
            seen.update({pod["metadata"]["name"]: pod for pod in pods(operator, namespace, selector)})

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        done.set()
        thread.join()


def test_two_workers_are_submitted_followed_and_end(
    operator: ControlPlane, nodes: Nodes, namespace: str, tmp_path: Path
) -> None:
    here = nodes.add(2, "g5.8xlarge", "use1-az1", "twos")
    there = nodes.add(2, "g5.8xlarge", "use1-az2", "others")
    file = outputs(operator, namespace, tmp_path, twos={"types": ["g5.8xlarge"], "zones": ["use1-az1"], "max": 2})
    options = ["--outputs", file, "--workers", "2", "--gpus", "1", "--name", "train", "--wait", *IMAGE]
    with watched(operator, namespace, WORKER) as workers:
        done = gpufleet("jobs", "submit", "dev", *options, "--", "python3", "train.py")
    assert done.returncode == 0, done.stderr
    told = done.stderr.splitlines()
    assert told[0] == "train: submitted"
    assert [line for line in told if line in ("train: Created", "train: Running", "train: Succeeded")][-1] == (
        "train: Succeeded"
    )
    assert told[-1].startswith("train: succeeded after ")
    assert sorted(pod["spec"]["nodeName"] for pod in workers.values()) == sorted(here)
    assert there, "nodes of another zone that could have been taken"
    [launched] = pods(operator, namespace, LAUNCHER)
    assert launched["spec"]["nodeName"].startswith("system-")
    listed = gpufleet("jobs", "list", "dev", "--outputs", file, "--json")
    [job] = json.loads(listed.stdout)
    assert (job["name"], job["state"], job["workers"], job["gpusPerWorker"]) == ("train", "Succeeded", 2, 1)
    told = json.loads(gpufleet("jobs", "status", "dev", "train", "--outputs", file, "--json").stdout)
    assert (told["state"], told["exitCode"], told["waiting"]) == ("Succeeded", 0, [])


def test_what_the_operator_makes_of_a_job_is_what_mpirun_needs(
    operator: ControlPlane, nodes: Nodes, namespace: str, tmp_path: Path
) -> None:
    nodes.add(2, "g5.8xlarge", "use1-az1", "checked")
    file = outputs(operator, namespace, tmp_path, checked={"types": ["g5.8xlarge"], "zones": ["use1-az1"]})
    options = ["--outputs", file, "--workers", "2", "--name", "look", "--wait", *IMAGE]
    with watched(operator, namespace, WORKER) as workers:
        assert gpufleet("jobs", "submit", "dev", *options, "--", "python3", "train.py").returncode == 0
    core = f"/api/v1/namespaces/{namespace}"
    hosts = operator.client.get(f"{core}/configmaps/look-config")["data"]["hostfile"].splitlines()
    assert hosts == [f"look-worker-{number}.look.{namespace}.svc slots=1" for number in (0, 1)]
    secret = operator.client.get(f"{core}/secrets/look-ssh")
    assert secret["type"] == "kubernetes.io/ssh-auth"
    assert base64.b64decode(secret["data"]["ssh-privatekey"]).startswith(b"-----BEGIN ")
    assert base64.b64decode(secret["data"]["ssh-publickey"]).startswith(b"ecdsa-sha2-nistp521 ")
    [launcher] = pods(operator, namespace, LAUNCHER)
    container = launcher["spec"]["containers"][0]
    environment = {each["name"]: each.get("value") for each in container["env"]}
    assert environment["OMPI_MCA_orte_default_hostfile"] == "/etc/mpi/hostfile"
    assert environment["OMPI_MCA_orte_keep_fqdn_hostnames"] == "true"
    assert environment["NCCL_SOCKET_IFNAME"] == "=eth0"
    assert environment["MASTER_ADDR"] == f"look-worker-0.look.{namespace}.svc"
    mounts = {each["mountPath"] for each in container["volumeMounts"]}
    assert {"/etc/mpi", "/etc/gpufleet/ssh"} <= mounts
    worker = workers["look-worker-0"]
    assert "/etc/gpufleet/ssh" in {each["mountPath"] for each in worker["spec"]["containers"][0]["volumeMounts"]}
    assert worker["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == "1"


def test_pods_that_wait_are_named_with_the_schedulers_words_and_ctrl_c_leaves_the_job(
    operator: ControlPlane, namespace: str, tmp_path: Path
) -> None:
    file = outputs(operator, namespace, tmp_path, empty={"types": ["p5.48xlarge"], "zones": ["use1-az1"]})
    options = ["--outputs", file, "--workers", "2", "--name", "late", "--follow", *IMAGE]
    running = subprocess.Popen(
        [GPUFLEET, "jobs", "submit", "dev", *options, "--", "python3", "train.py"], stderr=subprocess.PIPE, text=True
    )
    assert running.stderr is not None
    said = []
    for line in running.stderr:
        said.append(line.rstrip("\n"))
        if "wait" in line and "Unschedulable" in line:
            break
    assert "late-worker-0..1 wait: Unschedulable: 0/" in said[-1]
    assert "node affinity/selector" in said[-1]
    os.kill(running.pid, signal.SIGINT)
    rest = running.stderr.read()
    assert running.wait(timeout=20) == 130
    assert rest.strip() == (
        "late: goes on; follow it again with `gpufleet jobs logs dev late --follow`; "
        "stop it with `gpufleet jobs cancel dev late`"
    )
    job = f"/apis/kubeflow.org/v2beta1/namespaces/{namespace}/mpijobs/late"
    assert operator.client.get(job)["metadata"]["name"] == "late"
    cancelled = gpufleet("jobs", "cancel", "dev", "late", "--outputs", file)
    assert cancelled.returncode == 0, cancelled.stderr
    wait_until("the job's pods are gone", lambda: pods(operator, namespace) == [], 30)
    again = gpufleet("jobs", "cancel", "dev", "late", "--outputs", file)
    assert (again.returncode, again.stderr) == (
        1,
        f"Error: late: there is no such job in namespace {namespace}; see `gpufleet jobs list`\n",
    )


def test_job_comes_after_another_that_succeeds_and_not_after_one_that_fails(
    operator: ControlPlane, nodes: Nodes, namespace: str, tmp_path: Path
) -> None:
    nodes.add(1, "g5.8xlarge", "use1-az1", "chain")
    file = outputs(operator, namespace, tmp_path, chain={"types": ["g5.8xlarge"], "zones": ["use1-az1"]})
    first = ["--outputs", file, "--workers", "1", "--name", "first", *IMAGE]
    assert gpufleet("jobs", "submit", "dev", *first, "--", "true").returncode == 0
    second = ["--outputs", file, "--workers", "1", "--name", "second", "--after", "first", "--wait", *IMAGE]
    done = gpufleet("jobs", "submit", "dev", *second, "--", "true")
    assert done.returncode == 0, done.stderr
    told = done.stderr.splitlines()
    ends = [line for line in told if " succeeded" in line or "submitted" in line]
    assert [line.split(" after ")[0] for line in ends] == ["first: succeeded", "second: submitted", "second: succeeded"]
    jobs = "/apis/kubeflow.org/v2beta1/namespaces/" + namespace + "/mpijobs"
    started = {job["metadata"]["name"]: job for job in operator.client.get(jobs)["items"]}
    assert started["second"]["metadata"]["creationTimestamp"] >= started["first"]["status"]["completionTime"], (
        "the second was made before the first had ended"
    )
    third = ["--outputs", file, "--workers", "1", "--name", "third", "--after", "nobody", *IMAGE]
    done = gpufleet("jobs", "submit", "dev", *third, "--", "true")
    assert (done.returncode, "there is no such job" in done.stderr) == (1, True)


@pytest.mark.slow
def test_512_nodes_of_8_gpus_need_only_another_number(
    operator: ControlPlane, nodes: Nodes, namespace: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nodes.add(512, "p5.48xlarge", "use1-az2", "many", network="efa")
    pool = {"types": ["p5.48xlarge"], "zones": ["use1-az2"], "network": "efa", "max": 512}
    file = outputs(operator, namespace, tmp_path, many=pool)
    figures = {}
    for workers in (2, 512):
        name = f"big-{workers}"
        before, began = _children_peak(), time.monotonic()
        options = ["--outputs", file, "--workers", str(workers), "--name", name, *IMAGE]
        done = gpufleet("jobs", "submit", "dev", *options, "--", "python3", "train.py")
        figures[workers] = (time.monotonic() - began, _children_peak(), before)
        assert done.returncode == 0, done.stderr
        if workers == 2:
            assert gpufleet("jobs", "cancel", "dev", name, "--outputs", file).returncode == 0
            wait_until("the small job is gone", lambda: pods(operator, namespace) == [], 60)
    began = time.monotonic()
    selector = f"{WORKER},training.kubeflow.org/job-name=big-512"

    def placed() -> bool:
        return sum("nodeName" in pod["spec"] for pod in pods(operator, namespace, selector)) == 512

    wait_until("512 workers have nodes", placed, 300, poll=2)
    seconds = time.monotonic() - began
    where = [pod["spec"]["nodeName"] for pod in pods(operator, namespace, selector)]
    assert len(set(where)) == 512
    assert all(node.startswith("many-use1-az2-") for node in where)
    hosts = operator.client.get(f"/api/v1/namespaces/{namespace}/configmaps/big-512-config")["data"]["hostfile"]
    assert len(hosts.splitlines()) == 512
    assert hosts.count("slots=8") == 512
    with capsys.disabled():
        for workers, (took, peak, _) in figures.items():
            print(f"\nsubmit of {workers} workers x 8 GPUs: {took:.2f} s, at most {peak / 1024:.0f} MiB")
        print(f"512 workers placed {seconds:.0f} s after the submit, all in one zone")
    assert figures[512][0] < 2 * figures[2][0] + 1


def _children_peak() -> int:
    """The highest memory of any process that this one has started and seen end, in KiB."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
