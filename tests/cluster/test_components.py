"""What the components of gpufleet.kubernetes make is taken by a real API server, scheduler and MPI operator.

The objects are those of the planning functions; that the components register them unchanged is tests/components'.
"""

import hashlib
from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest

from gpufleet.jobs.kubernetes.mpi_job import MpiJobArgs, mpi_job
from gpufleet.kubernetes.device_plugin import plan_device_plugin
from gpufleet.kubernetes.efa_plugin import plan_efa_plugin
from gpufleet.kubernetes.mpi_operator import known_checksums, plan_operator
from gpufleet.kubernetes.shared_volume import plan_claim, plan_volume
from gpufleet.kubernetes.team import plan_namespace, plan_network_policies, plan_service_account
from tests.cluster.workloads import condition, pods
from tools.kubernetes.api_client import ApiRefused, wait_until
from tools.kubernetes.control_plane import ControlPlane
from tools.kubernetes.nodes import Nodes
from tools.kubernetes.programs import programs

LAUNCHER = "training.kubeflow.org/job-role=launcher"
WORKER = "training.kubeflow.org/job-role=worker"


@pytest.fixture
def team(plane: ControlPlane, namespace: str) -> str:
    """A team's namespace, under Pod Security restricted, with its volume."""
    args: Any = {"namespace": namespace}
    for document in (plan_namespace(args), plan_service_account(args), *plan_network_policies(args).values()):
        plane.client.apply(document)
    return namespace


def job_args(team: str, **changes: Any) -> MpiJobArgs:
    args: MpiJobArgs = {
        "namespace": team,
        "workers": 2,
        "gpus_per_worker": 8,
        "image": "registry.example.com/train:1",
        "command": ["python3", "train.py"],
        "service_account": "trainer",
    }
    return args | changes  # type: ignore[return-value]


def strictly(plane: ControlPlane, document: Mapping[str, Any]) -> None:
    """Have the server check an object, unknown fields too, without making it."""
    path = plane.client.path(document).rpartition("/")[0]
    plane.client.request("POST", path, document, dryRun="All", fieldValidation="Strict")


def test_efa_job_of_a_restricted_team_runs(operator: ControlPlane, nodes: Nodes, team: str) -> None:
    names = nodes.add(2, "p5.48xlarge", "use1-az1", "efa-pool", network="efa")
    args = job_args(team, network="efa", instance_type="p5.48xlarge", pool="efa-pool", zone="use1-az1", retries=2)
    document = mpi_job("llm", args)
    strictly(operator, document)
    operator.client.apply(document)
    assert condition(operator, document, ("Succeeded", "Failed")) == "Succeeded"

    launcher = pods(operator, team, LAUNCHER)[0]
    assert launcher["spec"]["nodeName"] not in names
    assert launcher["spec"]["nodeName"].startswith("system-")


def test_what_the_operator_makes_of_a_job(operator: ControlPlane, nodes: Nodes, team: str) -> None:
    nodes.add(2, "p5.48xlarge", "use1-az1", "seen", network="efa")
    args = job_args(team, network="efa", instance_type="p5.48xlarge", pool="seen", zone="use1-az1")
    document = mpi_job("llm", args)
    operator.client.apply(document)
    condition(operator, document, ("Running", "Succeeded"))

    hosts = operator.client.get(f"/api/v1/namespaces/{team}/configmaps/llm-config")["data"]["hostfile"].splitlines()
    assert hosts == [f"llm-worker-{number}.llm.{team}.svc slots=8" for number in (0, 1)]
    secret = operator.client.get(f"/api/v1/namespaces/{team}/secrets/llm-ssh")
    assert set(secret["data"]) == {"ssh-privatekey", "ssh-publickey"}

    launcher = operator.client.get(f"/apis/batch/v1/namespaces/{team}/jobs/llm-launcher")["spec"]["template"]["spec"]
    environment = {each["name"]: each.get("value") for each in launcher["containers"][0]["env"]}
    assert environment["MASTER_ADDR"] == hosts[0].split()[0], "rank 0 runs on the hostfile's first host"
    assert environment["OMPI_MCA_orte_default_hostfile"] == "/etc/mpi/hostfile"
    assert environment["OMPI_MCA_orte_set_default_slots"] == "8"
    assert environment["FI_PROVIDER"] == "efa"
    assert environment["NCCL_SOCKET_IFNAME"] == "=eth0"
    mounted = {each["name"]: each["mountPath"] for each in launcher["containers"][0]["volumeMounts"]}
    assert mounted["ssh-auth"] == "/etc/gpufleet/ssh"
    (keys,) = [each["secret"] for each in launcher["volumes"] if each["name"] == "ssh-auth"]
    assert {each["path"] for each in keys["items"]} == {"id_rsa", "id_rsa.pub", "authorized_keys"}


def test_workers_without_a_zone_end_in_one(operator: ControlPlane, nodes: Nodes, team: str) -> None:
    """Each zone has room for all of the job; spread evenly, as the scheduler likes it, half would be in each."""
    for zone in ("use1-az1", "use1-az2"):
        nodes.add(4, "g5.48xlarge", zone, f"any-{zone}")
    document = mpi_job("anywhere", job_args(team, workers=4, instance_type="g5.48xlarge"))
    document["spec"]["runPolicy"]["cleanPodPolicy"] = "None"
    operator.client.apply(document)
    assert condition(operator, document, ("Succeeded", "Failed")) == "Succeeded"
    places = [each["spec"]["nodeName"] for each in pods(operator, team, WORKER)]
    assert len(places) == 4
    assert len({place.rpartition("-")[0] for place in places}) == 1


def test_a_queued_job_waits_for_kueue(operator: ControlPlane, team: str) -> None:
    document = mpi_job("queued", job_args(team, queue="gpus"))
    strictly(operator, document)
    operator.client.apply(document)
    assert condition(operator, document, ("Suspended",)) == "Suspended"
    assert pods(operator, team) == []


def test_a_field_that_mpi_jobs_do_not_have_is_refused(operator: ControlPlane, team: str) -> None:
    document = mpi_job("llm", job_args(team))
    document["spec"]["launcherCreationPolice"] = "AtStartup"
    with pytest.raises(ApiRefused, match="launcherCreationPolice"):
        strictly(operator, document)


def test_root_is_refused_by_the_namespace(plane: ControlPlane, team: str) -> None:
    for uid, refused in ((0, True), (1000, False)):
        template = mpi_job("llm", job_args(team, uid=uid))["spec"]["mpiReplicaSpecs"]["Worker"]["template"]
        name = {"name": f"as-{uid}", "namespace": team, **template["metadata"]}
        document = {"apiVersion": "v1", "kind": "Pod", **template, "metadata": name}
        if refused:
            with pytest.raises(ApiRefused, match='violates PodSecurity "restricted'):
                strictly(plane, document)
        else:
            strictly(plane, document)


@pytest.mark.parametrize(
    "source",
    [
        {"nfs": "10.0.0.5:/export"},
        {"efs": "fs-0123456789abcdef0", "access_point": "fsap-0123456789abcdef0"},
        {"azure_blob": "train-rg/trainfiles/data"},
        {"azure_files": "train-rg/trainfiles/data"},
    ],
    ids=lambda source: next(iter(source)),
)
def test_volume_and_claim_find_each_other(plane: ControlPlane, team: str, source: dict[str, str]) -> None:
    args: Any = {"namespace": team, "source": source, "zone": "use1-az1"}
    claim = plan_claim(args)
    plane.client.apply(plan_volume(args))
    plane.client.apply(claim)
    path = plane.client.path(claim)

    def bound() -> bool:
        return bool(plane.client.get(path)["status"].get("phase") == "Bound")

    wait_until("the claim is bound", bound)
    assert plane.client.get(path)["spec"]["volumeName"] == f"{team}-shared"


def test_device_plugins_run_on_gpu_nodes_only(
    plane: ControlPlane, nodes: Nodes, request: pytest.FixtureRequest
) -> None:
    efa = nodes.add(1, "p4d.24xlarge", "use1-az1", "plugin-efa", network="efa")
    plain = nodes.add(1, "g5.xlarge", "use1-az1", "plugin-plain")
    for plan in (plan_device_plugin({}), plan_efa_plugin({})):
        strictly(plane, plan)
        # Nodes of the tests after this one need none.
        request.addfinalizer(partial(plane.client.delete, plane.client.path(plan)))
        plane.client.apply(plan)

    def places(name: str) -> set[str]:
        found = pods(plane, "kube-system", f"app.kubernetes.io/name={name}")
        return {each["spec"]["nodeName"] for each in found if "nodeName" in each["spec"]}

    wait_until("NVIDIA's plugin runs", lambda: {*efa, *plain} <= places("nvidia-device-plugin"))
    wait_until("the EFA plugin runs", lambda: {*efa} <= places("aws-efa-k8s-device-plugin"))
    assert not any(place.startswith("system-") for place in places("nvidia-device-plugin"))
    assert not {*plain} & places("aws-efa-k8s-device-plugin")


def test_upstreams_manifest_has_the_checksum_and_is_taken_whole(operator: ControlPlane) -> None:
    manifest = programs()["mpi-operator"].file("mpi-operator.yaml")
    assert hashlib.sha256(manifest.read_bytes()).hexdigest() == known_checksums()["v0.7.0"]
    documents = plan_operator({"manifest": str(manifest)})
    assert [each["kind"] for each in documents] == [
        "Namespace",
        "CustomResourceDefinition",
        "ServiceAccount",
        *["ClusterRole"] * 4,
        "ClusterRoleBinding",
        "Deployment",
    ]
    for document in documents:
        operator.client.request(
            "PATCH",
            operator.client.path(document),
            document,
            "application/apply-patch+yaml",
            fieldManager="pulumi",
            force="true",
            dryRun="All",
            fieldValidation="Strict",
        )
