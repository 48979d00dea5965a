"""The keys that every AWS environment has, whatever runs its jobs."""

from typing import Annotated, Literal, NotRequired

from gpufleet.aws.budget import BudgetConfig
from gpufleet.aws.data_sync import DataSyncConfig
from gpufleet.aws.image_mirror import ImageMirrorConfig
from gpufleet.aws.network import NetworkConfig
from gpufleet.aws.registry import RegistryConfig
from gpufleet.aws.shared_files import SharedFilesConfig
from gpufleet.config.shared import SharedConfig
from gpufleet.typed_dicts import Default


class MirrorConfig(ImageMirrorConfig):
    """The image mirror, and the list of what it holds."""

    list: str
    """The list that `gpufleet images sync` reads, by its path from Pulumi.yaml: examples/images/images.yaml. What it
    pushes to is made, unless the registry makes it."""


class SyncConfig(DataSyncConfig):
    """A copy of own files in the cloud, kept by AWS DataSync."""

    to: Annotated[Literal["efs", "s3"], Default("efs")]
    """efs: the environment's shared files, in the folder data of what jobs see at /mnt, unless cloud_path says another
    directory of the file system. s3: the bucket of bucket_arn. Default efs."""


class AwsAccountConfig(SharedConfig):
    """Network, files, registry and budget."""

    region: str
    """Region code, for instance us-east-1."""
    zone_names: Annotated[dict[str, str], Default({})]
    """Your account's name of each zone id (use1-az1: us-east-1a). Needed for One Zone files only."""
    network: NetworkConfig
    """The VPC."""
    files: Annotated[SharedFilesConfig, Default({})]
    """The shared file system (EFS), mounted in every zone of the network."""
    budget: NotRequired[BudgetConfig]
    """What the environment may cost in a month, and who hears of it. Default: no budget, and nobody hears."""
    registry: Annotated[RegistryConfig, Default({})]
    """The container registry (ECR). Repositories get the environment's name in front: aws-dev/<name>. Default: nothing
    in it; images of jobs then come from elsewhere."""
    data_sync: NotRequired[SyncConfig]
    """A copy of own files, kept by a schedule. Default: none."""
    image_mirror: NotRequired[MirrorConfig]
    """Repositories for images of other registries, and roles for a workflow that fills them. Default: none."""
