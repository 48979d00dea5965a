"""The configuration of an AWS environment that runs its jobs on AWS Batch."""

from collections.abc import Sequence
from typing import Annotated, NotRequired

from gpufleet.aws.batch_environment import BatchEnvironmentConfig
from gpufleet.aws.batch_queue import BatchQueueConfig
from gpufleet.aws.outputs_bucket import OutputsBucketConfig
from gpufleet.aws.training_job import TrainingJobConfig
from gpufleet.config.aws_account import AwsAccountConfig
from gpufleet.typed_dicts import Default


class JobQueueConfig(BatchQueueConfig):
    """Where jobs wait for nodes."""

    pools: NotRequired[Sequence[str]]
    """Pools in the order in which they take jobs, at most three: the first that has room. Default: all pools, reserved
    ones first, then Spot, then on demand, and that of multi-node jobs last."""


class SingleJobConfig(TrainingJobConfig):
    """What a job of one node gets."""

    gpus: NotRequired[int]
    """GPUs of a job; a submission may say another number. Default: all of the pools' smallest node."""


class MultinodeConfig(TrainingJobConfig):
    """What a job of several nodes gets."""

    pool: str
    """The pool that its nodes are of: of one type and in one zone, and not on Spot."""
    nodes: Annotated[int, Default(2)]
    """Nodes of a job; a submission may say another number, up to the pool's max."""


class AwsBatchConfig(AwsAccountConfig):
    """All keys of an AWS environment on AWS Batch."""

    pools: dict[str, BatchEnvironmentConfig]
    """GPU nodes by name: a compute environment each."""
    queue: Annotated[JobQueueConfig, Default({})]
    """Where jobs wait for nodes."""
    job: Annotated[SingleJobConfig, Default({})]
    """What a job of one node gets, unless its submission says otherwise."""
    multinode: NotRequired[MultinodeConfig]
    """What a job of several nodes gets. They have their own queue, which goes before the other. Default: there are
    none."""
    outputs: Annotated[OutputsBucketConfig, Default({})]
    """The bucket that jobs write their outputs to."""
