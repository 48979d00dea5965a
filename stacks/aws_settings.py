"""The configuration of an AWS environment."""

from typing import ClassVar

from gpufleet.aws.budget import BudgetArgs
from gpufleet.aws.cluster import ClusterArgs
from gpufleet.aws.network import NetworkArgs
from gpufleet.aws.registry import RegistryArgs
from gpufleet.aws.shared_files import SharedFilesArgs
from gpufleet.kubernetes.autoscaler import AutoscalerArgs
from settings import Section, SharedSettings
from typed_dict import model_of

# Every word is defined once, where the component takes it; the configuration leaves out what the stack fills in.
_FILLED = {"region", "tags", "erase"}
NetworkSettings = model_of(NetworkArgs, Section, without={*_FILLED, "cluster_name"})
BudgetSettings = model_of(BudgetArgs, Section, without={*_FILLED, "environment"})
FilesSettings = model_of(
    SharedFilesArgs,
    Section,
    without={*_FILLED, "zones", "vpc_id", "subnet_ids", "client_security_group_ids", "zone_names"},
)
RegistrySettings = model_of(RegistryArgs, Section, without=_FILLED)
AutoscalerSettings = model_of(AutoscalerArgs, Section, without={"cluster_name", "region", "labels"})


class ClusterSettings(
    model_of(ClusterArgs, Section, without={*_FILLED, "subnet_ids", "node_subnet_ids", "cluster_name"})
):
    zones: list[str] | None = None
    """Zones of the control plane and of the system nodes, at least two. Default: those of the network in which EKS puts
    control planes. GPU nodes may lie in others, for instance in use1-az3. A change replaces the system nodes."""


class ExistingCluster(Section):
    name: str
    """Name of the EKS cluster."""
    security_group_id: str
    """The security group that EKS made for it."""
    endpoint: str
    """URL of its Kubernetes API."""
    certificate_authority: str
    """Its certificate, base64 of PEM."""
    service_cidr: str | None = None
    """IPv4 range of its Kubernetes services. Needed for nodes with an image of your own only."""
    node_role_arn: str | None = None
    """Role of the GPU nodes. Default: each pool makes one of its own."""


class AwsSettings(SharedSettings):
    """All keys of an AWS environment, under `gpufleet:` in its Pulumi.<environment>.yaml."""

    PROVIDER: ClassVar[str] = "aws"
    OF_PROVIDER: ClassVar[frozenset[str]] = frozenset({"region"})

    region: str
    """Region code, for instance us-east-1."""
    zone_names: dict[str, str] = {}
    """Your account's name of each zone id (use1-az1: us-east-1a). Needed for One Zone files only."""
    network: NetworkSettings
    """The VPC."""
    cluster: ClusterSettings = ClusterSettings()
    """The EKS cluster."""
    existing_cluster: ExistingCluster | None = None
    """An EKS cluster to use instead of making one; give its VPC under network too."""
    files: FilesSettings = FilesSettings()
    """The shared file system (EFS), mounted in every zone that has GPU nodes."""
    autoscaler: AutoscalerSettings = AutoscalerSettings()
    """What starts nodes for a job, and takes them away after it."""
    budget: BudgetSettings | None = None
    """What the environment may cost in a month, and who hears of it. Default: no budget, and nobody hears."""
    registry: RegistrySettings = RegistrySettings()
    """The container registry (ECR). Repositories get the environment's name in front: aws-dev/<name>."""
