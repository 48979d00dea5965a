"""An environment for training runs on AWS Batch: pools that start with a job, a queue, files, a bucket, a registry."""

from gpufleet import aws
from gpufleet.aws.batch_queue import BatchQueueConfig
from gpufleet.checks.aws_batch import check_aws_batch
from gpufleet.config.aws_batch import AwsBatchConfig
from gpufleet.config.aws_parts import data_sync, environment_budget, files_config
from gpufleet.config.batch_parts import (
    environment_arns,
    first_batch_job,
    job_links,
    jobs_output,
    multinode_job,
    multinode_queue,
    pools_in_order,
    single_job,
)
from gpufleet.config.environment import Environment
from gpufleet.config.registry import image_mirror, registry_config
from gpufleet.typed_dicts import pick

env = Environment.load(AwsBatchConfig)
config, part, region, tags = env.config, env.part, env.config["region"], env.tags

with env.gathering("shares", "runnable_minutes"):
    check_aws_batch(env)
    network = aws.Network(part("network"), **config["network"], region=region, tags=tags)
    # Not after their way out, unlike nodes of a cluster: an environment is made without one.
    pools = {
        name: aws.BatchEnvironment(part(name), **pool, **network.for_files(), region=region, tags=tags)
        for name, pool in config["pools"].items()
    }
    files = aws.SharedFiles(
        part("files"),
        **files_config(env),
        **network.for_files(),
        client_security_group_ids={name: pool.security_group_id for name, pool in pools.items()},
    )
    data_sync(env, files)
    registry = aws.Registry(part("registry"), **registry_config(env), region=region, tags=tags, erase=config["erase"])
    image_mirror(env)
    for name, budget in environment_budget(env).items():
        aws.Budget(name, **budget)
    bucket = aws.OutputsBucket(
        part("outputs"), **config["outputs"], tags=tags, erase=config["erase"], access_logs=config["access_logs"]
    )
    links = job_links(env, registry, files, bucket)
    job = aws.TrainingJob(part("job"), **single_job(env, links))
    shared = pick(BatchQueueConfig, config["queue"])
    environments = environment_arns(pools, pools_in_order(config))
    queue = aws.BatchQueue(part("queue"), **shared, environments=environments, tags=tags)
    jobs = jobs_output(env, pools, queue, job, bucket)
    several = multinode_job(env, links)
    if several is not None:
        pool = pools[several.pool]
        first = multinode_queue(config)
        own = aws.BatchQueue(part("multinode-queue"), **first, environments=[pool.environment_arn], tags=tags)
        jobs["multinode"] = several.output(own, aws.TrainingJob(part("multinode"), **several.args), pool)

env.export(
    jobs=jobs,
    file_system_id=files.file_system_id,
    access_point_id=files.access_point_id,
    registry_urls=registry.repository_urls,
    environments={name: pool.environment_name for name, pool in pools.items()},
    first_job=first_batch_job(env),
)
