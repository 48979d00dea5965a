"""What holds a job up is one line of `gpufleet jobs`, in the words of who holds it up.

Quota, limits, Pod Security, the scheduler and the operator are real. What kubelets and volume drivers say is played,
because nodes are fake: pods wait for the reason of an annotation, and events about volumes are written by the test.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpufleet.jobs.kubernetes.api import KubernetesApi
from gpufleet.jobs.kubernetes.mpi_job import MpiJobArgs, mpi_job
from gpufleet.jobs.kubernetes.submit import create_job
from gpufleet.kubernetes.team import plan_namespace
from tests.cluster.workloads import pods
from tools.kubernetes.api_client import ApiSilent, wait_until
from tools.kubernetes.control_plane import ControlPlane
from tools.kubernetes.nodes import Nodes

GPUFLEET = str(Path(sys.executable).with_name("gpufleet"))
WORKER = "training.kubeflow.org/job-role=worker"


class Team:
    """A namespace, and jobs in it."""

    def __init__(self, operator: ControlPlane, namespace: str, folder: Path) -> None:
        self.operator, self.namespace = operator, namespace
        content = {"kubeconfig": operator.kubeconfig.read_text(), "jobs": {"namespace": namespace}}
        self._outputs = folder / "outputs.json"
        self._outputs.write_text(json.dumps(content))

    def submit(self, pool: str = "", annotations: dict[str, str] | None = None, **changes: Any) -> None:
        """A job `held` of 2 workers with 1 GPU. annotations: of the workers, for kwok."""
        args: MpiJobArgs = {
            "namespace": self.namespace,
            "workers": 2,
            "gpus_per_worker": 1,
            "image": "r.invalid/train:1",
            "command": ["true"],
        }
        if pool:
            args["pool"] = pool
        document = mpi_job("held", args | changes)  # type: ignore[arg-type]
        if annotations:
            document["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["metadata"]["annotations"].update(annotations)
        create_job(KubernetesApi.of(self.operator.kubeconfig.read_text(), "dev"), document, print)

    def apply(self, kind: str, spec: dict[str, Any], version: str = "v1") -> None:
        metadata = {"name": "given", "namespace": self.namespace}
        self.operator.client.apply({"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec})

    def waits(self, begin: str) -> str:
        """The one line that `gpufleet jobs status` says below the state, once it begins so.

        Before all pods are there and have been looked at, it says others.
        """
        said: list[str] = []

        def look() -> bool:
            done = self.run("jobs", "status", "dev", "held")
            assert (done.returncode, done.stderr) == (0, ""), done.stderr
            said[:] = [line.strip() for line in done.stdout.splitlines()[1:]]
            return len(said) == 1 and said[0].startswith(begin)

        try:
            wait_until("the reason is told", look)
        except ApiSilent as error:
            raise AssertionError(said) from error
        return said[0]

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        command = [GPUFLEET, *words, "--outputs", str(self._outputs)]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)

    def warn(self, pod: str, reason: str, message: str) -> None:
        """Write the event that a kubelet or the controller of volumes would."""
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{pod}.{reason.lower()}", "namespace": self.namespace},
            "involvedObject": {"apiVersion": "v1", "kind": "Pod", "name": pod, "namespace": self.namespace},
            "type": "Warning",
            "reason": reason,
            "message": message,
            "firstTimestamp": "2026-11-21T10:00:00Z",
            "lastTimestamp": "2026-11-21T10:00:00Z",
        }
        self.operator.client.apply(event)


@pytest.fixture
def team(operator: ControlPlane, namespace: str, tmp_path: Path) -> Team:
    return Team(operator, namespace, tmp_path)


def quota(team: Team) -> None:
    team.apply("ResourceQuota", {"hard": {"requests.nvidia.com/gpu": "1"}})
    path = f"/api/v1/namespaces/{team.namespace}/resourcequotas/given"
    # Until its status is written, the API server counts nothing as used.
    wait_until("the quota counts", lambda: "used" in team.operator.client.get(path).get("status", {}))


def limits(team: Team) -> None:
    team.apply("LimitRange", {"limits": [{"type": "Container", "max": {"nvidia.com/gpu": "1"}}]})


def restricted(team: Team) -> None:
    team.operator.client.apply(plan_namespace({"namespace": team.namespace}))


@pytest.mark.parametrize(
    ("hold", "changes", "words"),
    [
        (quota, {}, "exceeded quota: given, requested: requests.nvidia.com/gpu=1, used: requests.nvidia.com/gpu=1"),
        (limits, {"gpus_per_worker": 2}, "maximum nvidia.com/gpu usage per Container is 1, but limit is 2"),
        (restricted, {"uid": 0}, 'violates PodSecurity "restricted:latest": '),
    ],
    ids=["quota", "limits", "pod-security"],
)
def test_pods_that_are_not_let_in(
    team: Team, nodes: Nodes, hold: Callable[[Team], None], changes: dict[str, Any], words: str
) -> None:
    nodes.add(2, "g5.xlarge", "use1-az1", "held-out")
    hold(team)
    team.submit("held-out", **changes)
    assert words in team.waits("held: ")


def test_launcher_that_is_not_let_in(team: Team, nodes: Nodes) -> None:
    nodes.add(2, "g5.xlarge", "use1-az1", "held-launcher")
    team.apply("ResourceQuota", {"hard": {"pods": "2"}})
    team.submit("held-launcher")
    line = team.waits("held-launcher: FailedCreate: ")
    assert line.endswith("exceeded quota: given, requested: pods=1, used: pods=2, limited: pods=2")


def test_no_gpu_is_free(team: Team, nodes: Nodes) -> None:
    nodes.add(1, "g5.xlarge", "use1-az1", "held-full")
    team.submit("held-full")
    line = team.waits("held-worker-")
    # Which of the two gets the node is the scheduler's choice.
    assert re.match(r"held-worker-[01] waits: Unschedulable: ", line)
    assert "1 Insufficient nvidia.com/gpu" in line


def test_claim_without_a_volume(team: Team, nodes: Nodes) -> None:
    nodes.add(2, "g5.xlarge", "use1-az1", "held-claim")
    spec = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": ""}
    team.apply("PersistentVolumeClaim", spec)
    team.submit("held-claim", volume_claim="given")
    line = team.waits("held-worker-0..1 wait: Unschedulable: ")
    assert "pod has unbound immediate PersistentVolumeClaims" in line


def test_image_that_is_not_pulled(team: Team, nodes: Nodes) -> None:
    nodes.add(2, "g5.xlarge", "use1-az1", "held-image")
    team.submit("held-image", {"rehearsal.gpufleet.dev/waiting": "ImagePullBackOff"})
    line = team.waits("held-worker-0..1 wait: ")
    assert line == "held-worker-0..1 wait: ImagePullBackOff: ImagePullBackOff: r.invalid/train:1 (rehearsed)"


@pytest.mark.parametrize(
    ("reason", "message"),
    [
        (
            "FailedMount",
            'MountVolume.SetUp failed for volume "shared" : rpc error: code = DeadlineExceeded\nMounting timed out',
        ),
        ("FailedAttachVolume", 'AttachVolume.Attach failed for volume "shared" : the zone has no mount target'),
    ],
)
def test_volume_that_is_not_mounted(team: Team, nodes: Nodes, reason: str, message: str) -> None:
    nodes.add(2, "g5.xlarge", "use1-az1", "held-volume")
    team.submit("held-volume", {"rehearsal.gpufleet.dev/waiting": "ContainerCreating"})

    def starting() -> bool:
        found = pods(team.operator, team.namespace, WORKER)
        return len(found) == 2 and all(pod["status"].get("containerStatuses") for pod in found)

    wait_until("the workers are being started", starting)
    assert team.run("jobs", "status", "dev", "held").stdout.splitlines()[1:] == [], "they wait for nothing yet"
    for number in (0, 1):
        team.warn(f"held-worker-{number}", reason, message)
    assert team.waits("held-worker-0..1 wait: ") == f"held-worker-0..1 wait: {reason}: {' '.join(message.split())}"


def test_submit_wait_says_it_while_it_waits(team: Team, nodes: Nodes, tmp_path: Path) -> None:
    """A job that quota holds up is told of once, and goes on by itself when the quota is raised."""
    quota(team)
    nodes.add(2, "g5.xlarge", "use1-az1", "held-wait")
    pool = {"types": ["g5.xlarge"], "zones": ["use1-az1"], "max": 2}
    content = {"namespace": team.namespace, "pools": {"held-wait": pool}}
    file = tmp_path / "with-pool.json"
    file.write_text(json.dumps({"kubeconfig": team.operator.kubeconfig.read_text(), "jobs": content}))
    words = ["--workers", "2", "--image", "r.invalid/train:1", "--name", "held", "--wait", "--outputs", str(file)]
    command = [GPUFLEET, "jobs", "submit", "dev", *words, "--", "true"]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert running.stderr is not None
    said = []
    for line in running.stderr:
        said.append(line.rstrip("\n"))
        if "exceeded quota" in line:
            team.apply("ResourceQuota", {"hard": {"requests.nvidia.com/gpu": "2"}})
    assert running.wait(timeout=300) == 0
    assert next(line for line in said if "exceeded quota" in line).startswith("held: ")
    assert len([line for line in said if "exceeded quota" in line]) == 1, said
    assert said[-1].startswith("held: succeeded")
