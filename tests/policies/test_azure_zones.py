"""The policy pack gpufleet-zones on raw Azure resources: what it refuses."""

from dataclasses import replace

import pytest

from gpufleet.plan import Plan
from gpufleet.policies.azure.feasibility import validate_azure_feasibility
from gpufleet.policies.feasibility import validate_feasibility
from gpufleet.policies.pack import plan_of
from gpufleet.rules import all_rules
from tests.policies.azure_changes import (
    CONFIG,
    FIXED,
    SHARE,
    VM,
    Change,
    add,
    blob,
    both,
    deny,
    endpoint,
    findings_of,
    gateway,
    profile,
    put,
    refused,
    with_change,
)
from tests.policies.legal_azure_program import legal_azure_program
from tests.policies.raw_program import plan_from, policy_args


def test_legal_program_passes_every_rule() -> None:
    assert findings_of(legal_azure_program()) == []


@pytest.mark.parametrize(
    ("change", "found"),
    [
        # AKS
        (both(put("near", intent=None), put("trainers", vmSize="Standard_NC6")), {("trainers", "azure-size-current")}),
        (
            both(put("near", intent=None), put("trainers", vmSize="Standard_ND96isr_H100v5")),
            {("trainers", "azure-size-known")},
        ),
        (put("trainers", agentPoolName="gpu-trainers"), {("trainers", "azure-agent-pool-name")}),
        (put("trainers", count=5), {("trainers", "any-count-desired")}),
        (put("trainers", count=0, minCount=5), {("trainers", "any-count-min-max")}),
        (put("trainers", maxCount=None), {("trainers", "azure-agent-pool-autoscaling")}),
        (put("trainers", enableAutoScaling=False), {("trainers", "azure-agent-pool-autoscaling")}),
        (put("trainers", maxCount=1001), {("trainers", "azure-agent-pool-most")}),
        (put("trainers", availabilityZones=["1", "2"]), {("trainers", "any-placement-one-zone")}),
        (put("trainers", availabilityZones=["auto"]), {("trainers", "azure-placement-no-auto-zones")}),
        (put("trainers", type="AvailabilitySet"), {("trainers", "azure-agent-pool-scale-set")}),
        (put("trainers", scaleSetEvictionPolicy="Delete"), {("trainers", "azure-agent-pool-spot-options")}),
        (put("near", zones=["1", "2"]), {("near", "azure-placement-group-one-zone")}),
        (
            both(put("near", zones=["2"]), put("trainers", availabilityZones=["1"])),
            {("trainers", "azure-placement-group-zone")},
        ),
        (put("near", "intent", vmSizes=["Standard_ND96asr_v4"]), {("trainers", "azure-placement-group-sizes")}),
        (put("near", location="westus2"), {("trainers", "azure-region-same")}),
        (put("net", location="westus2"), {("trainers", "azure-region-same"), ("ring", "azure-region-same")}),
        (
            both(profile(scaleSetPriority="Spot"), put("cluster", location="eastus")),
            {("cluster", "azure-agent-pool-system-spot")},
        ),
        (profile(count=0), {("cluster", "azure-agent-pool-system-least")}),
        (
            put("trainers", scaleSetPriority="Spot", upgradeSettings={"maxUnavailable": "1"}),
            {("trainers", "azure-agent-pool-spot-upgrade")},
        ),
        (
            both(put("trainers", orchestratorVersion="1.37"), put("cluster", kubernetesVersion="1.36")),
            {("trainers", "azure-agent-pool-version")},
        ),
        (put("cluster", kubernetesVersion="1.30"), {("cluster", "azure-cluster-version-offered")}),
        (put("cluster", kubernetesVersion="1.36.x"), {("cluster", "azure-cluster-version")}),
        (
            profile(vmSize="Standard_DS2_v2", osDiskType="Ephemeral"),
            {("cluster", "azure-agent-pool-cache")},
        ),
        (
            put("cluster", networkProfile={"serviceCidr": "10.200.0.0/16", "dnsServiceIP": "10.0.0.10"}),
            {("cluster", "azure-cluster-dns")},
        ),
        (
            put("cluster", securityProfile={"workloadIdentity": {"enabled": True}}),
            {("cluster", "azure-cluster-workload-identity")},
        ),
        (deny("Inbound", "22", priority=100), {("nsg", "azure-nsg-priority")}),
        (endpoint("store", "blobs"), {("endpoint", "azure-private-endpoint-group")}),
        (endpoint("store", "blob", "file"), {("endpoint", "azure-private-endpoint-group")}),
        (
            both(endpoint("images", "registry"), put("images", sku={"name": "Standard"})),
            {("endpoint", "azure-private-endpoint-registry")},
        ),
        (put("store", kind="FileStorage"), {("store", "azure-storage-kind")}),
        (put("account", poolAllocationMode="UserSubscription"), {("account", "azure-batch-vault")}),
        (put("hub", sourceRepository="docker.io/library/*"), {("hub", "azure-registry-login")}),
        (profile(name="System"), {("cluster", "azure-agent-pool-name")}),
        (profile(name="sysadm1", osType="Windows"), {("cluster", "azure-agent-pool-name")}),
        (
            both(
                put("trainers", capacityReservationGroupID="${reserved.id}"),
                put("cluster", identity={"type": "SystemAssigned"}),
            ),
            {("trainers", "azure-agent-pool-reservation-identity")},
        ),
        (
            both(
                put("trainers", capacityReservationGroupID="${reserved.id}"),
                add(
                    "block",
                    "compute:CapacityReservation",
                    capacityReservationGroupName="${reserved.name}",
                    sku={"name": "Standard_ND96asr_v4"},
                ),
            ),
            {("trainers", "azure-reservation-fits")},
        ),
        (
            add("block", "compute:CapacityReservation", location="eastus", sku={"name": "Standard_A0"}),
            {("block", "azure-reservation-size")},
        ),
        (
            lambda program: program.pop("operator") and program["cluster"].pop("dependsOn") and None,
            {("cluster", "azure-cluster-kubelet-role")},
        ),
        (lambda program: program["cluster"].pop("dependsOn") and None, {("cluster", "azure-cluster-kubelet-role")}),
        (put("operator", scope="${control.id}"), {("cluster", "azure-cluster-kubelet-role")}),
        (gateway("203.0.113.0/24"), {("cluster", "azure-cluster-nodes-reach-api")}),
        (put("operator", roleDefinitionId="/x/acdd72a7"), {("cluster", "azure-cluster-kubelet-role")}),
        # Batch
        (put("ring", *VM, nodePlacementConfiguration={"policy": "Zonal"}), {("ring", "azure-batch-zonal-infiniband")}),
        (
            put("ring", scaleSettings={"fixedScale": {"targetDedicatedNodes": 101}}),
            {("ring", "azure-batch-inter-node-size")},
        ),
        (
            both(
                put(
                    "account", poolAllocationMode="UserSubscription", keyVaultReference={"id": "/v", "url": "https://v"}
                ),
                put("ring", scaleSettings={"fixedScale": {"targetDedicatedNodes": 81}}),
            ),
            {("ring", "azure-batch-inter-node-size")},
        ),
        (
            put("ring", scaleSettings={"fixedScale": {"targetDedicatedNodes": 60, "targetLowPriorityNodes": 41}}),
            {("ring", "azure-batch-inter-node-size")},
        ),
        (put("ring", taskSlotsPerNode=2), {("ring", "azure-batch-slots-inter-node")}),
        (
            put("ring", taskSlotsPerNode=257, interNodeCommunication="Disabled"),
            {("ring", "azure-batch-slots-most")},
        ),
        (put("ring", targetNodeCommunicationMode="Classic"), {("ring", "azure-batch-communication")}),
        (put("ring", certificates=[{"id": "x"}]), {("ring", "azure-batch-certificates")}),
        (put("ring", resourceTags={"team": "ml"}), {("ring", "azure-batch-resource-tags")}),
        (put("ring", "scaleSettings", **FIXED), {("ring", "azure-batch-scale-one-way")}),
        (put("ring", *VM, nodeAgentSkuId="batch.node.ubuntu 20.04"), {("ring", "azure-batch-image-ended")}),
        (put("ring", "scaleSettings", "autoScale", formula="$a = 1;"), {("ring", "azure-batch-formula-target")}),
        (
            put("ring", "scaleSettings", "autoScale", evaluationInterval="PT1M"),
            {("ring", "azure-batch-formula-interval")},
        ),
        (
            put("ring", "scaleSettings", "autoScale", formula="$TargetDedicatedNodes = 0;".ljust(8193)),
            {("ring", "azure-batch-formula-length")},
        ),
        (put("ring", "networkConfiguration", subnetId=None), {("ring", "azure-batch-private-subnet")}),
        (put("account", identity=None), {("account", "azure-batch-auto-storage-identity")}),
        (put("account", accountName="train-batch"), {("account", "azure-account-name")}),
        # Mounts
        (put("ring", mountConfiguration=[SHARE]), {("ring", "azure-storage-shared-key")}),
        (blob(accountKey="a2V5"), {("ring", "azure-storage-shared-key")}),
        (blob(sasKey="sv=1"), {("ring", "azure-storage-shared-key")}),
        (put("account", "autoStorage", authenticationMode="StorageKeys"), {("account", "azure-storage-shared-key")}),
        (blob(), {("ring", "azure-mount-credential")}),
        (
            both(blob(sasKey="sv=1", identityReference={"resourceId": "/x"}), put("store", allowSharedKeyAccess=True)),
            {("ring", "azure-mount-credential")},
        ),
        (
            put("ring", identity=None, deploymentConfiguration={}),
            {("ring", "azure-mount-identity")},
        ),
        (
            both(put("ring", identity=None), put("ring", mountConfiguration=[])),
            {("ring", "azure-mount-identity")},
        ),
        (
            put("ring", mountConfiguration=[{"nfsMountConfiguration": {"source": "x"}}] * 11),
            {("ring", "azure-mount-count")},
        ),
        (put("ring", mountConfiguration=[{}]), {("ring", "azure-mount-one-kind")}),
        (
            both(
                put(
                    "ring",
                    mountConfiguration=[{"azureFileShareConfiguration": {"accountName": "${store.name}"}}],
                ),
                put("store", allowSharedKeyAccess=True),
            ),
            {("ring", "azure-mount-files-key")},
        ),
        # Issue 7: storage in eastus with the pool in westus2.
        (
            both(put("account", location="westus2"), put("net", location="westus2"), put("images", location="westus2")),
            {
                ("trainers", "azure-region-same"),
                ("ring", "azure-storage-near-pool"),
                ("account", "azure-storage-near-pool"),
            },
        ),
        # Networks
        (deny("Inbound", "*"), {("ring", "azure-nsg-inter-node")}),
        (deny("Outbound", "2049"), {("ring", "azure-nsg-mount-port")}),
        # Storage and registry
        (put("store", accountName="train-data"), {("store", "azure-account-name")}),
        (
            put("store", enableNfsV3=True),
            {("store", "azure-storage-nfs-namespace"), ("store", "azure-storage-nfs-network")},
        ),
        (
            put(
                "store",
                enableNfsV3=True,
                isHnsEnabled=True,
                kind="FileStorage",
                sku={"name": "Premium_LRS"},
                networkRuleSet={"defaultAction": "Deny"},
            ),
            {("store", "azure-storage-nfs-kind")},
        ),
        (put("share", enabledProtocols="NFS"), {("share", "azure-files-nfs-kind")}),
        (put("images", sku={"name": "Basic"}, publicNetworkAccess="Disabled"), {("images", "azure-registry-public")}),
        (put("images", registryName="train-images"), {("images", "azure-registry-name")}),
        (put("hub", sourceRepository="harbor.example.com/train"), {("hub", "azure-registry-upstream")}),
        # Budget
        (put("budget", timePeriod={"startDate": "2026-12-02"}), {("budget", "azure-budget-start")}),
        (
            put("budget", notifications={str(number): {} for number in range(6)}),
            {("budget", "azure-budget-notifications")},
        ),
    ],
)
def test_mistake_is_refused_by_its_rule_alone(change: Change, found: set[tuple[str, str]]) -> None:
    assert refused(with_change(change)) == found


def test_the_feature_of_infiniband_on_aks() -> None:
    def lines(config):
        return [each.line for each in findings_of(legal_azure_program(), config)]

    assert lines({"aks_infiniband": True}) == []
    (unknown,) = lines({})
    assert "not verified" in unknown
    (missing,) = lines({"aks_infiniband": False})
    assert "not verified" not in missing
    assert all(line.endswith("[azure-agent-pool-infiniband]") for line in (unknown, missing))


def test_the_whole_line_names_resource_value_and_fix() -> None:
    program = with_change(put("account", location="westus2"))
    lines = [each.line for each in findings_of(program) if each.resource == "account"]
    assert lines == [
        "account: auto_storage=store: this storage account lies in eastus, the pool in westus2; use a storage account "
        "in westus2 [azure-storage-near-pool]"
    ]


def test_a_pool_within_a_cluster_is_named_in_the_argument() -> None:
    (found,) = findings_of(with_change(profile(name="gpu-nodes")))
    assert found.resource == "cluster"
    assert found.line.startswith("cluster: agent_pool_profiles.gpu-nodes.agent_pool_name=gpu-nodes: is not a valid")


def test_a_pool_of_two_markets_says_nothing_twice() -> None:
    scale = {"fixedScale": {"targetDedicatedNodes": 60, "targetLowPriorityNodes": 60}}
    lines = [each.line for each in findings_of(with_change(put("ring", scaleSettings=scale)))]
    assert len(lines) == len(set(lines))


def test_the_pack_gives_these_findings() -> None:
    program = with_change(put("trainers", vmSize="Standard_NC6"))
    plan = plan_of(policy_args(program, region="eastus").resources)
    ours = validate_azure_feasibility(plan, CONFIG)
    assert ours
    assert [each for each in validate_feasibility(plan, CONFIG) if each in ours] == ours


def test_a_plan_without_azure_has_no_findings() -> None:
    bucket = {"bucket": {"type": "aws:s3/bucket:Bucket", "inputs": {}}}
    assert validate_azure_feasibility(plan_from(bucket), {}) == []


ON_PLAN = (
    "aks_agent_pool", "batch_mpi", "batch_service", "capacity", "infiniband", "names", "nsg", "placement",
    "role_assignment", "storage", "vm_sizes",
)  # fmt: skip
"""Modules of rules that need nothing but a plan: not the arguments of a component, not the account."""


def test_every_rule_on_an_azure_plan_is_called() -> None:
    program = legal_azure_program()
    deny("Outbound", "445")(program)
    put("trainers", capacityReservationGroupID="${reserved.id}", availabilityZones=["1"], spotMaxPrice=1)(program)
    put("trainers", orchestratorVersion="1.34", upgradeSettings={"maxSurge": "1"})(program)
    put("store", enableNfsV3=True)(program)
    add("block", "compute:CapacityReservation", sku={"name": "Standard_A0"})(program)
    program["ring"]["inputs"]["mountConfiguration"].append(SHARE)
    put("ring", "scaleSettings", **FIXED)(program)
    called = {each.finding.rule for each in validate_azure_feasibility(plan_from(program, "eastus"), {})}
    for topic in ON_PLAN:
        module = f"gpufleet.rules.azure.{topic}"
        wanted = {rule.name for rule in all_rules() if rule.check.__module__ == module}
        assert wanted, topic
        assert wanted - called == set(), topic


def test_the_pool_of_2018() -> None:
    """Two low-priority nodes of Standard_NC6, as Batch AI had them: the size is gone, the successor is named."""
    change = put("ring", vmSize="STANDARD_NC6", scaleSettings={"fixedScale": {"targetLowPriorityNodes": 2}})
    (line,) = [each.line for each in findings_of(with_change(change)) if each.rejects]
    assert line == (
        "ring: types=Standard_NC6: is retired since 2023-09-06; use Standard_NC4as_T4_v3 [azure-size-current]"
    )


def test_a_pool_resized_to_nothing_is_legal() -> None:
    assert findings_of(with_change(put("ring", scaleSettings={"fixedScale": {"targetDedicatedNodes": 0}}))) == []


def test_an_old_version_is_legal_with_long_term_support_and_on_a_cluster_that_has_it() -> None:
    old = {"kubernetesVersion": "1.30"}
    assert findings_of(with_change(put("cluster", supportPlan="AKSLongTermSupport", **old))) == []
    plan = plan_from(with_change(put("cluster", **old)), "eastus")
    kept = Plan(plan.stack, [replace(each, operation="same") for each in plan.resources])
    assert [each.line for each in validate_azure_feasibility(kept, CONFIG) if each.rejects] == []
