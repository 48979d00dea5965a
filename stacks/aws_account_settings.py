"""The keys that every AWS environment has, whatever runs its jobs."""

from typing import ClassVar

from gpufleet.aws.budget import BudgetArgs
from gpufleet.aws.image_mirror import ImageMirrorArgs
from gpufleet.aws.network import NetworkArgs
from gpufleet.aws.registry import RegistryArgs
from gpufleet.aws.shared_files import SharedFilesArgs
from settings import Section, SharedSettings
from typed_dict import model_of

# Every word is defined once, where the component takes it; the configuration leaves out what the stack fills in.
FILLED = {"region", "tags", "erase"}
NetworkSettings = model_of(NetworkArgs, Section, without={*FILLED, "cluster_name"})
BudgetSettings = model_of(BudgetArgs, Section, without={*FILLED, "environment"})
FilesSettings = model_of(
    SharedFilesArgs,
    Section,
    without={*FILLED, "zones", "vpc_id", "subnet_ids", "client_security_group_ids", "zone_names"},
)
RegistrySettings = model_of(RegistryArgs, Section, without=FILLED)


class ImageMirrorSettings(
    model_of(ImageMirrorArgs, Section, without={*FILLED, "repositories", "existing_repositories"})
):
    list: str
    """The list that `gpufleet images sync` reads, by its path from Pulumi.yaml: examples/images/images.yaml. What it
    pushes to is made, unless the registry makes it."""


class AwsAccountSettings(SharedSettings):
    """Network, files, registry and budget, under `gpufleet:` in its Pulumi.<environment>.yaml."""

    PROVIDER: ClassVar[str] = "aws"
    OF_PROVIDER: ClassVar[frozenset[str]] = frozenset({"region"})

    region: str
    """Region code, for instance us-east-1."""
    zone_names: dict[str, str] = {}
    """Your account's name of each zone id (use1-az1: us-east-1a). Needed for One Zone files only."""
    network: NetworkSettings
    """The VPC."""
    files: FilesSettings = FilesSettings()
    """The shared file system (EFS), mounted in every zone of the network."""
    budget: BudgetSettings | None = None
    """What the environment may cost in a month, and who hears of it. Default: no budget, and nobody hears."""
    registry: RegistrySettings = RegistrySettings()
    """The container registry (ECR). Repositories get the environment's name in front: aws-dev/<name>."""
    image_mirror: ImageMirrorSettings | None = None
    """Repositories for images of other registries, and roles for a workflow that fills them. Default: none."""
