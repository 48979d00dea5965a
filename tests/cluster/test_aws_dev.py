"""aws-dev rehearsed whole: its cluster takes jobs from desired 0, and it goes in the right order with a job at work."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gpufleet_rehearsal.kubernetes.load_balancers import INTERFACE, SUBNET
from tests.cluster.rehearsed_jobs import Rehearsed
from tests.cluster.workloads import condition, pods
from tests.e2e.rehearsed_project import Project, copy_of_ours, held
from tools.kubernetes.api_client import wait_until
from tools.kubernetes.control_plane import ControlPlane
from tools.kubernetes.nodes import Nodes

TEAM = "training"
JOB = ("--gpus", "1", "--image", "training:1", "--", "python3", "train.py")
WORKER = "training.kubeflow.org/job-role=worker"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    made = copy_of_ours(tmp_path_factory.mktemp("project"), control_plane=True)
    made.configure(lambda config: config.update(erase=True))
    yield made
    made.home.control_plane.stop()


@pytest.fixture(scope="module")
def plane(project: Project) -> ControlPlane:
    """That of the rehearsal, with all that the stack installs."""
    up = project.rehearse()
    assert up.returncode == 0, up.stdout + up.stderr
    assert "gpufleet jobs submit aws-dev --workers 2 --follow -- python3 train.py --synthetic" in up.stdout
    return ControlPlane(project.home.root / "kubernetes")


def inside(project: Project, *command: str) -> tuple[str, str, int]:
    """A command within the rehearsal: what it printed, what it said beside, and its exit code."""
    done = project.rehearse("--", *command)
    return done.stdout, done.stderr, done.returncode


def balancers(project: Project, *, gone: bool = False) -> list[Any]:
    """The network interfaces of load balancers in the simulated cloud."""
    found = project.cloud.store.resources(INTERFACE, gone=gone)
    return [each for each in found if str(each.view["description"]).startswith("ELB ")]


def gpu_nodes(plane: ControlPlane) -> list[dict[str, Any]]:
    query = {"labelSelector": "gpufleet.dev/pool=aws-dev-trainers"}
    return list(plane.client.get("/api/v1/nodes", **query)["items"])


def test_a_job_grows_the_pool_from_0_in_one_zone_and_it_returns_to_0(project: Project, plane: ControlPlane) -> None:
    assert gpu_nodes(plane) == []
    submit = ("gpufleet", "jobs", "submit", "aws-dev", "--workers", "2", "--name", "first", "--wait", *JOB)
    _, said, code = inside(project, *submit)
    assert code == 0, said
    states = [line for line in said.splitlines() if re.fullmatch(r"first: \w+", line)]
    # How long it is Submitted and Created is a matter of the machine's load.
    brief = ("first: Submitted", "first: Created")
    assert [each for each in states if each not in brief] == ["first: submitted", "first: Running", "first: Succeeded"]
    assert "first: succeeded after" in said
    job = {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": {"name": "first", "namespace": TEAM}}
    assert condition(plane, job, ("Succeeded",)) == "Succeeded"
    log = (plane.logs / "hosted-autoscaler.log").read_text()
    assert re.findall(r"node aws-dev-trainers-nodes-\w+-(use1-az\d)-\d is there", log) == ["use1-az1"] * 2
    wait_until("the pool is empty", lambda: gpu_nodes(plane) == [])


def test_first_job_runs_as_printed(project: Project, plane: ControlPlane) -> None:
    Rehearsed(project, "aws-dev").run_first_job()


def test_pods_have_what_the_stack_knows(project: Project, plane: ControlPlane) -> None:
    text, said, code = inside(
        project, "gpufleet", "jobs", "submit", "aws-dev", "--workers", "2", "--dry-run", "--json", *JOB
    )
    assert code == 0, said
    worker = json.loads(text)["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]
    assert worker["nodeSelector"] == {
        "gpufleet.dev/network": "efa",
        "gpufleet.dev/pool": "aws-dev-trainers",
        "gpufleet.dev/zone-id": "use1-az1",
        "node.kubernetes.io/instance-type": "g5.8xlarge",
        "nvidia.com/gpu.present": "true",
    }
    assert worker["containers"][0]["image"].endswith("/aws-dev/training:1")
    assert worker["serviceAccountName"] == "trainer"
    assert worker["volumes"][1]["persistentVolumeClaim"] == {"claimName": "shared"}
    claim = plane.client.get(f"/api/v1/namespaces/{TEAM}/persistentvolumeclaims/shared")
    assert claim["status"]["phase"] == "Bound"
    volume = plane.client.get(f"/api/v1/persistentvolumes/{claim['spec']['volumeName']}")
    made = {r["type"]: r["id"] for r in project.state() if r["type"].startswith("aws:efs/")}
    ids = (made["aws:efs/fileSystem:FileSystem"], made["aws:efs/accessPoint:AccessPoint"])
    assert volume["spec"]["csi"]["volumeHandle"] == "::".join(ids)


def test_destroy_ends_on_the_first_try_with_a_job_at_work(
    project: Project, plane: ControlPlane, tmp_path: Path
) -> None:
    submit = ("gpufleet", "jobs", "submit", "aws-dev", "--workers", "2", "--name", "busy", "--dry-run", "--json", *JOB)
    job = json.loads(inside(project, *submit)[0])
    launcher = job["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["metadata"]
    launcher["annotations"] = {"rehearsal.gpufleet.dev/runs-for": "600s"}
    plane.client.apply(job)
    assert condition(plane, job, ("Running", "Failed")) == "Running"
    assert len(pods(plane, TEAM, WORKER)) == 2
    # By hand, as somebody does who wants to look at a training run; the stack knows nothing of it.
    board = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "board", "namespace": TEAM}}
    plane.client.apply({**board, "spec": {"type": "LoadBalancer", "ports": [{"port": 6006, "protocol": "TCP"}]}})
    project.home.control_plane.follow_fleet()
    status = plane.client.get(plane.client.path(board))["status"]
    assert status["loadBalancer"]["ingress"][0]["hostname"].endswith(".us-east-1.elb.rehearsal.invalid")
    public = {r["id"] for r in project.state() if re.search("::aws-dev-network-public-use1-az\\d$", r["urn"])}
    assert {each.view["subnetId"] for each in balancers(project)} == public
    assert len(public) == 2
    assert (
        len(Nodes(plane.client).of_pool(gpu_nodes(plane)[0]["metadata"]["labels"]["eks.amazonaws.com/nodegroup"])) == 2
    )

    destroyed = project.rehearse("--destroy")
    assert destroyed.returncode == 0, destroyed.stdout + destroyed.stderr
    assert destroyed.stdout.splitlines()[-1] == "Nothing is left in the simulated cloud."
    assert held(project.cloud) == []
    assert not plane.running
    assert balancers(project) == []
    first = min(each.deleted_at for each in project.cloud.store.resources(SUBNET, gone=True))
    assert all(each.deleted_at < first for each in balancers(project, gone=True))
    gone = [line.split()[2] for line in destroyed.stdout.splitlines() if re.match(r" -  \S+ \S+ deleted ", line)]
    order = ["aws-dev-team-namespace", "aws-dev-trainers-nodes", "aws-dev-cluster-cluster", "aws-dev-network-vpc"]
    assert [name for name in gone if name in order] == order
    for earlier, later in (
        ("aws-dev-volume-volume", "aws-dev-files-mount-use1-az1"),
        ("aws-dev-mpi-operator-deployment-mpi-operator", "aws-dev-cluster-system"),
        ("aws-dev-autoscaler-release", "aws-dev-autoscaler-identity-association"),
    ):
        assert gone.index(earlier) < gone.index(later), (earlier, later)
