"""An environment for multi-node GPU training on Azure: an AKS cluster, Azure Batch, or both, on one storage account."""

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import pulumi

import on_cluster
import teams
from azure_judging import refuse
from azure_parts import batch_pool_of, budget_of, containers_of, group_of, mounts_of, shares_of
from azure_settings import AzureSettings
from gpufleet.azure.batch_account import BatchAccount, BatchAccountArgs
from gpufleet.azure.batch_pool import BatchPool, BatchPoolArgs
from gpufleet.azure.budget import Budget, BudgetArgs
from gpufleet.azure.cluster import Cluster, ClusterArgs
from gpufleet.azure.environment import Environment, EnvironmentArgs
from gpufleet.azure.gpu_node_group import GpuNodeGroup, GpuNodeGroupArgs
from gpufleet.azure.network import Network, NetworkArgs
from gpufleet.azure.nfs_share import NfsShare, NfsShareArgs
from gpufleet.azure.node_identity import NodeIdentity, NodeIdentityArgs
from gpufleet.azure.registry import Registry, RegistryArgs
from gpufleet.azure.role_assignment import assign_role
from gpufleet.azure.shared_files import SharedFiles, SharedFilesArgs
from gpufleet.kubernetes.provider import cluster_provider
from parts import tags
from settings import given

PRIVATE = ("endpoint_subnet_id", "vnet_id")
"""Where a private endpoint is."""


def build(environment: str, settings: AzureSettings) -> dict[str, pulumi.Input[Any]]:
    """Register everything and return the stack's outputs.

    Errors: pulumi.RunError with every fault of every part, one line each, before anything is registered.
    """
    refuse(environment, settings)
    ground = lay(environment, settings)
    cluster = new_cluster(environment, settings, ground) if settings.cluster else None
    registry = registry_of(environment, settings, ground)
    if cluster is not None:
        # Not by the registry: Batch pools wait for all of that, and need not wait for the cluster.
        puller = cluster.kubelet_principal_id
        assign_role(f"{environment}-cluster-pulls", cluster, "AcrPull", registry.registry_id, puller)
    if settings.budget is not None:
        args = budget_of(settings) | {"scope": scope(settings, ground), "environment": environment}
        Budget(f"{environment}-budget", cast(BudgetArgs, args))
    for team, limit in teams.budgets(environment, settings).items() if cluster is not None else ():
        # Its nodes are paid for in a resource group of AKS's own.
        whole = {"scope": subscription(ground), "by_tag": True}
        Budget(f"{environment}-budget-{team}", cast(BudgetArgs, limit | whole))
    outputs: dict[str, Any] = {
        "resource_group": ground.group.resource_group_name,
        "storage_account": ground.files.account_name,
        "registry_urls": registry.repository_urls,
    }
    jobs: dict[str, Any] = {"on": "kubernetes" if cluster is not None else "azure-batch"}
    if cluster is not None:
        jobs |= on_the_cluster(environment, settings, ground, cluster)
        outputs |= {"cluster_name": cluster.cluster_name, "kubeconfig": cluster.kubeconfig}
    if settings.batch is not None:
        jobs["azure_batch"] = on_batch(environment, settings, ground, registry)
    where = "" if jobs["on"] == "azure-batch" or settings.batch is None else " --on azure-batch"
    team = teams.option(settings) if cluster is not None else ""
    size = "--nodes 2" if jobs["on"] == "azure-batch" else "--workers 2"
    outputs["jobs"] = jobs
    outputs["first_job"] = (
        f"gpufleet images build {environment}{team} examples/train && "
        f"gpufleet jobs submit {environment}{team} {size} --follow -- python3 train.py"
    )
    if where:
        outputs["first_batch_job"] = (
            f"gpufleet jobs submit {environment}{where}{team} --nodes 2 --follow -- python3 train.py"
        )
    return outputs


class Ground(NamedTuple):
    """What everything else stands on. own: arguments of every component."""

    own: dict[str, Any]
    group: Environment
    network: Network
    nodes: NodeIdentity
    files: SharedFiles


def scope(settings: AzureSettings, ground: "Ground") -> pulumi.Output[str]:
    """What the budget watches: the resource group, or by tag all of its subscription."""
    return subscription(ground) if budget_of(settings).get("by_tag") else ground.group.resource_group_id


def subscription(ground: "Ground") -> pulumi.Output[str]:
    """Id of the subscription."""
    return ground.group.resource_group_id.apply(lambda id_: "/".join(id_.split("/")[:3]))


def lay(environment: str, settings: AzureSettings) -> Ground:
    """Resource group, network, the nodes' identity and the storage account."""
    base = {"region": settings.location, "tags": tags(environment, settings)}
    group = Environment(environment, cast(EnvironmentArgs, base | group_of(settings)))
    own = base | {"resource_group_name": group.resource_group_name}
    network = Network(f"{environment}-network", cast(NetworkArgs, given(settings.network) | own))
    nodes = NodeIdentity(f"{environment}-nodes", cast(NodeIdentityArgs, own))
    files = given(settings.files) | own | in_network(settings, network)
    files |= {"client_principal_ids": {"nodes": nodes.principal_id}, "erase": settings.erase}
    return Ground(own, group, network, nodes, SharedFiles(f"{environment}-files", cast(SharedFilesArgs, files)))


def in_network(settings: AzureSettings, network: Network) -> dict[str, Any]:
    """Who reaches storage, and from where."""
    subnets = network.subnet_ids
    there = {"nodes": settings.cluster is not None, "batch": settings.batch is not None}
    return {
        "client_subnet_ids": {role: subnets[role] for role, has_machines in there.items() if has_machines},
        "endpoint_subnet_id": subnets["endpoints"],
        "vnet_id": network.vnet_id,
    }


def registry_of(environment: str, settings: AzureSettings, ground: Ground) -> Registry:
    """The registry, from which the nodes of Azure Batch pull."""
    subnets = in_network(settings, ground.network)
    private = {} if settings.registry.public is not False else {key: subnets[key] for key in PRIVATE}
    pulling = {"pull_principal_ids": {"nodes": ground.nodes.principal_id}, "erase": settings.erase}
    return Registry(
        f"{environment}-registry", cast(RegistryArgs, given(settings.registry) | ground.own | private | pulling)
    )


def new_cluster(environment: str, settings: AzureSettings, ground: Ground) -> Cluster:
    """An AKS cluster of the environment's own."""
    assert settings.cluster is not None
    args = given(settings.cluster) | ground.own | {"subnet_id": ground.network.subnet_ids["nodes"]}
    return Cluster(f"{environment}-cluster", cast(ClusterArgs, args))


def on_the_cluster(environment: str, settings: AzureSettings, ground: Ground, cluster: Cluster) -> dict[str, Any]:
    """Its agent pools, its shared volume and what is installed; returns what jobs need to know of it."""
    joining = ground.own | {"cluster_name": cluster.cluster_name, "subnet_id": ground.network.subnet_ids["nodes"]}
    pools = {
        pool: GpuNodeGroup(
            f"{environment}-{pool}",
            cast(
                GpuNodeGroupArgs,
                given(intent)
                | joining
                | {"tags": tags(environment, settings) | teams.pool_tags(environment, settings, pool)},
            ),
        )
        for pool, intent in settings.pools.items()
    }
    clients = {"client_subnet_ids": {"nodes": ground.network.subnet_ids["nodes"]}}
    args = given(settings.share) | ground.own | clients | {"erase": settings.erase}
    share = NfsShare(f"{environment}-share", cast(NfsShareArgs, args))
    site = on_cluster.Site(
        provider=cluster_provider(f"{environment}-kubernetes", cluster.kubeconfig),
        settled=[cluster, share],
        own=True,
        files={"azure_files": share.place},
    )
    return on_cluster.install(environment, settings, site, pools, on_cluster.told(environment, settings))


def on_batch(environment: str, settings: AzureSettings, ground: Ground, registry: Registry) -> dict[str, Any]:
    """The Batch account and its pools; returns what jobs need to know of them."""
    assert settings.batch is not None
    identity = {"identity_id": ground.nodes.identity_id}
    storage = {"storage_account_id": ground.files.account_id, "storage_region": settings.location}
    account = BatchAccount(
        f"{environment}-batch",
        cast(BatchAccountArgs, given(settings.batch.account) | ground.own | identity | storage),
    )
    joining = (
        ground.own
        | identity
        | {
            "account_name": account.account_name,
            "subnet_id": ground.network.subnet_ids["batch"],
            "registry_servers": [registry.login_server],
        }
    )
    made = {
        pool: BatchPool(
            f"{environment}-{pool}",
            cast(BatchPoolArgs, batch_pool_of(settings, pool) | joining | {"mounts": mounts(settings, pool, ground)}),
            # Nodes mount and pull as soon as they start: the rights are there before, and until they are gone.
            pulumi.ResourceOptions(depends_on=[ground.files, registry]),
        )
        for pool in settings.batch.pools
    }
    return {
        "account_endpoint": account.account_endpoint,
        "account_name": account.account_name,
        "subscription_id": ground.group.resource_group_id.apply(lambda id_: id_.split("/")[2]),
        "resource_group": ground.group.resource_group_name,
        "region": settings.location,
        "identity_id": ground.nodes.identity_id,
        "storage": {
            "account_name": ground.files.account_name,
            "blob_endpoint": ground.files.blob_endpoint,
            "file_endpoint": ground.files.file_endpoint,
            "containers": containers_of(settings),
            "shares": shares_of(settings),
        },
        "pools": {name: told(settings, name) | {"pool_id": pool.pool_name} for name, pool in made.items()},
        "scripts": "scripts",
        "result": "result",
        "logs": "logs",
    }


def mounts(settings: AzureSettings, pool: str, ground: Ground) -> list[Mapping[str, Any]]:
    """What a pool's nodes mount, with the account and, for shares, its key."""
    account = {"account": ground.files.account_name}
    keyed = account | {"account_key": ground.files.account_key, "endpoint": ground.files.file_endpoint}
    return [mount | (keyed if mount["kind"] == "files" else account) for mount in mounts_of(settings, pool)]


def told(settings: AzureSettings, pool: str) -> dict[str, Any]:
    """A Batch pool as jobs see it."""
    assert settings.batch is not None
    facts = given(settings.batch.pools[pool])
    seen = ("types", "network", "max", "min", "capacity", "task_nodes", "scaling", "idle_minutes")
    known = {key: facts[key] for key in seen if key in facts}
    return known | {"mounts": [mount["path"] for mount in mounts_of(settings, pool)]}
