"""Node objects are what EKS makes of the catalog's types."""

from pathlib import Path

import pytest

from gpufleet.catalog import AwsGpuType, aws, azure
from tools.kubernetes import aks_node
from tools.kubernetes.cpu_type import cpu_type
from tools.kubernetes.eks_node import cpu_node, gpu_node, machine_of_pool, zone_name
from tools.kubernetes.fake_node import DEVICES, FAKE, NO_DRIVER, POOL_LABEL, Machine
from tools.kubernetes.nodes import Nodes, UnknownNode, read_nodes, region_of


def p5(efa=False, **more):
    record = aws().types["p5.48xlarge"]
    place = {"zone_id": "use1-az2", "region": "us-east-1", "pool": "trainers"}
    return gpu_node("trainers-0", record, **{**place, "machine": machine_of_pool(record, efa=efa), **more})


def test_gpu_node_has_the_resources_of_its_type() -> None:
    status = p5(efa=True)["status"]
    assert {key: status["capacity"][key] for key in ("cpu", "nvidia.com/gpu", "vpc.amazonaws.com/efa")} == {
        "cpu": "192",
        "nvidia.com/gpu": "8",
        "vpc.amazonaws.com/efa": "32",
    }
    # 5128 pages of 2 MiB, as the pool's user data sets them aside.
    assert status["allocatable"]["hugepages-2Mi"] == "10256Mi"
    # 192 CPUs less 0.08 + 188 x 0.0025; 2048 GiB less 7.5 %, less the huge pages, less 255 + 110 x 11 + 100 MiB.
    assert status["allocatable"]["cpu"] == "191450m"
    assert status["allocatable"]["memory"] == f"{1939865 - 10256 - 1565}Mi"


def test_gpu_node_without_efa_has_neither_interfaces_nor_huge_pages() -> None:
    status = p5()["status"]
    assert "vpc.amazonaws.com/efa" not in status["capacity"]
    assert status["allocatable"]["hugepages-2Mi"] == "0Mi"


def test_machine_has_devices_that_its_node_does_not_have_before_a_plugin_tells_of_them() -> None:
    node = p5(machine=Machine(efa_interfaces=16, huge_pages=100))
    assert node["metadata"]["annotations"] == {**FAKE, DEVICES: '{"nvidia.com/gpu": 8, "vpc.amazonaws.com/efa": 16}'}
    assert node["status"]["allocatable"]["hugepages-2Mi"] == "200Mi"
    assert not {"nvidia.com/gpu", "vpc.amazonaws.com/efa"} & set(node["status"]["capacity"])
    assert NO_DRIVER.items() <= p5(machine=Machine(driver=False))["metadata"]["annotations"].items()


def test_node_of_bottlerocket_has_its_gpus_by_itself_and_its_interfaces_not() -> None:
    status = p5(machine=Machine(efa_interfaces=32, built_in=("nvidia.com/gpu",)))["status"]
    assert status["allocatable"]["nvidia.com/gpu"] == "8"
    assert "vpc.amazonaws.com/efa" not in status["capacity"]


def test_gpu_node_is_labelled_and_tainted_as_a_pool_of_gpufleet() -> None:
    node = p5(efa=True, words={"capacity": "spot", "placement": "create"})
    labels = node["metadata"]["labels"]
    assert {key: value for key, value in labels.items() if key.startswith(("gpufleet.dev/", "nvidia.com/"))} == {
        "gpufleet.dev/capacity": "spot",
        "gpufleet.dev/gpu": "H100",
        "gpufleet.dev/network": "efa",
        "gpufleet.dev/place": "cloud",
        "gpufleet.dev/placement": "create",
        "gpufleet.dev/pool": "trainers",
        "gpufleet.dev/zone-id": "use1-az2",
        "nvidia.com/gpu.present": "true",
    }
    assert labels["topology.kubernetes.io/zone"] == "us-east-1b"
    assert labels["topology.k8s.aws/zone-id"] == "use1-az2"
    assert labels["node.kubernetes.io/instance-type"] == "p5.48xlarge"
    assert node["spec"]["taints"] == [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]
    assert FAKE.items() <= node["metadata"]["annotations"].items()


def test_gpu_node_takes_the_labels_and_taints_of_a_node_group_instead() -> None:
    taint = {"key": "team", "value": "vision", "effect": "PREFER_NO_SCHEDULE"}
    node = p5(labels={"gpufleet.dev/pool": "other"}, taints=[taint])
    assert node["spec"]["taints"] == [{"key": "team", "value": "vision", "effect": "PreferNoSchedule"}]
    labels = node["metadata"]["labels"]
    assert labels["gpufleet.dev/pool"] == "other"
    assert "nvidia.com/gpu.present" not in labels


@pytest.mark.parametrize("record", aws().types.values(), ids=lambda record: record.type)
def test_every_type_of_the_catalog_makes_a_node_with_room_for_pods(record: AwsGpuType) -> None:
    machine = machine_of_pool(record, efa=True)
    node = gpu_node("n", record, zone_id="use1-az1", region="us-east-1", pool="p", machine=machine)
    allocatable = node["status"]["allocatable"]
    assert allocatable["nvidia.com/gpu"] == str(record.gpus)
    assert int(allocatable["memory"].removesuffix("Mi")) > 0.5 * 1024 * record.memory_gib - 10256
    assert int(allocatable["memory"].removesuffix("Mi")) > 0
    assert (
        node["metadata"]["labels"]["kubernetes.io/arch"] == {"x86_64": "amd64", "arm64": "arm64"}[record.architecture]
    )


def test_node_without_gpus_is_what_its_group_says() -> None:
    taint = {"key": "team", "value": "vision", "effect": "NO_SCHEDULE"}
    place = {"zone_id": "use1-az1", "region": "us-east-1", "pool": "system"}
    node = cpu_node("system-0", "m7i.xlarge", **place, labels={"a": "b"}, taints=[taint])
    assert node["spec"]["taints"] == [{"key": "team", "value": "vision", "effect": "NoSchedule"}]
    labels = node["metadata"]["labels"]
    assert (labels["node.kubernetes.io/instance-type"], labels["a"]) == ("m7i.xlarge", "b")
    assert node["status"]["allocatable"]["cpu"] == "3920m"
    assert "nvidia.com/gpu" not in node["status"]["capacity"]


@pytest.mark.parametrize(
    ("name", "vcpus", "memory"),
    [
        ("m7i.large", 2, 8),
        ("m6i.xlarge", 4, 16),
        ("c7i-flex.2xlarge", 8, 16),
        ("r6i.16xlarge", 64, 512),
        ("t3.medium", 2, 4),
        ("z1d.large", 2, 4),
        ("", 2, 4),
        ("Standard_D4s_v5", 4, 16),
        ("Standard_E8ads_v5", 8, 64),
        ("Standard_B2s", 2, 4),
    ],
)
def test_size_of_a_type_without_gpus_is_in_its_name(name: str, vcpus: int, memory: int) -> None:
    assert cpu_type(name) == (vcpus, memory)


def test_zones() -> None:
    assert zone_name("us-east-1", "use1-az3") == "us-east-1c"
    assert region_of("euw1-az1") == "eu-west-1"
    with pytest.raises(UnknownNode, match=r"^zone=us-east-1a: no such zone id; for instance use1-az1"):
        region_of("us-east-1a")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"type": "p5.48xlagre"}, "type=p5.48xlagre: not in the catalog; `gpufleet catalog list` has the types"),
        ({"network": "infiniband"}, "network=infiniband: legal: plain, efa"),
    ],
)
def test_add_refuses_what_nobody_can_make_before_it_asks_the_server(arguments: dict[str, str], line: str) -> None:
    right = {"count": 1, "type": "p5.48xlarge", "zone": "use1-az1", "pool": "trainers"}
    with pytest.raises(UnknownNode) as refused:
        Nodes(client=None).add(**{**right, **arguments})
    assert str(refused.value) == line


def test_file_of_nodes(tmp_path: Path) -> None:
    path = tmp_path / "nodes.yaml"
    path.write_text("- {count: 2, type: p5.48xlarge, zone: use1-az1, pool: trainers, network: efa}\n")
    row = {"count": 2, "type": "p5.48xlarge", "zone": "use1-az1", "pool": "trainers", "network": "efa"}
    assert read_nodes(path) == [row]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{a: 1}", "must be a list, for instance - {count: 2, type: p5.48xlarge, zone: use1-az1, pool: trainers}"),
        ("- {count: 2}", "row 1: must have count, pool, type, zone; may have labels, network, taints, words"),
        ("- {count: 2, type: t, zone: z, pool: p, gpus: 3}", "row 1: must have count, pool, type, zone; may have "),
        ("- [", "no YAML (while parsing a flow node"),
    ],
)
def test_file_of_nodes_that_is_wrong_is_told_in_one_line(tmp_path: Path, text: str, line: str) -> None:
    path = tmp_path / "nodes.yaml"
    path.write_text(text)
    with pytest.raises(UnknownNode) as refused:
        read_nodes(path)
    assert str(refused.value).startswith(f"{path}: {line}")
    assert "\n" not in str(refused.value)


def test_file_of_nodes_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UnknownNode, match="No such file or directory"):
        read_nodes(tmp_path / "none.yaml")


def test_node_of_aks_has_what_aks_makes_of_the_size() -> None:
    size, plugged = azure().types["Standard_NC24ads_A100_v4"], aks_node.MACHINE_OF_POOL
    node = aks_node.gpu_node("trainers-0", size, zone_id="eastus-2", region="eastus", pool="trainers", machine=plugged)
    status, labels = node["status"], node["metadata"]["labels"]
    assert (status["capacity"]["cpu"], status["capacity"]["nvidia.com/gpu"]) == ("24", "1")
    # 24 CPUs less 0.26 of the first 16 and 0.01 of each further one; 220 GiB less 7.5 %, less 110 x 20 + 50 + 100 MiB.
    assert status["allocatable"]["cpu"] == f"{24000 - 260 - 80}m"
    assert status["allocatable"]["memory"] == f"{208384 - 2350}Mi"
    assert labels["topology.kubernetes.io/zone"] == "eastus-2"
    assert labels["kubernetes.azure.com/agentpool"] == labels["agentpool"] == labels[POOL_LABEL] == "trainers"
    assert (labels["gpufleet.dev/gpu"], labels["gpufleet.dev/pool"]) == ("A100", "trainers")
    assert node["spec"]["taints"] == [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]


def test_node_of_aks_in_no_zone() -> None:
    size = azure().types["Standard_NC4as_T4_v3"]
    place = {"zone_id": "eastus-0", "region": "eastus", "pool": "a"}
    node = aks_node.gpu_node("a-0", size, **place, machine=Machine(), labels={}, taints=[])
    assert node["status"]["allocatable"]["cpu"] == "3860m"
    assert node["spec"]["taints"] == []


def test_system_node_of_aks() -> None:
    place = {"zone_id": "eastus-0", "region": "eastus", "pool": "system"}
    node = aks_node.cpu_node("system-0", "Standard_D4s_v5", **place, labels={}, taints=[])
    labels = node["metadata"]["labels"]
    assert (labels["kubernetes.azure.com/mode"], labels["agentpool"]) == ("system", "system")
    assert "kubernetes.azure.com/accelerator" not in labels
    assert node["status"]["capacity"]["cpu"] == "4"


def test_zones_of_both_clouds() -> None:
    assert [region_of(zone) for zone in ("use1-az2", "eastus-1", "eastus-0")] == ["us-east-1", "eastus", "eastus"]
