"""What the parts of an AWS Batch environment get from its settings: plain values, for judging and for making them."""

from typing import Any

from aws_batch_settings import AwsBatchSettings
from aws_parts import registry_of
from gpufleet.catalog import aws
from settings import given

PREFIX = "jobs"
"""Folder of the bucket that jobs write to."""


def pools_in_order(settings: AwsBatchSettings) -> list[str]:
    """The pools of the queue: as configured, else those that pay by the hour first, those on Spot last."""
    if settings.queue.pools is not None:
        return settings.queue.pools
    return sorted(settings.pools, key=lambda pool: (_ORDER.get(settings.pools[pool].capacity or "", 1), pool))


_ORDER = {"reservation": 0, "spot": 2}
"""What is paid for already goes first, what may be taken away goes last."""


def job_of(settings: AwsBatchSettings) -> dict[str, Any]:
    """The arguments of jobs of one node, but those that come from other parts."""
    return {"gpus": gpus_of_all(settings), "region": settings.region} | given(settings.job)


def multinode_of(settings: AwsBatchSettings) -> dict[str, Any]:
    """The arguments of jobs of several nodes, but those that come from other parts: as the nodes of their pool are."""
    assert settings.multinode is not None
    chosen = given(settings.multinode)
    pool = settings.pools[chosen.pop("pool")]
    record = aws().types.get(pool.types[0])
    whole = {"instance_type": pool.types[0], "network": pool.network or "plain", "gpus": record.gpus if record else 1}
    return whole | {"region": settings.region} | chosen


def gpus_of_all(settings: AwsBatchSettings) -> int:
    """GPUs that every node of every pool has, 1 where the catalog knows none of their types."""
    known = aws().types
    return min(
        (known[name].gpus for pool in settings.pools.values() for name in pool.types if name in known), default=1
    )


def repository(environment: str, settings: AwsBatchSettings) -> str | None:
    """The repository whose images jobs run when they name none: the first that the environment makes or has."""
    names = registry_of(environment, settings)
    own = [*names.get("repositories", []), *names.get("existing_repositories", [])]
    return own[0] if own else None
