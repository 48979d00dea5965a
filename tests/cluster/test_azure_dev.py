"""azure-dev rehearsed on a control plane: what is installed on EKS is installed on AKS, and a job runs from 0 nodes."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.rehearsed_jobs import Rehearsed
from tests.cluster.workloads import condition
from tests.e2e.rehearsed_project import Project, copy_of_ours, held
from tools.kubernetes.api_client import wait_until
from tools.kubernetes.control_plane import ControlPlane

ENVIRONMENT = "azure-dev"
TEAM = "training"
JOB = ("--workers", "2", "--gpus", "1", "--image", "training:1", "--", "python3", "train.py")
"""The words of tests/cluster/test_aws_dev.py."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    made = copy_of_ours(tmp_path_factory.mktemp("project"), control_plane=True)
    made.configure(lambda config: config.update(erase=True), ENVIRONMENT)
    yield made
    made.home.control_plane.stop()


@pytest.fixture(scope="module")
def plane(project: Project) -> ControlPlane:
    """That of the rehearsal, with all that the stack installs."""
    up = project.rehearse(environment=ENVIRONMENT)
    assert up.returncode == 0, up.stdout + up.stderr
    return ControlPlane(project.home.root / "kubernetes")


def inside(project: Project, *command: str) -> tuple[str, str, int]:
    """A command within the rehearsal: what it printed, what it said beside, and its exit code."""
    done = project.rehearse("--", *command, environment=ENVIRONMENT)
    return done.stdout, done.stderr, done.returncode


def gpu_nodes(plane: ControlPlane) -> list[dict[str, Any]]:
    query = {"labelSelector": "gpufleet.dev/pool=azure-dev-trainers"}
    return list(plane.client.get("/api/v1/nodes", **query)["items"])


def test_a_job_grows_the_agent_pool_from_0_and_it_returns_to_0(project: Project, plane: ControlPlane) -> None:
    assert gpu_nodes(plane) == []
    submit = ("gpufleet", "jobs", "submit", ENVIRONMENT, "--name", "first", "--wait", *JOB)
    _, said, code = inside(project, *submit)
    assert code == 0, said
    states = [line for line in said.splitlines() if re.fullmatch(r"first: \w+", line)]
    # How long it is Submitted and Created is a matter of the machine's load.
    brief = ("first: Submitted", "first: Created")
    assert [each for each in states if each not in brief] == ["first: submitted", "first: Running", "first: Succeeded"]
    job = {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": {"name": "first", "namespace": TEAM}}
    assert condition(plane, job, ("Succeeded",)) == "Succeeded"
    log = (plane.logs / "hosted-autoscaler.log").read_text()
    assert len(re.findall(r"node \w+-eastus-1-\d is there", log)) == 2
    wait_until("the pool is empty", lambda: gpu_nodes(plane) == [])


def test_first_job_runs_as_printed(project: Project, plane: ControlPlane) -> None:
    Rehearsed(project, ENVIRONMENT).run_first_job()


def test_pods_have_what_the_stack_knows(project: Project, plane: ControlPlane) -> None:
    text, said, code = inside(project, "gpufleet", "jobs", "submit", ENVIRONMENT, "--dry-run", "--json", *JOB)
    assert code == 0, said
    worker = json.loads(text)["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]
    assert worker["nodeSelector"]["gpufleet.dev/pool"] == "azure-dev-trainers"
    assert worker["nodeSelector"]["node.kubernetes.io/instance-type"] == "Standard_NC4as_T4_v3"
    assert re.search(r"^azuredevregistry\w+\.azurecr\.\S+/training:1$", worker["containers"][0]["image"])
    assert worker["serviceAccountName"] == "trainer"
    claim = plane.client.get(f"/api/v1/namespaces/{TEAM}/persistentvolumeclaims/shared")
    assert claim["status"]["phase"] == "Bound"
    files = plane.client.get(f"/api/v1/persistentvolumes/{claim['spec']['volumeName']}")["spec"]["csi"]
    share = next(each for each in project.state(ENVIRONMENT) if each["urn"].endswith("::azuredevshare"))
    assert files["driver"] == "file.csi.azure.com"
    assert files["volumeAttributes"]["protocol"] == "nfs"
    assert files["volumeAttributes"]["storageAccount"] == share["outputs"]["name"]


def test_the_job_is_that_of_eks_but_for_the_place(project: Project, plane: ControlPlane, tmp_path: Path) -> None:
    """One command line, one MPIJob: what differs is where pods go. Azure gives less notice, so the grace is given."""
    same = ("--name", "same", "--grace", "25", "--dry-run", "--json", *JOB)
    text, said, code = inside(project, "gpufleet", "jobs", "submit", ENVIRONMENT, *same)
    assert code == 0, said
    outputs = {
        "kubeconfig": "unused",
        "registry_urls": {"aws-dev/training": "registry.invalid/training"},
        "jobs": {
            "on": "kubernetes",
            "namespace": TEAM,
            "volume_claim": "shared",
            "service_account": "trainer",
            "project": "distributed-training",
            "pools": {
                "trainers": {"types": ["g5.8xlarge"], "zones": ["use1-az1"], "max": 2, "label": "aws-dev-trainers"}
            },
        },
    }
    file = tmp_path / "outputs.json"
    file.write_text(json.dumps(outputs))
    told = project.run("jobs", "submit", "aws-dev", "--outputs", str(file), *same)
    assert told.returncode == 0, told.stderr
    ours, theirs = json.loads(text), json.loads(told.stdout)
    assert shape(ours) == shape(theirs)


def shape(job: dict[str, Any]) -> dict[str, Any]:
    """A job without the places that it goes to, its image's registry and the size of its nodes."""
    document = json.loads(json.dumps(job))
    for role in document["spec"]["mpiReplicaSpecs"].values():
        spec = role["template"]["spec"]
        for place in ("nodeSelector", "affinity", "tolerations"):
            spec.pop(place, None)
        for container in (*spec["containers"], *spec.get("initContainers", ())):
            container["image"] = container["image"].rpartition("/")[2]
            container.pop("resources", None)
            container["env"] = [each for each in container["env"] if each["name"] != "GPUFLEET_NETWORK_GBPS"]
    return dict(document)


def test_destroy_leaves_nothing_and_ends_the_control_plane(project: Project, plane: ControlPlane) -> None:
    destroyed = project.rehearse("--destroy", environment=ENVIRONMENT)
    assert destroyed.returncode == 0, destroyed.stdout + destroyed.stderr
    assert destroyed.stdout.splitlines()[-1] == "Nothing is left in the simulated cloud."
    assert held(project.cloud_of(ENVIRONMENT)) == []
    assert not plane.running
