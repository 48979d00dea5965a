"""Rules on how the parts of an Azure environment fit together: cluster, Batch, what pools mount, addresses."""

from collections.abc import Collection, Mapping, Sequence

from gpufleet.rules.azure.mount import shared_key
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule
from gpufleet.rules.wording import use_one_of


@rule("azure-stack-runs-something", Severity.ERROR)
def runs_something(*, cluster: bool, batch: bool) -> Outcome:
    """An Azure environment has something that runs jobs: a cluster, Azure Batch, or both.

    Source: gpufleet's own configuration, gpufleet:cluster and gpufleet:batch
    """
    if cluster or batch:
        return passed()
    return failed("cluster", None, "nothing would run jobs", "give gpufleet:cluster, gpufleet:batch, or both")


@rule("azure-stack-pools-on-cluster", Severity.ERROR)
def pools_on_cluster(*, pools: Collection[str], cluster: bool) -> Outcome:
    """Agent pools are of a cluster; the pools of Azure Batch stand under batch.pools.

    Source: gpufleet's own configuration, gpufleet:pools
    """
    if cluster or not pools:
        return passed()
    fix = "give gpufleet:cluster, or put them under gpufleet:batch.pools"
    return failed("pools", sorted(pools), "are agent pools of a cluster, and there is none", fix)


@rule("azure-stack-pool-once", Severity.ERROR)
def pool_once(*, pool: str, batch: Collection[str]) -> Outcome:
    """Cluster and Batch have pools of different names, as `--pool` and all logical names tell them apart by these.

    Source: gpufleet's own configuration, gpufleet:pools and gpufleet:batch.pools
    """
    if pool not in batch:
        return passed()
    return failed("pools", pool, "is a pool of batch.pools too", "give one of them another name")


@rule("azure-stack-mount-known", Severity.ERROR)
def mount_known(*, name: str, names: Collection[str]) -> Outcome:
    """A Batch pool mounts containers and shares of the environment's files.

    Source: gpufleet's own configuration, gpufleet:files.containers and gpufleet:files.shares
    """
    if name in names:
        return passed()
    fix = use_one_of(name, sorted(names))
    return failed("mounts", name, "is no container and no share of the environment's files", fix)


def judge_azure_stack(cluster: bool, pools: Collection[str], batch: Collection[str] | None) -> list[Finding]:
    """Findings on an environment as a whole. batch: names of the pools of Azure Batch, None without it."""
    return [
        runs_something(cluster=cluster, batch=batch is not None),
        pools_on_cluster(pools=pools, cluster=cluster),
        *(pool_once(pool=pool, batch=batch or ()) for pool in pools),
    ]


def judge_stack_mounts(
    mounts: Sequence[Mapping[str, object]], containers: Collection[str], shares: Collection[str], shared_keys: bool
) -> list[Finding]:
    """Findings on what one Batch pool mounts by name; `shared_keys`: whether the storage account takes account keys."""
    found: list[Finding] = []
    for mount in mounts:
        name = str(mount["path"])
        found.append(mount_known(name=name, names=[*containers, *shares]))
        if mount["kind"] == "files":
            needs = f"the account key for the share {name}"
            found.append(shared_key(argument="mounts", needs=needs, account="files", allowed=shared_keys))
    return found
