"""Checks of a whole AWS environment on AWS Batch: pools that queues and jobs name, quotas and addresses."""

from gpufleet.checks.aws import check_pools
from gpufleet.config.aws_batch import AwsBatchConfig
from gpufleet.config.batch_parts import pools_in_order, repository
from gpufleet.config.environment import Environment
from gpufleet.rules.access_logs import validate_access_logs
from gpufleet.rules.aws.batch_stack import validate_multinode_pool, validate_pool_names, validate_repository
from gpufleet.rules.resource_finding import ResourceFinding
from gpufleet.validation import validate_stack

ADDRESSES_PER_NODE = 2
"""The node's own, and that of the interface which a container of a multi-node job gets.

Source: docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html (awsvpc networking)
"""


def check_aws_batch(env: Environment[AwsBatchConfig]) -> None:
    """Findings on the environment as a whole."""
    config, pools = env.config, env.config["pools"]
    check_pools(env.name, config, pools, ADDRESSES_PER_NODE)
    recorded = validate_access_logs(config["access_logs"], ["s3", "efs"])
    validate_stack(ResourceFinding(env.part("files"), each) for each in recorded)
    queue = validate_pool_names("pools", pools_in_order(config), pools)
    validate_stack(ResourceFinding(env.part("queue"), each) for each in queue)
    validate_stack(ResourceFinding(env.part("job"), each) for each in validate_repository(repository(env)))
    if "multinode" in config:
        pool = config["multinode"]["pool"]
        findings = validate_pool_names("pool", [pool], pools)
        if pool in pools:
            findings += validate_multinode_pool({**pools[pool]}, config["multinode"]["nodes"])
        validate_stack(ResourceFinding(env.part("multinode"), each) for each in findings)
