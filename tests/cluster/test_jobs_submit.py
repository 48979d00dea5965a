"""`gpufleet jobs` against a real control plane with the real MPI operator; nodes are fake, no container runs."""

import base64
import json
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.cluster.command_line import gpufleet, outputs, running, said_to_the_end, said_until
from tests.cluster.workloads import pods
from tools.kubernetes.api_client import wait_until
from tools.kubernetes.control_plane import ControlPlane
from tools.kubernetes.nodes import Nodes

IMAGE = ["--image", "training:1"]
WORKER, LAUNCHER = ("training.kubeflow.org/job-role=worker", "training.kubeflow.org/job-role=launcher")


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
    with running("jobs", "submit", "dev", *options, "--", "python3", "train.py") as job:
        # The scheduler may have looked at only one of them so far.
        [*_, waits] = said_until(job, "late-worker-0..1 wait: Unschedulable")
        job.send_signal(signal.SIGINT)
        rest, code = said_to_the_end(job)
    assert "late-worker-0..1 wait: Unschedulable: 0/" in waits
    assert "node affinity/selector" in waits
    assert [line for line in rest if line] == [
        "late: continues; follow it again with `gpufleet jobs logs dev late --follow`; "
        "stop it with `gpufleet jobs cancel dev late`"
    ]
    assert code == 130
    path = f"/apis/kubeflow.org/v2beta1/namespaces/{namespace}/mpijobs/late"
    assert operator.client.get(path)["metadata"]["name"] == "late"
    cancelled = gpufleet("jobs", "cancel", "dev", "late", "--outputs", file)
    assert cancelled.returncode == 0, cancelled.stderr
    wait_until("the job's pods are gone", lambda: pods(operator, namespace) == [])
    wait_until("the job is gone", lambda: operator.client.find(path) is None)
    again = gpufleet("jobs", "cancel", "dev", "late", "--outputs", file)
    assert (again.returncode, again.stderr) == (
        1,
        f"Error: late: job not found in namespace {namespace}; see `gpufleet jobs list`\n",
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
    assert (done.returncode, "nobody: job not found" in done.stderr) == (1, True)
