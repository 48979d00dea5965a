"""Cases of gpufleet.rules.azure.gpu_node_group, node_labels and zone, and of their validation."""

import pytest

from gpufleet.rules import Status
from gpufleet.rules.azure.gpu_node_group import (
    argument_of_azure,
    disk_size,
    infiniband_on_aks,
    linked,
    not_reserved_and_placed,
    one_size,
    spot_price,
    validate_azure_pool,
)
from gpufleet.rules.azure.node_labels import label_free
from gpufleet.rules.azure.zones import zone_number

GROUP = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/proximityPlacementGroups/near"
RESERVED = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/capacityReservationGroups/bought"
NEAR = {
    "argument": "placement_group",
    "kind": "Microsoft.Compute/proximityPlacementGroups",
    "needs": "placement=existing",
}
FORM = "/subscriptions/<id>/resourceGroups/<group>/providers/Microsoft.Compute/proximityPlacementGroups/<name>"
PRICE = (
    "is not a valid price; use dollars by the hour above 0, or -1 for the on-demand price [azure-agent-pool-spot-price]"
)
DISK = "is not a disk size that AKS supports; use 30 to 2048 [azure-agent-pool-disk]"
LABEL = "has a prefix that AKS keeps for itself; use your own domain: example.com/role [azure-label-reserved]"

CASES = {
    infiniband_on_aks: [
        ("plain", {"network": "plain"}, "pass", ""),
        (
            "infiniband",
            {"network": "infiniband"},
            "fail",
            "trainers: network=infiniband: no pod on AKS reaches a node's InfiniBand, as gpufleet installs no RDMA "
            "device plugin there; make it a pool of batch.pools, or set network=plain [azure-infiniband-on-aks]",
        ),
    ],
    argument_of_azure: [
        ("azure", {"name": "os_sku", "value": "Ubuntu"}, "pass", ""),
        ("misspelt-is-not-its-matter", {"name": "imag", "value": "x"}, "pass", ""),
        (
            "image",
            {"name": "image", "value": "al2023"},
            "fail",
            "trainers: image=al2023: is for pools on AWS only; choose os_sku and driver [azure-agent-pool-word]",
        ),
        (
            "cuda",
            {"name": "cuda", "value": "12.8"},
            "fail",
            "trainers: cuda=12.8: is for pools on AWS only; leave it out (AKS chooses the driver, or the GPU operator "
            "with driver=none) [azure-agent-pool-word]",
        ),
    ],
    one_size: [
        ("one", {"types": ("a",)}, "pass", ""),
        (
            "two",
            {"types": ("a", "b")},
            "fail",
            "trainers: types=[a, b]: an agent pool has one VM size; keep one, or make a pool for each "
            "[azure-agent-pool-one-size]",
        ),
        (
            "none",
            {"types": ()},
            "fail",
            "trainers: types=[]: names no VM size; give one, such as Standard_ND96isr_H100_v5 "
            "[azure-agent-pool-one-size]",
        ),
    ],
    disk_size: [
        ("least", {"disk_gib": 30}, "pass", ""),
        ("most", {"disk_gib": 2048}, "pass", ""),
        ("below", {"disk_gib": 29}, "fail", f"trainers: disk_gib=29: {DISK}"),
        ("above", {"disk_gib": 2049}, "fail", f"trainers: disk_gib=2049: {DISK}"),
    ],
    spot_price: [
        ("on-demand", {"price": -1.0}, "pass", ""),
        ("price", {"price": 0.001}, "pass", ""),
        ("zero", {"price": 0.0}, "fail", f"trainers: spot_max_price=0.0: {PRICE}"),
        ("below", {"price": -1.001}, "fail", f"trainers: spot_max_price=-1.001: {PRICE}"),
    ],
    linked: [
        ("not-wanted", {**NEAR, "value": "", "wanted": False}, "pass", ""),
        ("wanted", {**NEAR, "value": GROUP, "wanted": True}, "pass", ""),
        ("any-case", {**NEAR, "value": GROUP.lower(), "wanted": True}, "pass", ""),
        (
            "absent",
            {**NEAR, "value": "", "wanted": True},
            "fail",
            f"trainers: placement=existing: does not say which one; set placement_group to {FORM} "
            "[azure-agent-pool-linked]",
        ),
        (
            "unused",
            {**NEAR, "value": GROUP, "wanted": False},
            "fail",
            f"trainers: placement_group={GROUP}: is used with placement=existing only; set placement=existing, or "
            "leave it out [azure-agent-pool-linked]",
        ),
        (
            "name",
            {**NEAR, "value": "near", "wanted": True},
            "fail",
            f"trainers: placement_group=near: is not the id of a proximityPlacementGroup; use {FORM} "
            "[azure-agent-pool-linked]",
        ),
        (
            "other-kind",
            {**NEAR, "value": RESERVED, "wanted": True},
            "fail",
            f"trainers: placement_group={RESERVED}: is not the id of a proximityPlacementGroup; use {FORM} "
            "[azure-agent-pool-linked]",
        ),
    ],
    not_reserved_and_placed: [
        ("reserved", {"capacity": "reservation", "placement": "none"}, "pass", ""),
        ("placed", {"capacity": "on-demand", "placement": "create"}, "pass", ""),
        (
            "both",
            {"capacity": "reservation", "placement": "existing"},
            "fail",
            "trainers: placement=existing: reserved capacity does not go into a proximity placement group; set "
            "placement=none, or buy on demand [azure-agent-pool-reserved-placed]",
        ),
    ],
    label_free: [
        ("own", {"key": "example.com/role"}, "pass", ""),
        ("no-domain", {"key": "kubernetes.io"}, "pass", ""),
        ("likeness", {"key": "mykubernetes.io/role"}, "pass", ""),
        ("allowed", {"key": "node.kubernetes.io/role"}, "pass", ""),
        ("azure", {"key": "kubernetes.azure.com/mode"}, "fail", f"trainers: labels=kubernetes.azure.com/mode: {LABEL}"),
        ("kubernetes", {"key": "kubernetes.io/role"}, "fail", f"trainers: labels=kubernetes.io/role: {LABEL}"),
        ("below", {"key": "app.k8s.io/role"}, "fail", f"trainers: labels=app.k8s.io/role: {LABEL}"),
    ],
    zone_number: [
        ("first", {"zone": "1"}, "pass", ""),
        ("last", {"zone": "3"}, "pass", ""),
        (
            "fourth",
            {"zone": "4"},
            "fail",
            'trainers: zones=4: is not an Azure zone; use "1", "2" or "3" [azure-zone-number]',
        ),
        (
            "aws",
            {"zone": "use1-az1"},
            "fail",
            'trainers: zones=use1-az1: is not an Azure zone; use "1", "2" or "3" [azure-zone-number]',
        ),
    ],
}


def test_case(case):
    case.check()


def broken(pool: dict[str, object], region: str = "eastus") -> list[str]:
    return [each.rule for each in validate_azure_pool(pool, region) if each.status is Status.FAIL]


def test_the_pool_of_2018_is_refused_with_its_successor():
    """az batchai cluster create --vm-size STANDARD_NC6 --vm-priority lowpriority --min 0 --max 2."""
    pool = {"types": ["Standard_NC6"], "min": 0, "max": 2, "capacity": "spot"}
    lines = [each.line("nc6") for each in validate_azure_pool(pool, "eastus") if each.status is Status.FAIL]
    assert lines == [
        "nc6: types=Standard_NC6: is retired since 2023-09-06; use Standard_NC4as_T4_v3 [azure-size-current]"
    ]


def test_its_successor_is_legal():
    assert broken({"types": ["Standard_NC4as_T4_v3"], "min": 0, "max": 2, "capacity": "spot"}) == []


def test_values_of_any_kind_never_raise():
    wrong = {"types": 3, "max": "4", "zones": {"a": 1}, "taints": ["x", 1], "labels": [], "spot_max_price": "x"}
    assert broken({**wrong, 7: None, "driver": None}).count("any-argument-kind") == 5  # type: ignore[dict-item]


def test_the_spot_price_is_judged_for_spot_nodes():
    pool = {"types": ["Standard_NC4as_T4_v3"], "max": 2, "spot_max_price": 0.0}
    assert broken(pool) == ["azure-agent-pool-spot-options"]
    assert broken({**pool, "capacity": "spot"}) == ["azure-agent-pool-spot-price"]


def test_a_missing_region_is_said_once():
    pool = {"types": ["Standard_NC4as_T4_v3"], "max": 2}
    assert broken(pool, "") == []
    assert broken(pool, "East US") == ["azure-region-form"]


@pytest.mark.parametrize(
    ("network", "rules"),
    [("plain", []), ("infiniband", ["azure-infiniband-on-aks"]), ("efa", ["any-argument-word"])],
)
def test_networks_of_aks(network: str, rules: list[str]):
    pool = {"types": ["Standard_ND96isr_H100_v5"], "max": 2, "network": network}
    assert broken(pool, "eastus") == rules
