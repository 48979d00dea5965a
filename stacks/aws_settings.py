"""The configuration of an AWS environment with an EKS cluster."""

from aws_account_settings import FILLED, AwsAccountSettings
from cluster_settings import OnClusterSettings
from gpufleet.aws.cluster import ClusterArgs
from gpufleet.kubernetes.autoscaler import AutoscalerArgs
from settings import Section
from typed_dict import model_of

AutoscalerSettings = model_of(AutoscalerArgs, Section, without={"cluster_name", "region", "labels"})


class ClusterSettings(
    model_of(ClusterArgs, Section, without={*FILLED, "subnet_ids", "node_subnet_ids", "cluster_name"})
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


class AwsSettings(OnClusterSettings, AwsAccountSettings):
    """All keys of an AWS environment with an EKS cluster."""

    cluster: ClusterSettings = ClusterSettings()
    """The EKS cluster."""
    existing_cluster: ExistingCluster | None = None
    """An EKS cluster to use instead of making one; give its VPC under network too."""
    autoscaler: AutoscalerSettings = AutoscalerSettings()
    """What starts nodes for a job, and takes them away after it."""
