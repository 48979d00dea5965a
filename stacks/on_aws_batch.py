"""An environment for training runs on AWS Batch: pools that start with a job, a queue, files, a bucket, a registry."""

from typing import Any, cast

import pulumi

from aws_batch_judging import refuse
from aws_batch_parts import PREFIX, job_of, multinode_of, pools_in_order, repository
from aws_batch_settings import AwsBatchSettings
from aws_mirror import mirror_of
from aws_surroundings import files_of, network_of, own, registry_for, watch_costs
from gpufleet.aws.batch_environment import BatchEnvironment, BatchEnvironmentArgs
from gpufleet.aws.batch_queue import BatchQueue, BatchQueueArgs
from gpufleet.aws.outputs_bucket import OutputsBucket, OutputsBucketArgs
from gpufleet.aws.training_job import TrainingJob, TrainingJobArgs
from parts import tags
from settings import given


def build(environment: str, settings: AwsBatchSettings) -> dict[str, pulumi.Input[Any]]:
    """Register everything and return the stack's outputs.

    Errors: pulumi.RunError with every fault of every part, one line each, before anything is registered.
    """
    refuse(environment, settings)
    tagged = {"tags": tags(environment, settings)}
    network = network_of(environment, settings)
    # Not after their way out, unlike nodes of a cluster: an environment is made without one.
    place = own(environment, settings) | {"vpc_id": network.vpc_id, "subnet_ids": network.private_subnet_ids}
    pools = {
        pool: BatchEnvironment(f"{environment}-{pool}", cast(BatchEnvironmentArgs, given(intent) | place))
        for pool, intent in settings.pools.items()
    }
    files = files_of(environment, settings, network, {name: pool.security_group_id for name, pool in pools.items()})
    registry = registry_for(environment, settings)
    watch_costs(environment, settings)
    outputs = given(settings.outputs) | tagged | {"erase": settings.erase}
    bucket = OutputsBucket(f"{environment}-outputs", cast(OutputsBucketArgs, outputs))

    def queue(name: str, of: list[str]) -> BatchQueue:
        words = {key: value for key, value in given(settings.queue).items() if key != "pools"}
        args = words | tagged | {"environments": [pools[pool].environment_arn for pool in of]}
        return BatchQueue(f"{environment}-{name}", cast(BatchQueueArgs, args))

    chosen = repository(environment, settings)
    # A job is submitted with the newest image's digest; this one counts where Batch's own console submits.
    image = registry.repository_urls.apply(lambda urls: f"{urls[str(chosen)]}:latest")
    point = {} if settings.files.access_point is False else {"access_point_id": files.access_point_id}
    stored = {
        "image": image,
        "files": {"file_system_id": files.file_system_id} | point,
        "bucket": {"arn": bucket.bucket_arn, "prefixes": [f"{PREFIX}/"]},
    }

    def job(name: str, args: dict[str, Any]) -> TrainingJob:
        return TrainingJob(f"{environment}-{name}", cast(TrainingJobArgs, args | stored | tagged))

    single = job("job", job_of(settings))
    jobs: dict[str, Any] = {
        "on": "batch",
        "region": settings.region,
        "queue": queue("queue", pools_in_order(settings)).queue_name,
        "definition": single.definition_arn,
        "bucket": bucket.bucket_name,
        "prefix": PREFIX,
        "log_group": single.log_group_name,
        "pools": {name: told(intent) for name, intent in settings.pools.items()},
    }
    if settings.multinode is not None:
        several = multinode_of(settings)
        pool = settings.multinode.pool
        jobs["multinode"] = {
            "queue": queue("multinode-queue", [pool]).queue_name,
            "definition": job("multinode", several).definition_arn,
            "type": several["instance_type"],
            "nodes": settings.pools[pool].max,
            "gpus": several["gpus"],
        }
    return mirror_of(environment, settings) | {
        "jobs": jobs,
        "file_system_id": files.file_system_id,
        "access_point_id": files.access_point_id,
        "registry_urls": registry.repository_urls,
        "environments": {name: pool.environment_name for name, pool in pools.items()},
        "first_job": f"gpufleet images build {environment} examples/train && "
        f"gpufleet jobs submit {environment}{share(settings)} --follow -- python3 train.py",
    }


def share(settings: AwsBatchSettings) -> str:
    """A queue with shares takes no job that does not say whose it is."""
    return f" --share {sorted(settings.queue.shares)[0]}" if settings.queue.shares else ""


def told(intent: Any) -> dict[str, Any]:  # noqa: ANN401 - a model made at run time
    """A pool as jobs see it."""
    facts = given(intent)
    return {key: facts[key] for key in ("types", "zones", "network", "max", "capacity") if key in facts}
