"""Rules on how the parts of an Azure environment fit together: cluster, Batch, files, what pools mount."""

from collections.abc import Collection, Sequence

from gpufleet.rules.messages import use_one_of
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

JOB_CONTAINERS = {"scripts": "programs", "result": "outputs and logs"}
"""What jobs on Azure Batch keep in which container."""


@rule("azure-stack-runs-something", Severity.ERROR)
def runs_something(*, cluster: bool, batch: bool) -> Outcome:
    """An Azure environment has a cluster, Azure Batch, or both.

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
    return failed("mounts", name, "is neither a container nor a share of the environment's files", fix)


@rule("azure-stack-job-container", Severity.ERROR)
def job_container(*, name: str, containers: Collection[str], batch: bool) -> Outcome:
    """Where Azure Batch runs jobs, the storage account has the containers of their programs and outputs.

    Source: gpufleet jobs submit --on azure-batch: what it sends lies in scripts, what jobs write in result.
    """
    if not batch or name in containers:
        return passed()
    problem = f"has no {name}, where jobs on Azure Batch keep their {JOB_CONTAINERS[name]}"
    return failed("containers", sorted(containers), problem, f"add {name} to gpufleet:files.containers")


@rule("azure-stack-subscription", Severity.ERROR)
def subscription_used(*, subscription: str | None, group: str | None) -> Outcome:
    """The id of a subscription is that of an existing resource group; what is new goes where the provider is logged in.

    Source: gpufleet's own configuration, gpufleet:subscription_id; azure-native:subscriptionId of the provider
    """
    if subscription is None or group is not None:
        return passed()
    problem = "is for an existing resource group, and none is given"
    fix = "give gpufleet:resource_group, or choose the provider's subscription by azure-native:subscriptionId"
    return failed("subscription_id", subscription, problem, fix)


def validate_azure_stack(
    cluster: bool,
    pools: Collection[str],
    batch: Collection[str] | None,
    subscription: str | None = None,
    group: str | None = None,
) -> list[Finding]:
    """Findings on an environment as a whole.

    batch: names of the pools of Azure Batch, None without it. subscription, group: of an existing resource group.
    """
    return [
        runs_something(cluster=cluster, batch=batch is not None),
        pools_on_cluster(pools=pools, cluster=cluster),
        *(pool_once(pool=pool, batch=batch or ()) for pool in pools),
        subscription_used(subscription=subscription, group=group),
    ]


def validate_job_containers(containers: Collection[str], batch: bool) -> list[Finding]:
    """Findings on the containers of an environment's files; `batch`: whether Azure Batch runs jobs on them."""
    return [job_container(name=name, containers=containers, batch=batch) for name in JOB_CONTAINERS]


def validate_stack_mounts(mounts: Sequence[str], names: Collection[str]) -> list[Finding]:
    """Findings on what one Batch pool mounts by name. names: containers and shares of the environment's files."""
    return [mount_known(name=name, names=names) for name in mounts]
