"""Arguments of the parts of an AWS Batch environment, from its configuration."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pulumi

from gpufleet.aws.batch_environment import BatchEnvironment
from gpufleet.aws.batch_queue import DEFAULT_PRIORITY, BatchQueue, BatchQueueConfig
from gpufleet.aws.outputs_bucket import OutputsBucket
from gpufleet.aws.registry import Registry
from gpufleet.aws.shared_files import SharedFiles
from gpufleet.aws.training_job import JobFiles, TrainingJob, TrainingJobArgs, TrainingJobConfig
from gpufleet.catalog import aws
from gpufleet.config.aws_batch import AwsBatchConfig
from gpufleet.config.environment import Environment
from gpufleet.config.first_job import first_job, repository_names
from gpufleet.config.registry import all_repositories, registry_config
from gpufleet.jobs.aws_batch.secrets import secret_prefix
from gpufleet.typed_dicts import pick

PREFIX = "jobs"
"""Folder of the bucket that jobs write to."""
_ORDER = {"reservation": 0, "spot": 1}
"""What is paid for anyway goes first, and Spot before nodes on demand: searches are many, and can start again."""


def pools_in_order(config: AwsBatchConfig) -> Sequence[str]:
    """The pools of the queue: as configured, else by capacity, and that of multi-node jobs last."""
    pools, several = config["pools"], config.get("multinode")
    taken = several["pool"] if several else None

    def place(pool: str) -> tuple[bool, int, str]:
        return pool == taken, _ORDER.get(pools[pool].get("capacity", ""), 2), pool

    return config["queue"].get("pools", sorted(pools, key=place))


def multinode_queue(config: AwsBatchConfig) -> BatchQueueConfig:
    """The queue of multi-node jobs: as the other, and before it where both want the nodes of its pool."""
    shared = pick(BatchQueueConfig, config["queue"])
    return {**shared, "priority": shared.get("priority", DEFAULT_PRIORITY) + 1}


def repository(env: Environment[AwsBatchConfig]) -> str | None:
    """The repository whose images jobs run when they name none: the first that the environment makes or has."""
    return next(iter(all_repositories(registry_config(env))), None)


def single_job(env: Environment[AwsBatchConfig], links: TrainingJobArgs) -> TrainingJobArgs:
    """Jobs of one node. links: what comes from other parts."""
    config, known = env.config, aws().types
    types = (name for pool in config["pools"].values() for name in pool["types"])
    # GPUs that every node of every pool has.
    gpus = min((known[name].gpus for name in types if name in known), default=1)
    return pick(TrainingJobArgs, {"gpus": gpus, **config["job"], **links})


class MultinodeJob(NamedTuple):
    """Jobs of several nodes, and the pool that they run on."""

    pool: str
    args: TrainingJobArgs

    def output(self, queue: BatchQueue, job: TrainingJob, pool: BatchEnvironment) -> dict[str, Any]:
        """Their settings in the output `jobs`."""
        return {
            "queue": queue.queue_name,
            "definition": job.definition_arn,
            "type": self.args.get("instance_type"),
            "nodes": pool.args["max"],
            "gpus": self.args.get("gpus"),
        }


def multinode_job(env: Environment[AwsBatchConfig], links: TrainingJobArgs) -> MultinodeJob | None:
    """Jobs of several nodes, as the nodes of their pool are; None without them, or without their pool."""
    multinode = env.config.get("multinode")
    pool = env.config["pools"].get(multinode["pool"]) if multinode else None
    if multinode is None or pool is None or not pool["types"]:
        return None
    record = aws().types.get(pool["types"][0])
    whole = {
        "instance_type": pool["types"][0],
        "network": pool.get("network", "plain"),
        "gpus": record.gpus if record else 1,
        "nodes": multinode["nodes"],
    }
    own = pick(TrainingJobConfig, multinode)
    return MultinodeJob(multinode["pool"], pick(TrainingJobArgs, {**whole, **own, **links}))


def job_links(
    env: Environment[AwsBatchConfig], registry: Registry, files: SharedFiles, bucket: OutputsBucket
) -> TrainingJobArgs:
    """What all jobs get: image, files and bucket."""
    chosen = str(repository(env))
    source = files.for_volume()
    mounted: JobFiles = {"file_system_id": source["efs"]}
    if "access_point" in source:
        mounted["access_point_id"] = source["access_point"]
    links = {
        # A job is submitted with the newest image's digest; this one counts where Batch's own console submits.
        "image": registry.repository_urls.apply(lambda urls: f"{urls[chosen]}:latest"),
        "files": mounted,
        "bucket": bucket.for_jobs([f"{PREFIX}/"]),
        "pull_through": list(env.config["registry"].get("pull_through", ())),
        "region": env.config["region"],
        "secret_prefix": secret_prefix(env.name),
        "tags": env.tags,
    }
    return pick(TrainingJobArgs, links)


def jobs_output(
    env: Environment[AwsBatchConfig],
    pools: Mapping[str, BatchEnvironment],
    queue: BatchQueue,
    job: TrainingJob,
    bucket: OutputsBucket,
) -> dict[str, Any]:
    """The stack's output `jobs`: see `gpufleet.jobs.aws_batch.settings.AwsBatchOutput`."""
    return {
        "on": "batch",
        "project": env.config["project"],
        "region": env.config["region"],
        "queue": queue.queue_name,
        "definition": job.definition_arn,
        "bucket": bucket.bucket_name,
        "prefix": PREFIX,
        "log_group": job.log_group_name,
        "pools": {name: _pool_output(pool) for name, pool in pools.items()},
    }


def _pool_output(pool: BatchEnvironment) -> dict[str, Any]:
    """A pool as jobs see it."""
    return {key: pool.args[key] for key in ("types", "zones", "network", "max", "capacity") if key in pool.args}


def first_batch_job(env: Environment[AwsBatchConfig]) -> str:
    """The stack's output `first_job`. A queue with shares takes no job that does not say whose it is."""
    shares = env.config["queue"].get("shares")
    share = f"--share {sorted(shares)[0]}" if shares else ""
    return first_job(env.name, repository_names(env.config["registry"]), share)


def environment_arns(pools: dict[str, BatchEnvironment], names: Sequence[str]) -> list[pulumi.Input[str]]:
    """ARNs of the compute environments of pools, in order; the environment's check rejects unknown names."""
    return [pools[name].environment_arn if name in pools else pulumi.Output.from_input(name) for name in names]
