"""GpuNodeGroup of Azure: exact inputs of every child, what changes with the intent, and what is refused."""

from typing import cast

import pytest

from gpufleet.azure.gpu_node_group import REPLACING, GpuNodeGroup, GpuNodeGroupArgs
from gpufleet.azure.gpu_node_group_plan import agent_pool_name
from tests.components.azure_place import HERE, PLACE, SUBSCRIPTION, TAGS, known
from tests.components.recorder import Recording, construct, refusal

COMPONENT = "gpufleet-azure:index:GpuNodeGroup"
NODES = "azure-native:containerservice:AgentPool"
PLACEMENT = "azure-native:compute:ProximityPlacementGroup"
PROVIDERS = f"{SUBSCRIPTION}/resourceGroups/theirs/providers/Microsoft.Compute"
THEIR_GROUP = f"{PROVIDERS}/proximityPlacementGroups/near"
RESERVED = f"{PROVIDERS}/capacityReservationGroups/bought"
SUBNET = f"{SUBSCRIPTION}/resourceGroups/fleet-group/providers/Microsoft.Network/virtualNetworks/v/subnets/nodes"
BASE = {
    **PLACE,
    "types": ["Standard_NC24ads_A100_v4"],
    "max": 4,
    "zones": ["1"],
    "cluster_name": "fleet",
    "subnet_id": SUBNET,
}


def build(preview: bool, /, **changes: object) -> Recording[GpuNodeGroup]:
    """A pool called trainers: the base with ``changes``; None takes an argument away."""
    args = {key: value for key, value in {**BASE, **changes}.items() if value is not None}
    return construct(lambda: GpuNodeGroup("trainers", cast(GpuNodeGroupArgs, args)), preview)


def labels(**changes: str) -> dict[str, str]:
    words = {"capacity": "on-demand", "gpu": "A100", "network": "plain", "place": "cloud", "placement": "none"}
    facts = {**words, "pool": "trainers", "zone-id": "1", **changes}
    named = {f"gpufleet.dev/{key}": value for key, value in facts.items() if value}
    return {**named, "nvidia.com/gpu.present": "true"}


def expected(**changes: object) -> dict[str, object]:
    """The agent pool of the base with ``changes``; None takes a property away."""
    inputs: dict[str, object] = {
        "resourceGroupName": "fleet-group",
        "resourceName": "fleet",
        "agentPoolName": "trainers",
        "mode": "User",
        "type": "VirtualMachineScaleSets",
        "vmSize": "Standard_NC24ads_A100_v4",
        "vnetSubnetID": SUBNET,
        "enableAutoScaling": True,
        "minCount": 0,
        "count": 0,
        "maxCount": 4,
        "availabilityZones": ["1"],
        "scaleSetPriority": "Regular",
        "scaleDownMode": "Delete",
        "osType": "Linux",
        "osSKU": "Ubuntu",
        "osDiskSizeGB": 128,
        "gpuProfile": {"driver": "Install"},
        "nodeLabels": labels(),
        "nodeTaints": ["nvidia.com/gpu=present:NoSchedule"],
        "upgradeSettings": {"maxSurge": "0", "maxUnavailable": "33%"},
        "tags": TAGS,
    }
    return {key: value for key, value in {**inputs, **changes}.items() if value is not None}


def test_a_plain_pool_is_an_agent_pool(preview: bool) -> None:
    recording = build(preview)
    assert recording.inputs(NODES) == {"trainers-nodes": expected()}
    assert {each.type for each in recording.resources} == {COMPONENT, NODES}
    assert recording.outputs["trainers"] == {
        "pool_name": known(preview, "trainers-nodes"),
        "labels": labels(),
    }


def test_what_the_autoscaler_and_azure_own(preview: bool) -> None:
    nodes = build(preview).one(NODES)
    assert nodes.parent == "trainers"
    assert nodes.ignore_changes == ("count",)
    assert nodes.delete_before_replace is True
    assert nodes.replace_on_changes == REPLACING
    # Each is an input of a pool that has everything, so that no name is misspelt.
    given = [
        expected(),
        *(extra for _, extra in CAPACITIES.values()),
        {"proximityPlacementGroupID": "", "osDiskType": ""},
    ]
    assert set(REPLACING) <= {key for inputs in given for key in inputs}


def test_a_proximity_placement_group_of_its_own(preview: bool) -> None:
    recording = build(preview, types=["Standard_ND96isr_H100_v5"], placement="create")
    group = known(preview, "trainers-placement-id")
    assert recording.inputs(PLACEMENT) == {
        "trainers-placement": {**HERE, "intent": {"vmSizes": ["Standard_ND96isr_H100_v5"]}, "zones": ["1"]}
    }
    assert recording.one(PLACEMENT).replace_on_changes == ("intent", "zones")
    assert recording.one(PLACEMENT).delete_before_replace is None
    assert recording.inputs(NODES)["trainers-nodes"] == expected(
        vmSize="Standard_ND96isr_H100_v5",
        proximityPlacementGroupID=group,
        nodeLabels=labels(gpu="H100", placement="create"),
    )
    assert recording.outputs["trainers"]["proximity_placement_group_id"] == group


CAPACITIES: dict[str, tuple[dict[str, object], dict[str, object]]] = {
    "on-demand": ({}, {}),
    "spot": (
        {"spot_max_price": 1.5},
        {
            "scaleSetPriority": "Spot",
            "scaleSetEvictionPolicy": "Delete",
            "spotMaxPrice": 1.5,
            "upgradeSettings": None,
            "nodeTaints": [
                "nvidia.com/gpu=present:NoSchedule",
                "kubernetes.azure.com/scalesetpriority=spot:NoSchedule",
            ],
        },
    ),
    "reservation": ({"reservation_id": RESERVED}, {"capacityReservationGroupID": RESERVED}),
}
"""Capacity -> what the intent needs, and what it changes in the agent pool."""
LEGAL = [
    (capacity, placement)
    for capacity in CAPACITIES
    for placement in ("none", "create", "existing")
    # Azure keeps reserved capacity out of proximity placement groups.
    if not (capacity == "reservation" and placement != "none")
]


@pytest.mark.parametrize(("capacity", "placement"), LEGAL, ids=["-".join(words) for words in LEGAL])
def test_each_legal_combination(capacity: str, placement: str, preview: bool) -> None:
    needs, changed = CAPACITIES[capacity]
    theirs = {"placement_group": THEIR_GROUP} if placement == "existing" else {}
    recording = build(preview, capacity=capacity, placement=placement, **needs, **theirs)
    groups = {"none": None, "create": known(preview, "trainers-placement-id"), "existing": THEIR_GROUP}
    assert recording.inputs(NODES)["trainers-nodes"] == expected(
        **changed,
        proximityPlacementGroupID=groups[placement],
        nodeLabels=labels(capacity=capacity, placement=placement),
    )
    assert recording.names(PLACEMENT) == (["trainers-placement"] if placement == "create" else [])


def test_spot_pays_the_on_demand_price_at_most_unless_told(preview: bool) -> None:
    assert build(preview, capacity="spot").one(NODES).inputs["spotMaxPrice"] == -1


def test_numbers_of_other_languages_are_floats(preview: bool) -> None:
    inputs = build(preview, min=1.0, desired=2.0, max=3.0, disk_gib=256.0).one(NODES).inputs
    assert [inputs[key] for key in ("minCount", "count", "maxCount", "osDiskSizeGB")] == [1, 2, 3, 256]


def test_512_nodes_differ_from_2_in_the_number_only(preview: bool) -> None:
    few, many = (build(preview, max=most).one(NODES).inputs for most in (2, 512))
    assert {**few, "maxCount": 512} == many


def test_the_owner_chooses_driver_system_and_what_stays(preview: bool) -> None:
    recording = build(
        preview,
        zones=None,
        driver="none",
        os_sku="AzureLinux",
        scale_down="deallocate",
        labels={"team": "vision"},
        taints=[{"key": "team", "value": "vision", "effect": "NO_EXECUTE"}],
    )
    assert recording.inputs(NODES)["trainers-nodes"] == expected(
        availabilityZones=None,
        gpuProfile={"driver": "None"},
        osSKU="AzureLinux",
        osDiskType="Managed",
        scaleDownMode="Deallocate",
        nodeLabels={**labels(**{"zone-id": ""}), "team": "vision"},
        nodeTaints=["nvidia.com/gpu=present:NoSchedule", "team=vision:NoExecute"],
    )


def test_a_taint_of_the_same_key_takes_the_place_of_the_gpu_taint(preview: bool) -> None:
    taints = [{"key": "nvidia.com/gpu", "value": "mine", "effect": "NO_SCHEDULE"}]
    assert build(preview, taints=taints).one(NODES).inputs["nodeTaints"] == ["nvidia.com/gpu=mine:NoSchedule"]


@pytest.mark.parametrize(
    ("name", "expected_name"),
    [
        ("trainers", "trainers"),
        ("twelve012345", "twelve012345"),
        ("thirteen01234", "thirteen1428"),
        ("azure-dev-trainers", "azuredev1a9b"),
        ("trainers-a", "trainers3889"),
        ("1st", "ste01d"),
        ("---", "pcb3f"),
        ("system", "systembbc5"),
    ],
)
def test_names_in_aks(name: str, expected_name: str) -> None:
    assert agent_pool_name(name) == expected_name


CASES: dict[str, tuple[dict[str, object], list[str]]] = {
    "two low-priority nodes of 2018": (
        {"types": ["Standard_NC6"], "max": 2, "capacity": "spot"},
        ["types=Standard_NC6: is retired since 2023-09-06; use Standard_NC4as_T4_v3 [azure-size-current]"],
    ),
    "words of AWS": (
        {"image": "bottlerocket", "key_pair": "me", "capacity": "capacity-block", "network": "efa"},
        [
            "image=bottlerocket: is for pools on AWS only; choose os_sku and driver [azure-agent-pool-word]",
            "key_pair=me: is for pools on AWS only; leave it out (kubectl debug node/<name> opens a shell on a node) "
            "[azure-agent-pool-word]",
            "capacity=capacity-block: is not an allowed value; use on-demand, spot or reservation [any-argument-word]",
            "network=efa: is not an allowed value; use plain [any-argument-word]",
        ],
    ),
    "two sizes, two zones and a placement group": (
        {"types": ["Standard_NC24ads_A100_v4", "Standard_NC48ads_A100_v4"], "zones": ["1", "2"], "placement": "create"},
        [
            "types=[Standard_NC24ads_A100_v4, Standard_NC48ads_A100_v4]: an agent pool has one VM size; keep one, or "
            "make a pool for each [azure-agent-pool-one-size]",
            "zones=[1, 2]: a cluster placement group lies in one zone; keep one zone, or set placement=none "
            "[any-placement-one-zone]",
        ],
    ),
    "every fault at once": (
        {
            "types": ["Standard_NC24ads_A100_v4"],
            "min": 5,
            "desird": 1,
            "zones": ["use1-az1"],
            "placement": "existing",
            "reservation_id": "cr-0123456789abcdef0",
            "network": "infiniband",
            "disk_gib": 10,
            "spot_max_price": 0.0,
            "labels": {"kubernetes.azure.com/role": "gpu"},
            "driver": "nvidia",
        },
        [
            "desird=1: unknown argument; did you mean desired? [any-argument-known]",
            "min=5: is above max=4; use 4 or fewer, or raise max [any-count-min-max]",
            "network=infiniband: no pod on AKS reaches a node's InfiniBand, as gpufleet installs no RDMA device plugin "
            "there; make it a pool of batch.pools, or set network=plain [azure-infiniband-on-aks]",
            'zones=use1-az1: is not an Azure zone; use "1", "2" or "3" [azure-zone-number]',
            "driver=nvidia: is not an allowed value; use install or none [any-argument-word]",
            "disk_gib=10: is not a disk size that AKS supports; use 30 to 2048 [azure-agent-pool-disk]",
            "placement=existing: does not say which one; set placement_group to /subscriptions/<id>/resourceGroups/"
            "<group>/providers/Microsoft.Compute/proximityPlacementGroups/<name> [azure-agent-pool-linked]",
            "reservation_id=cr-0123456789abcdef0: is used with capacity=reservation only; set capacity=reservation, or "
            "leave it out [azure-agent-pool-linked]",
            "spot_max_price=0.0: is for Spot nodes only; buy the nodes as Spot, or leave it out "
            "[azure-agent-pool-spot-options]",
            "labels=kubernetes.azure.com/role: has a prefix that AKS keeps for itself; use your own domain: "
            "example.com/role [azure-label-reserved]",
        ],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_refuses(case: str, preview: bool) -> None:
    changes, lines = CASES[case]
    args = cast(GpuNodeGroupArgs, {**BASE, **changes})
    assert refusal(lambda: GpuNodeGroup("trainers", args), preview) == [f"trainers: {line}" for line in lines]


def test_accepts_what_the_cases_start_from(preview: bool) -> None:
    assert build(preview).names(NODES) == ["trainers-nodes"]
