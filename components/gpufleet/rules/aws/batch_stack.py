"""Rules on how the parts of a Batch environment fit together: pools, queues, jobs of several nodes."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from gpufleet.rules import coerce
from gpufleet.rules.aws.batch_job import multinode_place, multinode_zone, same_node_type
from gpufleet.rules.messages import use_one_of
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule


@rule("aws-batch-pool-known", Severity.ERROR)
def pool_known(*, argument: str, pool: str, pools: Collection[str]) -> Outcome:
    """A queue and a job of several nodes name pools of the environment.

    Source: gpufleet's own configuration, gpufleet:pools
    """
    if pool in pools:
        return passed()
    return failed(argument, pool, "is not a pool of the environment", use_one_of(pool, sorted(pools)))


@rule("aws-batch-multinode-fits", Severity.ERROR)
def multinode_fits(*, nodes: int, most: int) -> Outcome:
    """A job of several nodes has more than one, and no more than its pool; `most` is the pool's max.

    Source: https://docs.aws.amazon.com/batch/latest/userguide/job_stuck_in_runnable.html: a job that needs more than
    the environment's limit stays RUNNABLE.
    """
    if nodes < 2:
        return failed("nodes", nodes, "is not a multi-node job", "use 2 or more, or leave multinode out")
    if nodes <= most:
        return passed()
    problem = f"is more than the {most} of its pool, so that the job never starts"
    return failed("nodes", nodes, problem, f"use {most} or fewer, or raise the pool's max")


@rule("aws-batch-image-given", Severity.ERROR)
def image_given(*, repository: str | None) -> Outcome:
    """Jobs have an image, from a repository of the environment. `repository` is None where there is none.

    Source: image of ContainerProperties in botocore's model of batch: a definition without an image is rejected.
    """
    if repository:
        return passed()
    return failed("image", None, "jobs have none", "name a repository (gpufleet:registry.repositories)")


def validate_pool_names(argument: str, named: Sequence[str], pools: Collection[str]) -> list[Finding]:
    """Findings on pools that a queue or a job names."""
    return [pool_known(argument=argument, pool=pool, pools=pools) for pool in named]


def validate_multinode_pool(pool: Mapping[str, object], nodes: int) -> list[Finding]:
    """Findings on a pool as the place of jobs of several nodes. Reads types, zones, max, capacity."""
    capacity = coerce.text(pool, "capacity", "on-demand")
    unsuitable = ["its pool (SPOT)"] if capacity == "spot" else []
    place = multinode_place(unsuitable=unsuitable, fitting=not unsuitable)
    return [
        # The configuration's word for what a definition calls its node properties.
        replace(place, argument="pool") if place.rejects else place,
        multinode_zone(environment="its pool", zones=coerce.texts(pool, "zones")),
        same_node_type(types=coerce.texts(pool, "types")),
        multinode_fits(nodes=nodes, most=coerce.whole(pool, "max", 1)),
    ]


def validate_repository(repository: str | None) -> list[Finding]:
    """The finding on where the images of jobs come from."""
    return [image_given(repository=repository)]
