"""Judge an AWS Batch environment by its settings, before its first resource."""

from aws_account_judging import judge_pools_together, judge_surroundings
from aws_batch_parts import job_of, multinode_of, pools_in_order, repository
from aws_batch_settings import AwsBatchSettings
from gpufleet.refusal import refuse_stack
from gpufleet.rules import (
    judge_batch_environment,
    judge_batch_queue,
    judge_outputs_bucket,
    judge_training_job,
)
from gpufleet.rules.aws.batch_stack import judge_multinode_pool, judge_pool_names, judge_repository
from parts import named
from settings import given

ADDRESSES_PER_NODE = 2
"""The node's own, and that of the interface which a container of a multi-node job gets.

Source: docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html (awsvpc networking)
"""


def refuse(environment: str, settings: AwsBatchSettings) -> None:
    """Judge every part by its plain values, so that one preview shows all faults and nothing is half made."""
    region = {"region": settings.region}
    queue = {key: value for key, value in given(settings.queue).items() if key != "pools"}
    known = settings.pools
    judged = judge_surroundings(environment, settings)
    judged |= {pool: judge_batch_environment(given(intent) | region) for pool, intent in known.items()}
    judged["outputs"] = judge_outputs_bucket(given(settings.outputs))
    judged["queue"] = [
        *judge_pool_names("pools", pools_in_order(settings), known),
        *judge_batch_queue(queue | {"environments": [object() for _ in pools_in_order(settings)]}),
    ]
    judged["job"] = [*judge_repository(repository(environment, settings)), *judge_training_job(job_of(settings))]
    if settings.multinode is not None:
        pool = settings.multinode.pool
        judged["multinode"] = judge_pool_names("pool", [pool], known)
        if pool in known:
            place = given(known[pool])
            judged["multinode"] += judge_multinode_pool(place, settings.multinode.nodes)
            judged["multinode"] += judge_training_job(multinode_of(settings))
    whole = judge_pools_together(environment, settings, known, ADDRESSES_PER_NODE)
    refuse_stack(named(environment, judged), whole)
