"""torchrun jobs of `gpufleet jobs` with JobSet's own controller and Kueue; nodes are fake, no container runs."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gpufleet.jobs.kubernetes.job_kind import JOB_SET
from gpufleet.kubernetes.jobset_controller import VERSION
from gpufleet.kubernetes.queue import QueueArgs, plan_cluster_queue, plan_flavors, plan_local_queue
from tests.cluster.command_line import gpufleet, outputs
from tests.cluster.workloads import pods
from tools.kubernetes.api_client import wait_until
from tools.kubernetes.control_plane import ControlPlane
from tools.kubernetes.nodes import Nodes
from tools.kubernetes.processes import Identity
from tools.kubernetes.programs import programs

TEAM = "vision"
QUEUE: QueueArgs = {"flavors": {"near": {"gpu": "A10G", "zone": "use1-az1"}}, "quotas": {TEAM: {"near": 8}}}
EXIT_CODE = "rehearsal.gpufleet.dev/exit-code"


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane with JobSet and Kueue, a queue of 8 GPUs, and nodes of 4 GPUs; it has no MPI operator."""
    made = ControlPlane(tmp_path_factory.mktemp("jobset") / "home", print)
    made.start(owner=Identity.of(os.getpid()))
    yield made
    made.stop()


def submit(file: str, name: str, *options: str) -> Any:
    words = ["--outputs", file, "--name", name, "--workers", "2", "--launcher", "torchrun", "--image", "training:1"]
    return gpufleet("jobs", "submit", "dev", *words, *options, "--", "python3", "train.py")


def details(file: str, name: str) -> dict[str, Any]:
    done = gpufleet("jobs", "status", "dev", name, "--outputs", file, "--json")
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def workers(plane: ControlPlane, name: str) -> list[dict[str, Any]]:
    return pods(plane, TEAM, JOB_SET.selector(name))


def running(plane: ControlPlane, name: str, besides: frozenset[str] = frozenset()) -> list[dict[str, Any]]:
    """Wait until two workers run that are none of these uids."""

    def look() -> bool:
        found = workers(plane, name)
        fresh = [each for each in found if each["metadata"]["uid"] not in besides]
        return len(found) == len(fresh) == 2 and all(each["status"].get("phase") == "Running" for each in fresh)

    wait_until(f"both workers of {name} run", look)
    return workers(plane, name)


def usage(file: str) -> dict[str, Any]:
    """The only row of `gpufleet usage`."""
    done = gpufleet("usage", "dev", "--outputs", file, "--json")
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["rows"]
    assert row["name"] == TEAM
    return dict(row)


def end(plane: ControlPlane, pod: dict[str, Any], code: str) -> None:
    path = f"/api/v1/namespaces/{TEAM}/pods/{pod['metadata']['name']}"
    plane.client.merge(path, {"metadata": {"annotations": {EXIT_CODE: code}}})


def keep_running(plane: ControlPlane, name: str) -> None:
    """Say of a suspended job that its pods run until told: here nothing else says when a container ends."""
    path = JOB_SET.job(TEAM, name)
    sets = plane.client.get(path)["spec"]["replicatedJobs"]
    sets[0]["template"]["spec"]["template"]["metadata"]["annotations"][EXIT_CODE] = "none"
    plane.client.merge(path, {"spec": {"replicatedJobs": sets}})


def install_queue(plane: ControlPlane, *, hold: bool) -> None:
    made = [*plan_flavors("gpus", QUEUE).values(), plan_cluster_queue("gpus", QUEUE, TEAM)]
    made.append(plan_local_queue("gpus", TEAM))
    for document in made:
        if document["kind"] == "ClusterQueue":
            document = document | {"spec": document["spec"] | {"stopPolicy": "Hold" if hold else "None"}}
        plane.client.apply(document)


def test_torchrun_job_waits_for_quota_runs_retries_and_ends(plane: ControlPlane, tmp_path: Path) -> None:
    plane.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": TEAM}})
    pool = {"types": ["g5.12xlarge"], "zones": ["use1-az1"], "max": 4}
    file = outputs(plane, TEAM, tmp_path, near=pool)

    # Without JobSet it is refused, with the key that installs it.
    refused = submit(file, "first")
    assert refused.returncode == 1
    assert "has no JobSet (jobset.x-k8s.io/v1alpha2 is not installed there)" in refused.stderr
    assert "add jobset to gpufleet:software and run `pulumi up`" in refused.stderr
    # What is tested here is what a stack installs.
    assert programs()["jobset"].version == VERSION

    plane.install_jobset()
    plane.install_kueue()
    install_queue(plane, hold=True)
    nodes = Nodes(plane.client)
    near = nodes.add(2, "g5.12xlarge", "use1-az1", "near")
    nodes.add(2, "g5.12xlarge", "use1-az2", "far")

    # The first takes the quota, and the second waits, suspended and without pods.
    for name in ("first", "second"):
        done = submit(file, name, "--queue", "gpus", "--retries", "1")
        assert done.returncode == 0, done.stderr
        keep_running(plane, name)
        if name == "first":
            install_queue(plane, hold=False)
            running(plane, "first")
    waits: list[str] = []

    def told() -> bool:
        waits[:] = details(file, "second")["waiting"]
        return any("quota" in line for line in waits)

    wait_until("the second waits for quota", told)
    assert waits[0].startswith("second: waits for queue gpus: ")
    assert details(file, "second")["state"] == "Suspended"
    assert workers(plane, "second") == []
    assert gpufleet("jobs", "cancel", "dev", "first", "--outputs", file).returncode == 0
    wait_until("the first is gone", lambda: plane.client.find(JOB_SET.job(TEAM, "first")) is None)

    # Both workers are admitted together, beside each other, and each is told who and where the first is.
    started = running(plane, "second")
    assert sorted(pod["spec"]["nodeName"] for pod in started) == sorted(near)
    hosts = sorted((pod["spec"]["hostname"], pod["spec"]["subdomain"]) for pod in started)
    assert hosts == [("second-worker-0-0", "second"), ("second-worker-0-1", "second")]
    command = " ".join(started[0]["spec"]["containers"][0]["command"])
    assert "--node_rank $(JOB_COMPLETION_INDEX) --master_addr second-worker-0-0.second --master_port 29500" in command
    variables = {each["name"] for each in started[0]["spec"]["containers"][0]["env"]}
    assert "JOB_COMPLETION_INDEX" in variables
    service = plane.client.get(f"/api/v1/namespaces/{TEAM}/services/second")
    assert (service["spec"]["clusterIP"], service["spec"]["publishNotReadyAddresses"]) == ("None", True)
    wait_until("it is told that it runs", lambda: details(file, "second")["state"] == "Running")

    # One that fails makes all anew, once.
    end(plane, started[1], "1")
    again = running(plane, "second", frozenset(pod["metadata"]["uid"] for pod in started))
    assert plane.client.get(JOB_SET.job(TEAM, "second"))["status"]["restarts"] == 1

    # The log is that of worker 0.
    log = tmp_path / "log"
    log.write_text("2026-11-28T06:00:00.000000000Z stdout F loss 0.5\n")
    first = next(pod for pod in again if pod["spec"]["hostname"].endswith("-0-0"))
    plane.client.apply(
        {
            "apiVersion": "kwok.x-k8s.io/v1alpha1",
            "kind": "Logs",
            "metadata": {"name": first["metadata"]["name"], "namespace": TEAM},
            "spec": {"logs": [{"containers": ["worker"], "logsFile": str(log), "follow": True}]},
        }
    )
    end(plane, first, "0")
    other = next(pod for pod in again if pod is not first)
    end(plane, other, "0")
    followed = gpufleet("jobs", "logs", "dev", "second", "--follow", "--outputs", file)
    assert (followed.returncode, followed.stdout) == (0, "loss 0.5\n"), followed.stderr
    assert followed.stderr.splitlines()[-1] == "second: succeeded"
    ended = details(file, "second")
    assert (ended["state"], ended["exitCode"], ended["process"]) == ("Succeeded", 0, "worker 0")
    [job] = json.loads(gpufleet("jobs", "list", "dev", "--outputs", file, "--json").stdout)
    assert (job["name"], job["state"], job["workers"], job["gpusPerWorker"]) == ("second", "Succeeded", 2, 4)
    assert submit(file, "second").stderr.count("is already used by another job") == 1

    # Its GPU-hours are counted by its pods, and by the JobSet where these are gone.
    by_pods = usage(file)
    for pod in workers(plane, "second"):
        plane.client.request("DELETE", f"/api/v1/namespaces/{TEAM}/pods/{pod['metadata']['name']}")
    wait_until("its pods are gone", lambda: workers(plane, "second") == [])
    by_times = usage(file)
    assert (by_pods["jobs"], by_times["jobs"]) == (1, 1)
    # From when Kueue let it begin, both tries included.
    assert by_times["gpuHours"] >= by_pods["gpuHours"] > 0
