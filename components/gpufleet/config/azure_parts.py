"""Arguments of the parts of an Azure environment, from its configuration."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from gpufleet.azure.batch_account import LONGEST_NAME, BatchAccount
from gpufleet.azure.batch_pool import BatchPool
from gpufleet.azure.budget import BudgetArgs
from gpufleet.azure.links import BatchAccountLink, EndpointLink, GroupLink, IdentityLink, RegistryLink, SubnetLink
from gpufleet.azure.naming import legal_name
from gpufleet.azure.network import Network
from gpufleet.azure.node_identity import NodeIdentity
from gpufleet.azure.registry import Registry, RegistryConfig
from gpufleet.azure.resource_group import ResourceGroup
from gpufleet.azure.shared_files import DEFAULT_CONTAINERS, DEFAULT_SHARES, SharedFiles, SharedFilesConfig
from gpufleet.config.azure import AzureConfig, BatchConfig
from gpufleet.config.environment import Environment
from gpufleet.config.first_job import cluster_job, first_job, pool_options, repository_names
from gpufleet.platform.config import PlatformConfig
from gpufleet.platform.pool import PlatformPool, cloud_pool
from gpufleet.platform.teams import budgets_of, team_option, team_tag
from gpufleet.pools.eks_pool import Taint
from gpufleet.typed_dicts import pick

SPOT_TAINT: Taint = {"key": "kubernetes.azure.com/scalesetpriority", "value": "spot", "effect": "NO_SCHEDULE"}
"""The taint that AKS sets on Spot nodes. Source: learn.microsoft.com/azure/aks/spot-node-pool"""


class GroupConfig(TypedDict, total=False):
    """An existing resource group."""

    resource_group_name: str
    subscription_id: str


class KeptFiles(TypedDict):
    """Retention of the files, and who gets notices about them."""

    erase: bool
    access_logs: bool


def group_config(config: AzureConfig) -> GroupConfig:
    """The existing resource group; nothing for one of the environment's own."""
    if "resource_group" not in config:
        return {}
    group: GroupConfig = {"resource_group_name": config["resource_group"]}
    if "subscription_id" in config:
        group["subscription_id"] = config["subscription_id"]
    return group


def platform_pools(env: Environment[AzureConfig]) -> dict[str, PlatformPool]:
    """The pools of the cluster, with the taints that AKS adds."""
    return {
        name: cloud_pool(env.part(name), pool, [SPOT_TAINT] if pool.get("capacity") == "spot" else [])
        for name, pool in env.config["pools"].items()
    }


def endpoint_of(registry: RegistryConfig, network: Network) -> EndpointLink:
    """Where the registry's private endpoint is, if it has one."""
    return network.for_endpoint() if registry.get("public") is False else {}


def containers_of(files: SharedFilesConfig) -> list[str]:
    """Blob containers of the storage account."""
    return list(files.get("containers", DEFAULT_CONTAINERS))


def shares_of(files: SharedFilesConfig) -> list[str]:
    """File shares of the storage account."""
    return list(files.get("shares", DEFAULT_SHARES))


class VaultLink(TypedDict, total=False):
    """The key vault that nodes may read."""

    key_vault_id: str


def vault_of(config: AzureConfig) -> VaultLink:
    """The key vault of the jobs' secrets on Azure Batch, if there is one."""
    return pick(VaultLink, config["batch"]) if "batch" in config else {}


def vault_url(vault_id: str) -> str:
    """The address of a key vault of Azure's public cloud.

    Source: learn.microsoft.com/azure/key-vault/general/about-keys-secrets-certificates (DNS suffixes).
    """
    return f"https://{vault_id.rpartition('/')[2]}.vault.azure.net"


def account_name(environment: str, batch: BatchConfig) -> str:
    """The Batch account's name; of one that Azure names, what comes before the random end."""
    return batch["account"].get("account_name") or legal_name(f"{environment}-batch", LONGEST_NAME)


def budgets(env: Environment[AzureConfig], group: ResourceGroup) -> dict[str, BudgetArgs]:
    """The budgets of the environment and of its teams, by the names of their components.

    With a cluster they go by tag, as the cluster's nodes are paid for in a resource group of AKS's own.
    """
    config, found = env.config, dict[str, BudgetArgs]()
    if "budget" in config:
        by_tag = config["budget"].get("by_tag", "cluster" in config)
        links = {**group.for_budget(by_tag=by_tag), "by_tag": by_tag, "environment": env.name, "tags": env.tags}
        found[env.part("budget")] = pick(BudgetArgs, {**config["budget"], **links})
    if "cluster" in config:
        whole = {**group.for_budget(by_tag=True), "by_tag": True, "environment": env.name, "tags": env.tags}
        for team, budget in budgets_of(config).items():
            tagged = {**budget, **whole, "team": team_tag(env.name, team)}
            found[env.part(f"budget-{team}")] = pick(BudgetArgs, tagged)
    return found


def batch_output(
    env: Environment[AzureConfig],
    group: ResourceGroup,
    nodes: NodeIdentity,
    files: SharedFiles,
    account: BatchAccount,
    pools: Mapping[str, BatchPool],
) -> dict[str, Any]:
    """The output `jobs` of Azure Batch: see `gpufleet.jobs.azure_batch.settings.AzureBatchOutput`."""
    config, vault = env.config["files"], env.config["batch"].get("key_vault_id")
    return {
        **({"key_vault": vault_url(vault)} if vault else {}),
        "account_endpoint": account.account_endpoint,
        "account_name": account.account_name,
        "subscription_id": group.resource_group_id.apply(lambda id_: id_.split("/")[2]),
        "resource_group": group.resource_group_name,
        "region": env.config["location"],
        "identity_id": nodes.identity_id,
        "storage": {
            "account_name": files.account_name,
            "blob_endpoint": files.blob_endpoint,
            "file_endpoint": files.file_endpoint,
            "containers": containers_of(config),
            "shares": shares_of(config),
        },
        "pools": {name: _pool_output(pool) for name, pool in pools.items()},
        "scripts": "scripts",
        "result": "result",
    }


def _pool_output(pool: BatchPool) -> dict[str, Any]:
    args = pool.args
    keys = ("types", "network", "max", "min", "capacity", "task_nodes", "scaling", "idle_minutes")
    mounts: Sequence[Mapping[str, Any]] = args.get("mounts", ())
    facts = {key: args[key] for key in keys if key in args}
    return {**facts, "mounts": [mount["path"] for mount in mounts], "pool_id": pool.pool_name}


def first_jobs(env: Environment[AzureConfig]) -> dict[str, str]:
    """The outputs `first_job`, and `first_batch_job` where Azure Batch runs jobs beside a cluster."""
    config, repositories = env.config, repository_names(env.config["registry"])
    on_batch = pool_options(config["batch"]["pools"], "--nodes") if "batch" in config else ""
    if "cluster" not in config:
        return {"first_job": first_job(env.name, repositories, on_batch)}
    jobs = {"first_job": cluster_job(env, repositories)}
    if "batch" in config:
        options, team = f"--on azure-batch {on_batch}", team_option(pick(PlatformConfig, config))
        jobs["first_batch_job"] = first_job(env.name, repositories, options, team=team, build=False)
    return jobs


class BatchLinks(GroupLink, BatchAccountLink, IdentityLink, SubnetLink, RegistryLink):
    """What every pool of Azure Batch gets."""


def batch_links(
    group: ResourceGroup, network: Network, nodes: NodeIdentity, registry: Registry, account: BatchAccount
) -> BatchLinks:
    """The account, identity, network and registry of every pool."""
    links = {**account.for_pool(), **network.for_batch(), **nodes.for_batch(), **registry.for_pool()}
    return pick(BatchLinks, {**group.for_parts(), **links})
