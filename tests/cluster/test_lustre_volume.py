"""Lustre and a bucket in a job: components make volume and claim, and the real control plane binds and schedules.

Played are both clouds, which give the addresses, and kubelets: nobody mounts anything. What a driver would mount is
read from the volume by the names that the drivers' own code reads.
"""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gpufleet.kubernetes.shared_volume import plan_claim, plan_volume
from tests.cluster.command_line import gpufleet, outputs
from tests.cluster.workloads import pods
from tests.e2e.tiny_program import ids, tiny
from tools.kubernetes.api_client import wait_until
from tools.kubernetes.control_plane import ControlPlane
from tools.kubernetes.nodes import Nodes

AWS = """
import pulumi_aws as aws
from gpufleet.aws import LustreFiles

net = aws.ec2.Vpc("net", cidr_block="10.0.0.0/16")
first = aws.ec2.Subnet("first", vpc_id=net.id, cidr_block="10.0.1.0/24", availability_zone_id="use1-az1")
nodes = aws.ec2.SecurityGroup("nodes", vpc_id=net.id)
files = LustreFiles(
    "fast",
    zone="use1-az1",
    region="us-east-1",
    vpc_id=net.id,
    subnet_ids={"use1-az1": first.id},
    client_security_group_ids={"nodes": nodes.id},
)
"""
AZURE = """
from pulumi_azure_native import network, resources
from gpufleet.azure import LustreFiles

group = resources.ResourceGroup("group", location="eastus")
net = network.VirtualNetwork(
    "net", resource_group_name=group.name, location="eastus", address_space={"address_prefixes": ["10.60.0.0/16"]}
)
subnet = network.Subnet(
    "files", resource_group_name=group.name, virtual_network_name=net.name, address_prefix="10.60.1.0/24"
)
files = LustreFiles("fast", region="eastus", resource_group_name=group.name, filesystem_subnet_id=subnet.id)
"""
VOLUME = """
import pathlib, pulumi
from gpufleet.kubernetes import SharedVolume, cluster_provider

cluster = cluster_provider("cluster", pathlib.Path("kubeconfig").read_text())
SharedVolume(
    "volume", namespace="NAMESPACE", source=files.for_volume(), opts=pulumi.ResourceOptions(providers=[cluster])
)
pulumi.export("address", files.mount_address)
"""
PROGRAMS = {"aws": AWS, "azure": AZURE}
WORKER = "training.kubeflow.org/job-role=worker"
ENDLESS = {"rehearsal.gpufleet.dev/exit-code": "none"}


@dataclass
class Made:
    """What a program has made. address: what a client of Lustre mounts. ids: those of the simulated cloud."""

    namespace: str
    address: str
    ids: dict[str, str]


@pytest.fixture(scope="module")
def made(operator: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Made]:
    """A file system and its volume in each cloud's program, at once."""

    def up(cloud: str) -> Made:
        namespace = f"lustre-{cloud}"
        operator.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        source = PROGRAMS[cloud] + VOLUME.replace("NAMESPACE", namespace)
        program = tiny(tmp_path_factory.mktemp(cloud) / "billing", source)
        (program.folder / "kubeconfig").write_text(operator.kubeconfig.read_text())
        if cloud == "azure":
            (program.folder / "Pulumi.dev.yaml").write_text("config: {'azure-native:location': eastus}\n")
        done = program.rehearse(environment="dev")
        assert done.returncode == 0, done.stdout + done.stderr
        named = ids(program) if cloud == "aws" else {}
        return Made(namespace, program.home.engine().outputs("dev")["address"], named)

    with ThreadPoolExecutor() as threads:
        return dict(zip(PROGRAMS, threads.map(up, PROGRAMS), strict=True))


def volume_of(plane: ControlPlane, namespace: str) -> dict[str, Any]:
    """The volume that the real controller has bound the team's claim to."""
    path = f"/api/v1/namespaces/{namespace}/persistentvolumeclaims/shared"
    wait_until("the claim is bound", lambda: plane.client.get(path)["status"].get("phase") == "Bound")
    volume = plane.client.get(f"/api/v1/persistentvolumes/{plane.client.get(path)['spec']['volumeName']}")
    assert volume["status"]["phase"] == "Bound"
    return dict(volume["spec"])


def test_driver_of_fsx_finds_all_that_it_reads(operator: ControlPlane, made: dict[str, Made]) -> None:
    """It mounts <dnsname>@tcp:/<mountname>, with the volume's mount options as they are.

    github.com/kubernetes-sigs/aws-fsx-csi-driver v1.9.0: pkg/driver/node.go (NodePublishVolume),
    pkg/driver/controller.go (volumeContextDnsName, volumeContextMountName).
    """
    aws = made["aws"]
    spec = volume_of(operator, aws.namespace)
    assert spec["csi"]["driver"] == "fsx.csi.aws.com"
    assert spec["csi"]["volumeHandle"] == aws.ids["fast-lustre"]
    read = spec["csi"]["volumeAttributes"]
    assert set(read) == {"dnsname", "mountname"}
    assert f"{read['dnsname']}@tcp:/{read['mountname']}" == aws.address
    assert spec["mountOptions"] == ["flock", "noatime"]
    assert spec["accessModes"] == ["ReadWriteMany"]


def test_driver_of_azure_finds_all_that_it_reads(operator: ControlPlane, made: dict[str, Made]) -> None:
    """It mounts <mgs-ip-address>@tcp:/lustrefs. A handle with two # or more is one of a volume that it made itself.

    github.com/kubernetes-sigs/azurelustre-csi-driver v0.4.0: pkg/azurelustre/nodeserver.go (getSourceString),
    pkg/azurelustre/azurelustre.go (getLustreVolFromID); docs/driver-parameters.md.
    """
    azure = made["azure"]
    spec = volume_of(operator, azure.namespace)
    assert spec["csi"]["driver"] == "azurelustre.csi.azure.com"
    assert "#" not in spec["csi"]["volumeHandle"]
    read = spec["csi"]["volumeAttributes"]
    assert set(read) == {"mgs-ip-address"}
    assert f"{read['mgs-ip-address']}@tcp:/lustrefs" == azure.address
    # A static volume with Delete is refused: docs/examples/pv.yaml of the driver.
    assert spec["persistentVolumeReclaimPolicy"] == "Retain"


@pytest.mark.parametrize("cloud", PROGRAMS)
def test_root_directory_was_opened_before_the_update_ended(
    operator: ControlPlane, made: dict[str, Made], cloud: str
) -> None:
    name = f"{made[cloud].namespace}-shared-root"
    job = operator.client.get(f"/apis/batch/v1/namespaces/kube-system/jobs/{name}")
    assert job["status"]["succeeded"] == 1
    claim = operator.client.get(f"/api/v1/namespaces/kube-system/persistentvolumeclaims/{name}")
    assert (claim["status"]["phase"], claim["spec"]["volumeName"]) == ("Bound", name)
    volume = operator.client.get(f"/api/v1/persistentvolumes/{name}")["spec"]
    assert volume["csi"] == volume_of(operator, made[cloud].namespace)["csi"]


@pytest.mark.parametrize("cloud", PROGRAMS)
def test_job_runs_with_the_volume(
    operator: ControlPlane, nodes: Nodes, made: dict[str, Made], tmp_path: Path, cloud: str
) -> None:
    namespace = made[cloud].namespace
    type, zone = {"aws": ("g5.8xlarge", "use1-az1"), "azure": ("Standard_NC24ads_A100_v4", "eastus-1")}[cloud]
    names = nodes.add(2, type, zone, f"lustre-{cloud}")
    pool = {f"lustre-{cloud}": {"types": [type], "zones": [zone], "max": 2}}
    file = outputs(operator, namespace, tmp_path, jobs={"volume_claim": "shared", "pools": pool})
    bucket: Any = {"namespace": namespace, "claim": "images", "source": {"s3": "s3://images/train"}}
    for document in (plan_volume(bucket), plan_claim(bucket)):
        operator.client.apply(document)
    words = ["--outputs", file, "--workers", "2", "--gpus", "1", "--name", "reads", "--image", "training:1"]
    words += ["--read-claim", "/images=images"]
    done = gpufleet("jobs", "submit", "dev", *words, "--dry-run", "--json", "--", "python3", "train.py")
    assert done.returncode == 0, done.stderr
    job = json.loads(done.stdout)
    job["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["metadata"]["annotations"] |= ENDLESS
    operator.client.apply(job)

    def run() -> bool:
        workers = pods(operator, namespace, WORKER)
        return len(workers) == 2 and all(pod["status"].get("phase") == "Running" for pod in workers)

    wait_until("both workers run", run)
    assert sorted(pod["spec"]["nodeName"] for pod in pods(operator, namespace, WORKER)) == names
    for pod in pods(operator, namespace):
        claims = {each["name"]: each.get("persistentVolumeClaim") for each in pod["spec"]["volumes"]}
        mounts = {each["mountPath"]: claims[each["name"]] for each in pod["spec"]["containers"][0]["volumeMounts"]}
        assert mounts["/mnt"] == {"claimName": "shared"}
        assert mounts["/images"] == {"claimName": "images", "readOnly": True}
        # With one, kubelets would change the group of all files for a driver with fsGroupPolicy File, as Azure's is.
        assert "fsGroup" not in pod["spec"]["securityContext"]
    assert gpufleet("jobs", "cancel", "dev", "reads", "--outputs", file).returncode == 0


def test_claim_whose_volume_is_not_there_holds_the_job_up(
    operator: ControlPlane, nodes: Nodes, namespace: str, tmp_path: Path
) -> None:
    nodes.add(1, "g5.8xlarge", "use1-az1", "lustre-none")
    operator.client.apply(plan_claim({"namespace": namespace, "source": {"fsx_lustre": "fs-0.invalid@tcp:/abc"}}))
    pool = {"lustre-none": {"types": ["g5.8xlarge"], "zones": ["use1-az1"], "max": 1}}
    file = outputs(operator, namespace, tmp_path, jobs={"volume_claim": "shared", "pools": pool})
    words = ["--outputs", file, "--workers", "1", "--name", "held", "--image", "training:1"]
    done = gpufleet("jobs", "submit", "dev", *words, "--", "python3", "train.py")
    assert done.returncode == 0, done.stderr
    said: list[str] = []

    def told() -> bool:
        done = gpufleet("jobs", "status", "dev", "held", "--outputs", file)
        assert done.returncode == 0, done.stderr
        said[:] = [line.strip() for line in done.stdout.splitlines()[1:]]
        return len(said) == 1 and "Unschedulable" in said[0]

    wait_until("the reason is told", told)
    assert said[0].startswith("held-worker-0 waits: Unschedulable: ")
    assert "pod has unbound immediate PersistentVolumeClaims" in said[0]
