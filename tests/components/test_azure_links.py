"""What components of Azure hand over to each other: to every part of a program, made or refused."""

import asyncio
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pulumi
import pytest
from pulumi.runtime.settings import SETTINGS

from gpufleet.azure.batch_account import BatchAccount
from gpufleet.azure.batch_pool import BatchPool
from gpufleet.azure.budget import Budget
from gpufleet.azure.cluster import Cluster
from gpufleet.azure.gpu_node_group import GpuNodeGroup
from gpufleet.azure.network import Network
from gpufleet.azure.nfs_share import NfsShare
from gpufleet.azure.node_identity import NodeIdentity
from gpufleet.azure.registry import Registry
from gpufleet.azure.resource_group import ResourceGroup
from gpufleet.azure.shared_files import SharedFiles
from gpufleet.validation import gathering
from tests.components.azure_place import SUBSCRIPTION, TAGS, known
from tests.components.azure_samples import ANSWERS, COMPUTED
from tests.components.recorder import Recording, Secret, construct, refusal

# What was begun for a program that is refused is given up.
pytestmark = pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
TAGGED = ("resources:ResourceGroup", "managedidentity:UserAssignedIdentity")
ADMINS = {"platform": "11111111-2222-3333-4444-555555555555"}


def fleet(**changes: dict[str, Any]) -> SharedFiles:
    """A whole program. changes: arguments by the logical name of their component."""

    def more(part: str) -> dict[str, Any]:
        return changes.get(part, {})

    with gathering():
        group = ResourceGroup("group", **({"region": "eastus", "tags": TAGS} | more("group")))
        parts = group.for_parts()
        network = Network("net", **parts, **more("net"))
        nodes = NodeIdentity("nodes", **parts, **more("nodes"))
        clients = network.for_clients(nodes=True, batch=True)
        links = {**parts, **network.for_endpoint(), **clients, **nodes.for_files()}
        files = SharedFiles("files", **({"shared_keys": True, "shares": ["logs"]} | links | more("files")))
        registry = Registry("registry", **parts, **network.for_endpoint(), **nodes.for_registry(), **more("registry"))
        Budget(
            "budget",
            **({"environment": "dev", "usd_per_month": 9, "emails": ["a@example.com"]} | more("budget")),
            **group.for_budget(),
        )
        settings = {"version": "1.36", "admins": ADMINS, "registry_id": registry.registry_id}
        cluster = Cluster("cluster", **settings, **parts, **network.for_cluster(), **more("cluster"))
        GpuNodeGroup(
            "pool",
            **({"types": ["Standard_NC24ads_A100_v4"], "max": 4} | more("pool")),
            **parts,
            **cluster.for_nodes(),
            **network.for_nodes(),
        )
        NfsShare("share", **parts, **network.for_clients(nodes=True), **more("share"))
        account = BatchAccount("batch", **parts, **nodes.for_batch(), **files.for_account(), **more("batch"))
        BatchPool(
            "workers",
            **({"types": ["Standard_NC4as_T4_v3"], "max": 4} | more("workers")),
            **parts,
            **account.for_pool(),
            **nodes.for_batch(),
            **network.for_batch(),
            **registry.for_pool(),
            **files.for_pool(["scripts", "logs"]),
            opts=pulumi.ResourceOptions(depends_on=[files, registry]),
        )
    return files


def test_the_nodes_of_a_public_cluster_register_through_the_networks_gateway(preview: bool) -> None:
    public = {"authorized_ranges": ["203.0.113.0/24"]}
    recording = construct(lambda: fleet(cluster=public), preview, COMPUTED, ANSWERS)
    cluster = recording.one("azure-native:containerservice:ManagedCluster", "cluster-cluster")
    ranges = cluster.inputs["apiServerAccessProfile"]["authorizedIPRanges"]  # type: ignore[index]
    assert ranges == known(preview, ["203.0.113.0/24", "198.51.100.7/32"])
    assert "net-nat-address" in cluster.property_dependencies["apiServerAccessProfile"]


def built(preview: bool) -> Recording[SharedFiles]:
    return construct(fleet, preview, COMPUTED, ANSWERS)


def test_every_part_is_in_the_group(preview: bool) -> None:
    group = known(preview, "group-group")
    recording = built(preview)
    inputs = [each.inputs for each in recording.resources if "resourceGroupName" in each.inputs]
    assert {each["resourceGroupName"] for each in inputs} == {group}
    assert {str(each["location"]) for each in inputs if "location" in each} == {"eastus"}
    assert [each["tags"] for each in inputs if "tags" in each and each["tags"] != TAGS] == []


def test_what_each_part_gets(preview: bool) -> None:
    recording = built(preview)

    def made(name: str) -> object:
        return known(preview, f"{name}-id")

    def one(type_: str, name: str) -> dict[str, Any]:
        return recording.one(f"azure-native:{type_}", name).inputs

    rules = [
        [rule["virtualNetworkResourceId"] for rule in each.inputs["networkRuleSet"]["virtualNetworkRules"]]  # type: ignore[index]
        for each in recording.of("azure-native:storage:StorageAccount")
    ]
    assert rules == [[made("net-nodes"), made("net-batch")], [made("net-nodes")]]
    assert one("consumption:Budget", "budget-budget")["scope"] == made("group-group")
    system_pool = one("containerservice:ManagedCluster", "cluster-cluster")["agentPoolProfiles"][0]
    assert system_pool["vnetSubnetID"] == made("net-nodes")
    pool = one("containerservice:AgentPool", "pool-nodes")
    assert pool["vnetSubnetID"] == made("net-nodes")
    assert pool["resourceName"] == known(preview, "cluster-cluster")
    account = one("batch:BatchAccount", "batch")
    assert account["autoStorage"]["storageAccountId"] == made("files")
    assert account["identity"]["userAssignedIdentities"] == [made("nodes-identity")]
    workers = one("batch:Pool", "workers-pool")
    assert workers["accountName"] == known(preview, "batch")
    assert workers["networkConfiguration"]["subnetId"] == made("net-batch")
    machine = workers["deploymentConfiguration"]["virtualMachineConfiguration"]
    servers = [each["registryServer"] for each in machine["containerConfiguration"]["containerRegistries"]]
    assert servers == [known(preview, "registry.azurecr.invalid")]
    principals = {each.inputs["principalId"] for each in recording.of("azure-native:authorization:RoleAssignment")}
    expected = ("cluster-cluster-kubelet", "cluster-identity-principal", "nodes-identity-principal")
    assert principals == {known(preview, each) for each in expected}


def test_a_pool_mounts_containers_by_identity_and_shares_by_key(preview: bool) -> None:
    workers = built(preview).one("azure-native:batch:Pool").inputs
    blob, share = workers["mountConfiguration"]  # type: ignore[misc]
    assert blob["azureBlobFileSystemConfiguration"] == {
        "accountName": known(preview, "files"),
        "containerName": "scripts",
        "relativeMountPath": "scripts",
        "identityReference": {"resourceId": known(preview, "nodes-identity-id")},
    }
    mounted = share["azureFileShareConfiguration"]
    assert mounted["accountKey"] == known(preview, Secret("c2VjcmV0"))
    assert mounted["azureFileUrl"] == known(preview, "https://files.file.invalid/logs")


@pytest.mark.parametrize(
    ("names", "containers", "expected"),
    [
        (None, None, {"scripts": "blob", "result": "blob"}),
        (None, ["data"], {"data": "blob"}),
        (["logs", "nowhere", "data"], ["data", "logs"], {"logs": "blob", "nowhere": "blob", "data": "blob"}),
        (["logs"], None, {"logs": "files"}),
        ([], None, {}),
    ],
)
def test_what_a_pool_mounts_by_name(
    names: list[str] | None, containers: list[str] | None, expected: dict[str, str]
) -> None:
    given = {} if containers is None else {"containers": containers}
    found: list[Any] = []
    construct(lambda: found.append(fleet(files=given).for_pool(names)), False, COMPUTED, ANSWERS)
    mounts = found[0]["mounts"]
    assert {each["path"]: each["kind"] for each in mounts} == expected
    assert all(each["region"] == "eastus" and each["shared_keys"] for each in mounts)


def test_a_budget_by_tag_watches_the_subscription() -> None:
    scopes: list[pulumi.Output[str]] = []

    def program() -> None:
        where = {"resource_group_name": "theirs", "subscription_id": SUBSCRIPTION.rpartition("/")[2]}
        group = ResourceGroup("group", region="eastus", **where)
        for by_tag in (False, True):
            scopes.append(pulumi.Output.from_input(group.for_budget(by_tag=by_tag)["scope"]))
        Budget("one", environment="dev", usd_per_month=9, emails=["a@example.com"], scope=scopes[0])
        Budget("two", environment="dev", usd_per_month=9, emails=["a@example.com"], scope=scopes[1], by_tag=True)

    budgets = construct(program, False).of("azure-native:consumption:Budget")
    assert [each.inputs["scope"] for each in budgets] == [f"{SUBSCRIPTION}/resourceGroups/theirs", SUBSCRIPTION]


FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "group": ({"region": "East US"}, "azure-region-form"),
    "net": ({"cidr": "8.0.0.0/4"}, "azure-network-cidr"),
    "nodes": ({"xyzzy": 1}, "any-argument-known"),
    "files": ({"retention_days": 999}, "azure-files-retention"),
    "registry": ({"sku": "Large"}, "any-argument-word"),
    "budget": ({"usd_per_month": 0}, "any-budget-limit"),
    "cluster": ({"tier": "free"}, "any-argument-word"),
    "pool": ({"min": 9}, "any-count-min-max"),
    "share": ({"gib": 1}, "azure-nfs-share-size"),
    "batch": ({"account_name": "A"}, "azure-account-name"),
    "workers": ({"scaling": "auot"}, "any-argument-word"),
}
"""Logical name of a part -> arguments that are refused, and the rule."""


@contextmanager
def nothing_registered() -> Iterator[None]:
    """Pulumi goes on with what a program has begun, also when the program has raised: see run_pulumi_func."""
    tasks, outputs = asyncio.all_tasks(), set(SETTINGS.outputs)
    try:
        yield
    finally:
        for task in asyncio.all_tasks() - tasks:
            task.cancel()
        SETTINGS.outputs.intersection_update(outputs)


def refused(**changes: dict[str, Any]) -> list[tuple[str, str]]:
    """Part and rule of each line with which the program ends."""

    def program() -> None:
        with nothing_registered():
            fleet(**changes)

    gc.freeze()
    lines = refusal(program, True)
    gc.collect()  # For the warnings to come now.
    return [(line.partition(":")[0], line.rpartition("[")[2].removesuffix("]")) for line in lines]


@pytest.mark.parametrize("part", FAULTS)
def test_the_fault_of_one_part_is_the_only_line(part: str) -> None:
    changes, rule = FAULTS[part]
    assert refused(**{part: changes}) == [(part, rule)]


def test_the_faults_of_all_parts_are_reported_at_once() -> None:
    faults = {part: changes for part, (changes, _) in FAULTS.items()}
    assert refused(**faults) == [(part, rule) for part, (_, rule) in FAULTS.items()]


@pytest.mark.parametrize("region", [None, 5, ""])
def test_a_region_that_is_none_is_reported_once(region: object) -> None:
    assert {part for part, _ in refused(group={"region": region})} == {"group"}


@pytest.mark.parametrize("tags", [5, {"owner": 5}, {"a<b": "c"}])
def test_tags_that_are_none_are_reported_once(tags: object) -> None:
    assert [part for part, _ in refused(group={"tags": tags})] == ["group"]


def test_one_part_has_more_tags_than_the_group(preview: bool) -> None:
    def program() -> None:
        group = ResourceGroup("group", region="eastus", tags=TAGS)
        NodeIdentity("nodes", **group.for_parts({"team": "vision"}))

    recording = construct(program, preview)
    tags = [recording.one(f"azure-native:{each}").inputs["tags"] for each in TAGGED]
    assert tags == [TAGS, {**TAGS, "team": "vision"}]


def test_links_of_refused_files_do_not_raise() -> None:
    wrong = {"containers": 5, "shares": "logs", "shared_keys": "yes", "region": 7}
    assert {rule for _, rule in refused(files=wrong)} == {"any-argument-kind", "azure-region-form"}
