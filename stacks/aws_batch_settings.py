"""The configuration of an AWS environment that runs its jobs on AWS Batch."""

from aws_account_settings import FILLED, AwsAccountSettings
from gpufleet.aws.batch_environment import BatchEnvironmentArgs
from gpufleet.aws.batch_queue import BatchQueueArgs
from gpufleet.aws.outputs_bucket import OutputsBucketArgs
from gpufleet.aws.training_job import TrainingJobArgs
from settings import Section
from typed_dict import model_of

BatchPoolSettings = model_of(BatchEnvironmentArgs, Section, without={*FILLED, "vpc_id", "subnet_ids"})
OutputsSettings = model_of(OutputsBucketArgs, Section, without=FILLED)
# What a submission says, or the stack knows: image, file system and bucket.
_OF_JOBS = {*FILLED, "image", "command", "files", "bucket"}
JobSettings = model_of(TrainingJobArgs, Section, without={*_OF_JOBS, "nodes", "gpus"})


class QueueSettings(model_of(BatchQueueArgs, Section, without={*FILLED, "environments"})):
    pools: list[str] | None = None
    """Pools in the order in which they take jobs, at most three: the first that has room. Default: all pools, those on
    Spot last."""


class SingleJobSettings(JobSettings):
    gpus: int | None = None
    """GPUs of a job; a submission may say another number. Default: all of the pools' smallest node."""


class MultinodeSettings(JobSettings):
    pool: str
    """The pool that its nodes are of: of one type and in one zone, and not on Spot."""
    nodes: int = 2
    """Nodes of a job; a submission may say another number, up to the pool's max."""


class AwsBatchSettings(AwsAccountSettings):
    """All keys of an AWS environment on AWS Batch."""

    pools: dict[str, BatchPoolSettings]
    """GPU nodes by name: a compute environment each."""
    queue: QueueSettings = QueueSettings()
    """Where jobs wait for nodes."""
    job: SingleJobSettings = SingleJobSettings()
    """What a job of one node gets, unless its submission says otherwise."""
    multinode: MultinodeSettings | None = None
    """What a job of several nodes gets; they have a queue of their own. Default: there are none."""
    outputs: OutputsSettings = OutputsSettings()
    """The bucket that jobs write their outputs to."""
