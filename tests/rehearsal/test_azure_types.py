"""What is particular to types of the simulated Azure: pools without nodes, what still holds, identities, durations."""

import json

import pytest

from gpufleet_rehearsal.cloud.checks import CloudError
from gpufleet_rehearsal.table.model import Trigger
from tests.rehearsal.scenarios import AZURE, in_scenario

POOL = "azure-native:batch:Pool"
AGENT_POOL = "azure-native:containerservice:AgentPool"


def batch_pool(directory, cores, dedicated=0, spot=0):
    """A pool of machines with 24 cores each, in an account with so many."""
    scenario = in_scenario(AZURE, "batch", directory, Trigger(quotas={"batch": cores, "batch-spot": cores}))
    inputs = {
        **scenario.resource("pool").inputs,
        "poolName": "more",
        "scaleSettings": {"fixedScale": {"targetDedicatedNodes": dedicated, "targetLowPriorityNodes": spot}},
    }
    return scenario, inputs, scenario.create(POOL, "more", inputs)


def test_batch_pool_over_its_accounts_quota_succeeds_and_has_no_nodes(tmp_path):
    scenario, _, pool = batch_pool(tmp_path, cores=47, dedicated=2)
    assert scenario.cloud.status(pool) == "available"
    assert pool.view["provisioningState"] == "Succeeded"
    assert (pool.view["allocationState"], pool.view["currentDedicatedNodes"]) == ("Steady", 0)
    (error,) = pool.view["resizeOperationStatus"]["errors"]
    assert error == {"code": "AccountCoreQuotaReached", "message": "The specified account has reached core quota"}


def test_batch_pool_within_its_accounts_quota_has_its_nodes(tmp_path):
    _, _, pool = batch_pool(tmp_path, cores=48, dedicated=2)
    assert pool.view["currentDedicatedNodes"] == 2
    assert "errors" not in pool.view["resizeOperationStatus"]


def test_pools_of_another_batch_account_do_not_count(tmp_path):
    scenario, inputs, _ = batch_pool(tmp_path, cores=48, dedicated=2)
    other = {**inputs, "accountName": "plainbatch", "poolName": "other"}
    assert scenario.create(POOL, "other", other).view["currentDedicatedNodes"] == 2
    assert scenario.create(POOL, "third", {**inputs, "poolName": "third"}).view["currentDedicatedNodes"] == 0


@pytest.mark.parametrize(
    ("quota", "nodes"),
    [
        ({"family": "all", "market": "on-demand", "limit": 24, "account": "fleetbatch"}, 0),
        ({"family": "all", "market": "on-demand", "limit": 72, "in_use": 24, "account": "fleetbatch"}, 2),
        ({"family": "all", "market": "spot", "limit": 0, "account": "fleetbatch"}, 2),
        ({"family": "StandardNCADSA100v4Family", "market": "on-demand", "limit": 0}, 2),
    ],
)
def test_quotas_of_the_account_s_file_that_name_a_batch_account_are_its_own(quota, nodes, tmp_path):
    scenario = in_scenario(AZURE, "batch", tmp_path)
    scenario.cloud.store.remember("quotas", json.dumps([quota]))
    fixed = {"fixedScale": {"targetDedicatedNodes": 2}}
    pool = scenario.create(
        POOL, "more", {**scenario.resource("pool").inputs, "poolName": "more", "scaleSettings": fixed}
    )
    assert pool.view["currentDedicatedNodes"] == nodes


def test_a_batch_account_s_quota_is_not_the_subscription_s(tmp_path):
    scenario = in_scenario(AZURE, "aks", tmp_path)
    quota = {"family": "StandardNCADSA100v4Family", "market": "on-demand", "limit": 0, "account": "fleetbatch"}
    scenario.cloud.store.remember("quotas", json.dumps([quota]))
    inputs = {**scenario.resource("trainers").inputs, "agentPoolName": "more", "count": 1}
    assert scenario.create(AGENT_POOL, "more", inputs).view["count"] == 1
    scenario.cloud.store.remember("quotas", json.dumps([{**quota, "account": ""}]))
    with pytest.raises(CloudError, match=r"^ErrCode_InsufficientVCPUQuota: Insufficient vcpu quota"):
        scenario.create(AGENT_POOL, "again", {**inputs, "agentPoolName": "again"})


def test_spot_nodes_of_a_batch_pool_have_a_quota_of_their_own(tmp_path):
    _, _, pool = batch_pool(tmp_path, cores=24, dedicated=1, spot=2)
    assert (pool.view["currentDedicatedNodes"], pool.view["currentLowPriorityNodes"]) == (1, 0)
    (error,) = pool.view["resizeOperationStatus"]["errors"]
    assert error["code"] == "AccountLowPriorityCoreQuotaReached"


def test_batch_pool_resized_to_what_is_allowed_gets_its_nodes(tmp_path):
    scenario, inputs, pool = batch_pool(tmp_path, cores=24, dedicated=2)
    smaller = {**inputs, "scaleSettings": {"fixedScale": {"targetDedicatedNodes": 1}}}
    resized = scenario.update(pool, smaller)
    assert resized.view["currentDedicatedNodes"] == 1
    assert "errors" not in resized.view["resizeOperationStatus"]


def test_group_of_reservations_is_free_five_seconds_after_the_last_one(tmp_path):
    scenario = in_scenario(AZURE, "aks", tmp_path)
    scenario.delete(scenario.resource("reserved"))
    with pytest.raises(CloudError, match=r"^CannotDeleteResource: Cannot delete resource while nested resources exist"):
        scenario.delete(scenario.resource("reserve"))
    scenario.clock.at += 6
    scenario.delete(scenario.resource("reserve"))


def test_properties_of_a_service_go_without_what_lies_in_it(tmp_path):
    scenario = in_scenario(AZURE, "everything", tmp_path)
    for name in ("blobs", "files"):
        scenario.delete(scenario.resource(name))
    assert {scenario.cloud.status(scenario.resource(name)) for name in ("container", "share")} == {"available"}


def test_cluster_shows_the_principal_of_its_own_kubelet_identity_or_of_one_that_aks_makes(tmp_path):
    scenario = in_scenario(AZURE, "everything", tmp_path)
    own = scenario.resource("cluster").view["identityProfile"]["kubeletidentity"]
    assert own["objectId"] == scenario.resource("kubelet").view["principalId"]
    made = in_scenario(AZURE, "aks", tmp_path).resource("cluster").view["identityProfile"]["kubeletidentity"]
    assert made["resourceId"].endswith("/fleet-agentpool")
    assert len(made["objectId"]) == len(own["objectId"]) == 36


def test_only_a_cluster_with_an_issuer_names_it(tmp_path):
    scenario = in_scenario(AZURE, "aks", tmp_path)
    assert scenario.resource("cluster").view["oidcIssuerProfile"]["issuerURL"].startswith("https://eastus.oic.")
    assert "issuerURL" not in scenario.resource("assigned").view.get("oidcIssuerProfile", {})


def test_agent_pool_without_nodes_is_quicker(tmp_path):
    scenario = in_scenario(AZURE, "aks", tmp_path)
    inputs = dict(scenario.resource("trainers").inputs)
    assert scenario.cloud.operation_seconds(AGENT_POOL, "create", {**inputs, "count": 0}) == 120
    assert scenario.cloud.operation_seconds(AGENT_POOL, "create", {**inputs, "count": 1}) == 200


def test_provider_makes_names_of_any_length_and_leaves_them_to_azure(tmp_path):
    scenario = in_scenario(AZURE, None, tmp_path)
    token, given = "azure-native:network:NatGateway", {"resourceGroupName": "g", "sku": {"name": "Standard"}}
    inputs, found = scenario.cloud.check(token, "n" * 300, given, {})
    assert len(inputs["natGatewayName"]) == 308
    assert found == []
