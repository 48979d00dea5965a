"""Pools of Azure in a plan, in the words of gpufleet.pools.eks_pool."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpufleet.plan import UNKNOWN
from gpufleet.plan.azure.graph import azure_type
from gpufleet.plan.azure.pools import azure_pools
from gpufleet.plan.pools import planned_pools
from tests.policies.raw_program import plan_from

GROUP = {"type": "azure-native:resources:ResourceGroup", "inputs": {"location": "West US 2"}}
ACCOUNT = {
    "type": "azure-native:batch:BatchAccount",
    "inputs": {"accountName": "trainbatch", "resourceGroupName": "${group.name}"},
}
CLUSTER = {
    "type": "azure-native:containerservice:ManagedCluster",
    "inputs": {"resourceName": "train", "resourceGroupName": "${group.name}", "location": "eastus"},
}
AKS = "azure-native:containerservice:AgentPool"
BATCH = "azure-native:batch:Pool"
SCALE_SET = "azure-native:compute:VirtualMachineScaleSet"
MACHINE = "azure-native:compute:VirtualMachine"
A100 = "Standard_NC24ads_A100_v4"
H100 = "Standard_ND96isr_H100_v5"


def pools(kind, inputs, **others):
    resources = {"group": GROUP, "account": ACCOUNT, "cluster": CLUSTER, **others}
    resources["trainers"] = {"type": kind, "inputs": inputs}
    found = azure_pools(plan_from(resources, region=None))
    assert {pool.cloud for pool in found} <= {"azure"}
    return found


def pool(kind, inputs, **others):
    (found,) = pools(kind, inputs, **others)
    return found


def agent_pool(**inputs):
    return pool(AKS, {"resourceName": "${cluster.name}", "vmSize": A100, **inputs})


def batch_pools(**inputs):
    return pools(BATCH, {"accountName": "${account.name}", "vmSize": H100, **inputs})


@pytest.mark.parametrize(
    ("token", "kind", "version"),
    [
        ("azure-native:batch:Pool", "batch:Pool", None),
        ("azure-native:batch/v20240701:Pool", "batch:Pool", "2024-07-01"),
        ("azure-native_batch_v20250601:batch:Pool", "batch:Pool", "2025-06-01"),
        (
            "azure-native:containerservice/v20250902preview:AgentPool",
            "containerservice:AgentPool",
            "2025-09-02-preview",
        ),
    ],
)
def test_tokens_of_every_version(token, kind, version):
    found = azure_type(token)
    assert (found.kind, found.version) == (kind, version)


@pytest.mark.parametrize("token", ["azure:batch/pool:Pool", "aws:batch/jobQueue:JobQueue", "pulumi:pulumi:Stack", ""])
def test_other_tokens(token):
    assert azure_type(token) is None


def test_agent_pool():
    found = agent_pool(
        enableAutoScaling=True,
        count=1,
        minCount=0,
        maxCount=4.0,
        availabilityZones=["1"],
        scaleSetPriority="Spot",
    )
    assert found.kind == "agent-pool"
    assert found.region == "eastus"
    assert found.gpu is True
    assert found.unknown == ()
    assert found.intent == {
        "types": [A100],
        "min": 0,
        "desired": 1,
        "max": 4,
        "zones": ["eastus-1"],
        "placement": "none",
        "capacity": "spot",
    }


def test_agent_pool_without_autoscaling_stays_as_it_is():
    intent = agent_pool(count=3).intent
    assert (intent["min"], intent["desired"], intent["max"]) == (3, 3, 3)
    assert agent_pool().intent["max"] == 1


def test_agent_pool_of_a_cluster_by_name():
    assert pool(AKS, {"resourceName": "train", "vmSize": A100}).region == "eastus"
    assert pool(AKS, {"resourceName": "other", "vmSize": A100}).region is None


def test_agent_pool_with_unknown_words():
    found = agent_pool(vmSize="${group.name}", enableAutoScaling="${group.name}", scaleSetPriority="${group.name}")
    assert set(found.unknown) == {"types", "min", "max", "capacity"}
    assert found.gpu is None
    assert "types" not in found.intent


def test_agent_pool_in_a_placement_group():
    group = {"type": "azure-native:compute:ProximityPlacementGroup", "inputs": {}}
    inputs = {"resourceName": "train", "vmSize": A100}
    made = pool(AKS, inputs | {"proximityPlacementGroupID": "${near.id}"}, near=group)
    assert made.intent["placement"] == "create"
    given_by_id = agent_pool(proximityPlacementGroupID="/subscriptions/s/x/near")
    assert given_by_id.intent["placement"] == "existing"
    assert given_by_id.intent["placement_group"] == "/subscriptions/s/x/near"


def test_reserved_capacity():
    assert agent_pool(capacityReservationGroupID="/x/reserved").intent["capacity"] == "reservation"
    assert agent_pool().intent["capacity"] == "on-demand"


def test_automatic_zones():
    assert agent_pool(availabilityZones=["auto"]).intent["zones"] == ["auto"]


def test_profiles_within_a_cluster():
    profiles = [{"name": "system", "vmSize": "Standard_D4s_v5", "count": 2}, {"name": "gpu", "vmSize": A100}]
    inputs = {"location": "uksouth", "agentPoolProfiles": profiles}
    first, second = pools(CLUSTER["type"], inputs)
    assert (first.gpu, first.intent["max"], first.region) == (False, 2, "uksouth")
    assert (second.gpu, second.intent["types"], second.resource.name) == (True, [A100], "trainers")


def test_batch_pool_of_fixed_size():
    (found,) = batch_pools(scaleSettings={"fixedScale": {"targetDedicatedNodes": 2}}, interNodeCommunication="Enabled")
    assert found.kind == "batch-pool"
    assert found.region == "westus2"
    assert found.intent == {
        "types": [H100],
        "network": "infiniband",
        "min": 2,
        "desired": 2,
        "max": 2,
        "capacity": "on-demand",
    }


@pytest.mark.parametrize(
    ("size", "state", "network"),
    [
        (H100, "Enabled", "infiniband"),
        (H100, "Disabled", "plain"),
        (H100, None, "plain"),
        ("Standard_NC4as_T4_v3", "Enabled", "plain"),
        ("Standard_XY1", "Enabled", None),
        (H100, "${group.name}", None),
    ],
)
def test_network_of_a_batch_pool(size, state, network):
    (found,) = batch_pools(vmSize=size, interNodeCommunication=state)
    assert found.intent.get("network") == network
    assert ("network" in found.unknown) is (network is None)


def test_batch_pool_with_dedicated_and_spot_nodes_is_two():
    scale = {"fixedScale": {"targetDedicatedNodes": 1, "targetLowPriorityNodes": 5}}
    found = [(each.intent["capacity"], each.intent["max"]) for each in batch_pools(scaleSettings=scale)]
    assert found == [("on-demand", 1), ("spot", 5)]


@pytest.mark.parametrize("scale", [None, {"fixedScale": {"targetDedicatedNodes": 0}}, {"fixedScale": {}}])
def test_batch_pool_without_nodes(scale):
    (found,) = batch_pools(scaleSettings=scale)
    assert (found.intent["min"], found.intent["max"], found.intent["capacity"]) == (0, 0, "on-demand")


def test_batch_pool_whose_formula_wants_none_of_one_kind():
    formula = "$TargetLowPriorityNodes = min(10, max(0, $PendingTasks)); $TargetDedicatedNodes = 0;"
    (found,) = batch_pools(scaleSettings={"autoScale": {"formula": formula}})
    assert (found.intent["capacity"], found.intent["max"]) == ("spot", 10)
    (none,) = batch_pools(scaleSettings={"autoScale": {"formula": "$TargetDedicatedNodes = 0;"}})
    assert (none.intent["capacity"], none.intent["max"]) == ("on-demand", 0)


@pytest.mark.parametrize(
    ("formula", "words", "unknown"),
    [
        ("$TargetLowPriorityNodes=min(10, $PendingTasks);", {"capacity": "spot", "min": 0, "max": 10}, ()),
        ("$TargetDedicatedNodes=min(10, x);", {"capacity": "on-demand", "max": 10}, ("min",)),
        ("$TargetDedicatedNodes=x;", {"capacity": "on-demand"}, ("min", "max")),
        ("${group.name}", {}, ("min", "max", "capacity")),
    ],
)
def test_batch_pool_with_a_formula(formula, words, unknown):
    (found,) = batch_pools(scaleSettings={"autoScale": {"formula": formula}})
    assert {word: found.intent[word] for word in ("min", "max", "capacity") if word in found.intent} == words
    assert found.unknown == unknown


def test_sizes_in_any_case():
    (found,) = batch_pools(vmSize="STANDARD_ND96ISR_H100_V5")
    assert found.intent["types"] == [H100]


def test_a_size_that_looks_like_a_gpu_is_one():
    assert agent_pool(vmSize="Standard_NC9999_v9").gpu is True
    assert agent_pool(vmSize="Standard_D4s_v5").gpu is False


def test_scale_set():
    inputs = {
        "location": "eastus",
        "sku": {"name": H100, "capacity": 3},
        "zones": ["2"],
        "virtualMachineProfile": {"priority": "Spot"},
        "proximityPlacementGroup": {"id": "/x/near"},
    }
    found = pool(SCALE_SET, inputs)
    assert (found.kind, found.region) == ("scale-set", "eastus")
    assert found.intent["zones"] == ["eastus-2"]
    assert (found.intent["min"], found.intent["max"], found.intent["capacity"]) == (3, 3, "spot")
    assert found.intent["placement"] == "existing"


def test_scale_set_without_a_number_has_no_most():
    assert "max" not in pool(SCALE_SET, {"sku": {"name": H100}}).intent


def test_machine():
    found = pool(MACHINE, {"location": "eastus", "hardwareProfile": {"vmSize": A100}})
    assert (found.kind, found.intent["max"], found.intent["types"]) == ("machine", 1, [A100])


def test_ml_cluster():
    settings = {"minNodeCount": 0, "maxNodeCount": 4}
    inner = {
        "computeType": "AmlCompute",
        "properties": {"vmSize": A100, "vmPriority": "LowPriority", "scaleSettings": settings},
    }
    found = pool("azure-native:machinelearningservices:Compute", {"location": "eastus", "properties": inner})
    assert (found.kind, found.region) == ("ml-cluster", "eastus")
    assert (found.intent["min"], found.intent["max"], found.intent["capacity"]) == (0, 4, "spot")


def test_other_ml_computes_are_no_pools():
    inner = {"computeType": "ComputeInstance", "properties": {"vmSize": A100}}
    assert pools("azure-native:machinelearningservices:Compute", {"properties": inner}) == []


def test_the_region_of_the_provider_comes_before_that_of_the_group():
    resources = {
        "group": GROUP,
        "trainers": {"type": MACHINE, "inputs": {"resourceGroupName": "${group.name}"}},
    }
    (by_provider,) = azure_pools(plan_from(resources, region="eastus"))
    (by_group,) = azure_pools(plan_from(resources, region=None))
    assert (by_provider.region, by_group.region) == ("eastus", "westus2")


def test_a_region_that_is_not_known():
    resources = {"group": GROUP, "trainers": {"type": MACHINE, "inputs": {"location": "${group.location}"}}}
    (found,) = azure_pools(plan_from(resources, region="eastus"))
    assert found.region is None


def test_all_pools_of_a_plan_have_those_of_azure():
    plan = plan_from({"trainers": {"type": MACHINE, "inputs": {"hardwareProfile": {"vmSize": A100}}}})
    assert [each.resource.name for each in planned_pools(plan)] == ["trainers"]


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just(UNKNOWN)
WORDS = """
vmSize count minCount maxCount enableAutoScaling availabilityZones zones sku name capacity scaleSettings fixedScale
autoScale formula agentPoolProfiles properties hardwareProfile virtualMachineProfile priority location id
"""
KEYS = st.sampled_from(WORDS.split())
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=8
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(KEYS, VALUES, max_size=6))
def test_odd_properties_do_not_raise(inputs):
    for kind in (AKS, BATCH, SCALE_SET, MACHINE, CLUSTER["type"], "azure-native:machinelearningservices:Compute"):
        for found in azure_pools(plan_from({"x": {"type": kind, "inputs": inputs}})):
            assert UNKNOWN not in found.intent.values()
