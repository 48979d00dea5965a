"""Judge an Azure environment by its settings, before its first resource."""

from typing import Any

import notebook_parts
import on_cluster
import queueing
import teams
from azure_parts import batch_account_of, batch_pool_of, budget_of, containers_of, group_of, mounts_of, shares_of
from azure_settings import AzureSettings
from gpufleet.plan.quotas import judge_quotas
from gpufleet.refusal import refuse_stack
from gpufleet.rules.azure.addresses import judge_azure_addresses
from gpufleet.rules.azure.batch_account import judge_azure_batch_account
from gpufleet.rules.azure.batch_pool import judge_azure_batch_pool
from gpufleet.rules.azure.budget import judge_azure_budget
from gpufleet.rules.azure.cluster import judge_azure_cluster
from gpufleet.rules.azure.files import judge_azure_files
from gpufleet.rules.azure.network import DEFAULT_CIDR, judge_azure_network
from gpufleet.rules.azure.nfs_share import judge_nfs_share
from gpufleet.rules.azure.node_pool import judge_azure_pool
from gpufleet.rules.azure.place import judge_azure_environment
from gpufleet.rules.azure.registry import judge_azure_registry
from gpufleet.rules.azure.stack import judge_azure_stack, judge_job_containers, judge_stack_mounts
from gpufleet.rules.azure.system_pool import most_system_nodes
from gpufleet.rules.judged import Judged
from gpufleet.rules.rule import Finding
from parts import named, tags
from settings import given

MADE_LATER = "made later"
"""In the place of what other parts of the stack give."""
PLACE = {"azure_files": True}
"""The shared volume's source: its account is named by Azure."""


def refuse(environment: str, settings: AzureSettings) -> None:
    """Judge every part by its plain values, so that one preview shows all faults and nothing is half made."""
    region = {"region": settings.location}
    # All parts have the same region and tags: what is wrong with them is said once.
    group = judge_azure_environment(region | group_of(settings) | {"tags": tags(environment, settings)})
    judged: dict[str, list[Finding]] = {
        "network": [*judge_azure_network(given(settings.network) | region), *_addresses(settings)],
        "files": [
            *judge_azure_files(given(settings.files) | region | _clients()),
            *judge_job_containers(containers_of(settings), settings.batch is not None),
        ],
        "registry": judge_azure_registry(given(settings.registry) | region | _place(settings)),
    }
    whole = [Judged(environment, each) for each in _as_a_whole(settings)]
    if settings.budget is not None:
        judged["budget"] = judge_azure_budget(budget_of(settings) | {"environment": environment})
    if settings.cluster is not None:
        judged |= _of_cluster(environment, settings)
        told = on_cluster.told(environment, settings)
        whole += queueing.judge(environment, settings, told)
        whole += teams.judge(environment, settings, told, access_point=False)
        whole += notebook_parts.judge(environment, settings, told)
        of_teams = teams.budgets(environment, settings)
        judged |= {f"budget-{team}": judge_azure_budget(args) for team, args in of_teams.items()}
    if settings.batch is not None:
        judged["batch"] = judge_azure_batch_account(given(settings.batch.account) | region)
        judged |= {pool: _of_batch_pool(settings, pool) for pool in settings.batch.pools}
    whole += _quotas(environment, settings)
    said = [(each.rule, each.value) for each in group if each.refuses]
    parts = {part: [each for each in found if (each.rule, each.value) not in said] for part, found in judged.items()}
    refuse_stack({environment: group} | named(environment, parts), whole)


def _quotas(environment: str, settings: AzureSettings) -> list[Judged]:
    """Cores of the agent pools against the subscription's limits, and of Batch pools against those of their account."""
    agents = named(environment, {pool: given(intent) for pool, intent in settings.pools.items()})
    of_batch = settings.batch.pools if settings.batch else {}
    batch = named(environment, {pool: batch_pool_of(settings, pool) for pool in of_batch})
    accounts = dict.fromkeys(batch, batch_account_of(environment, settings))
    quotas = [given(quota) for quota in settings.quotas]
    return judge_quotas(environment, agents | batch, settings.location, quotas, "azure", accounts)


def _of_cluster(environment: str, settings: AzureSettings) -> dict[str, list[Finding]]:
    assert settings.cluster is not None
    region = {"region": settings.location}
    judged = {
        "cluster": judge_azure_cluster(given(settings.cluster) | region),
        "share": judge_nfs_share(given(settings.share) | region | {"client_subnet_ids": {"nodes": MADE_LATER}}),
    }
    judged |= {pool: judge_azure_pool(given(intent), settings.location) for pool, intent in settings.pools.items()}
    on_it = on_cluster.arguments(environment, settings, PLACE, None)
    return judged | on_cluster.judge(settings, on_it, own=True)


def _of_batch_pool(settings: AzureSettings, pool: str) -> list[Finding]:
    mounts = [{"account": MADE_LATER} | _with_key(mount) for mount in mounts_of(settings, pool)]
    found = judge_azure_batch_pool(batch_pool_of(settings, pool) | {"mounts": mounts}, settings.location)
    keys = bool(settings.files.shared_keys)
    return [*found, *judge_stack_mounts(mounts_of(settings, pool), containers_of(settings), shares_of(settings), keys)]


def _with_key(mount: dict[str, Any]) -> dict[str, Any]:
    """A mount with what a share's mount gets later. Whether the account takes keys is judged with the stack's words."""
    if mount["kind"] != "files":
        return mount
    return {word: value for word, value in mount.items() if word != "shared_keys"} | {"account_key": MADE_LATER}


def _as_a_whole(settings: AzureSettings) -> list[Finding]:
    batch = None if settings.batch is None else settings.batch.pools
    there = settings.subscription_id, settings.resource_group
    return judge_azure_stack(settings.cluster is not None, settings.pools, batch, *there)


def _addresses(settings: AzureSettings) -> list[Finding]:
    """What the whole stack shows of a network that is made for it."""
    if settings.network.vnet_id is not None:
        return []
    nodes = {"batch": sum(pool.max for pool in settings.batch.pools.values())} if settings.batch else {}
    cluster = None if settings.cluster is None else given(settings.cluster)
    if cluster is not None:
        nodes["nodes"] = most_system_nodes(cluster) + sum(pool.max for pool in settings.pools.values())
    return judge_azure_addresses(settings.network.cidr or DEFAULT_CIDR, nodes, cluster)


def _place(settings: AzureSettings) -> dict[str, Any]:
    """Where the registry's private endpoint will be, if it has one."""
    place = {"endpoint_subnet_id": MADE_LATER, "vnet_id": MADE_LATER}
    return place if settings.registry.public is False else {}


def _clients() -> dict[str, Any]:
    """Who mounts the files: what a rule counts, not what is known yet."""
    return {
        "client_subnet_ids": {"nodes": MADE_LATER, "batch": MADE_LATER},
        "client_principal_ids": {"nodes": MADE_LATER},
        "endpoint_subnet_id": MADE_LATER,
        "vnet_id": MADE_LATER,
    }
