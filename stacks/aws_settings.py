"""The configuration of an AWS environment with an EKS cluster."""

from collections.abc import Mapping
from typing import Any

from aws_account_settings import FILLED, AwsAccountSettings
from cluster_settings import OnClusterSettings
from gpufleet.aws.cluster import ClusterArgs
from gpufleet.aws.site_link import SiteLinkArgs
from gpufleet.kubernetes.autoscaler import AutoscalerArgs
from gpufleet.pool_hours import ScheduledPool
from own_servers_settings import OwnServersSettings
from settings import Section
from typed_dict import model_of

PoolSettings = model_of(ScheduledPool, Section)
AutoscalerSettings = model_of(AutoscalerArgs, Section, without={"cluster_name", "region", "labels"})


class ClusterSettings(
    model_of(
        ClusterArgs,
        Section,
        without={*FILLED, "subnet_ids", "node_subnet_ids", "cluster_name", "remote_networks", "efs_driver"},
    )
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


class LinkSettings(
    model_of(SiteLinkArgs, Section, without={"vpc_id", "vpc_cidr", "route_table_ids", "site_cidrs", "tags"})
):
    site_cidrs: list[str] | None = None
    """Ranges of the own networks that are to be reached: servers, files, and the pods of own servers. Default:
    own_servers.networks."""
    route_table_ids: dict[str, str] | None = None
    """Route tables of an existing VPC that learn the way to the own networks: a short name of your choice to the table.
    Those of all subnets with nodes. Default: those of the network that is made here."""


class AwsSettings(OnClusterSettings, AwsAccountSettings):
    """All keys of an AWS environment with an EKS cluster."""

    pools: dict[str, PoolSettings] = {}
    """GPU node groups by name."""
    cluster: ClusterSettings = ClusterSettings()
    """The EKS cluster."""
    existing_cluster: ExistingCluster | None = None
    """An EKS cluster to use instead of making one; give its VPC under network too."""
    autoscaler: AutoscalerSettings = AutoscalerSettings()
    """What starts nodes for a job, and takes them away after it."""
    own_servers: OwnServersSettings | None = None
    """Own servers that join the cluster (EKS hybrid nodes). Default: none."""
    link: LinkSettings | None = None
    """The line to the own network, where there is none yet. Default: none is made."""

    @property
    def priced_in(self) -> str:
        return self.region

    @property
    def every_pool(self) -> Mapping[str, Any]:
        return {**self.pools, **(self.own_servers.pools if self.own_servers else {})}
