"""The configuration of an AWS environment with an EKS cluster."""

from collections.abc import Sequence
from typing import Annotated, Literal, NotRequired, TypedDict

from gpufleet.aws.cluster import ClusterConfig
from gpufleet.aws.existing_cluster import ExistingClusterConfig
from gpufleet.aws.hybrid_nodes import Credentials, HybridNodesConfig
from gpufleet.aws.join_script import DRIVER
from gpufleet.aws.lustre_files import LustreFilesConfig
from gpufleet.aws.managed_prometheus import ManagedPrometheusConfig
from gpufleet.aws.remote_networks import RemoteNetworks
from gpufleet.aws.site_link import SiteLinkConfig
from gpufleet.config.aws_account import AwsAccountConfig
from gpufleet.kubernetes.autoscaler import AutoscalerConfig
from gpufleet.kubernetes.cilium import CiliumConfig
from gpufleet.kubernetes.efa_plugin import EfaPluginConfig
from gpufleet.kubernetes.node_labels import NodeLabelsArgs
from gpufleet.platform.config import PlatformConfig
from gpufleet.pools.schedule import ScheduledPool
from gpufleet.typed_dicts import Default


class LinkConfig(SiteLinkConfig):
    """The line to the own network."""

    site_cidrs: NotRequired[Sequence[str]]
    """Ranges of the own networks that are to be reached: servers, files, and the pods of on-prem servers. Default:
    own_servers.networks."""
    route_table_ids: NotRequired[dict[str, str]]
    """Route tables of an existing VPC that learn the way to the own networks: a short name of your choice to the table.
    Those of all subnets with nodes. Default: those of the network that is made here."""


class PodNetworkConfig(CiliumConfig):
    """The network of pods on on-prem servers."""

    static_routes: NotRequired[bool]
    """Whether the site's router has a static route to the pods of each server, in place of bgp: `gpufleet link` lists
    them once servers have joined. Default false."""


class NodeadmConfig(TypedDict):
    """The program that makes a server a node."""

    version: str
    """Release of nodeadm, AWS's program that makes a server a node, for instance v1.0.19: github.com/aws/eks-hybrid."""
    sha256: str
    """Checksum of its file, as AWS publishes it beside the file: curl -fsSL
    https://hybrid-assets.eks.amazonaws.com/releases/VERSION/bin/linux/amd64/nodeadm.sha256"""


class OnpremServersConfig(HybridNodesConfig):
    """On-prem servers that join the cluster."""

    networks: RemoteNetworks
    """Where the servers and their pods are, as the line to the VPC and the site's own routers know them."""
    credentials: Annotated[Credentials, Default("ssm")]
    """ssm: an activation of Systems Manager, for those without their own certificates. roles-anywhere: each server
    has a certificate from your own authority. A change replaces the servers' role: each server joins again. Default
    ssm."""
    nfs: str
    """The shared files of every job, on on-prem servers and in the cloud: an NFS 4.1 server and the directory that it
    exports, for instance 10.80.0.5:/export/shared. No EFS is made: its driver does not run on on-prem servers."""
    line: Annotated[bool, Default(False)]
    """Whether a line to the servers that is not gpufleet:link exists already, so that nodes of the cloud reach nfs.
    Where neither is there, jobs with the shared files run on on-prem servers only. Default false."""
    pools: dict[str, NodeLabelsArgs]
    """On-prem servers by name of their pool: those of one kind in one place. `gpufleet nodes script` takes the
    names of servers from here."""
    nodeadm: NodeadmConfig
    """The program that the scripts install and check."""
    driver: Annotated[str, Default(DRIVER)]
    """Branch of NVIDIA's driver that is installed where none answers, as Ubuntu calls it. Default 580-server, the last
    one for V100."""
    cilium: Annotated[PodNetworkConfig, Default({})]
    """The network of pods on on-prem servers."""


class AwsConfig(AwsAccountConfig, PlatformConfig):
    """All keys of an AWS environment with an EKS cluster."""

    pools: Annotated[dict[str, ScheduledPool], Default({})]
    """GPU node groups by name."""
    software: NotRequired[
        Sequence[
            Literal[
                "device-plugin",
                "efa-plugin",
                "mpi-operator",
                "autoscaler",
                "dcgm-exporter",
                "node-health",
                "monitoring",
                "jobset",
            ]
        ]
    ]
    """What is installed on the cluster: device-plugin, efa-plugin, mpi-operator, autoscaler, dcgm-exporter;
    node-health, which cordons bad nodes (docs/health.md); monitoring, Prometheus and Grafana (docs/dashboards.md);
    jobset, which jobs of torchrun need. Default: what the pools need, mpi-operator, and dcgm-exporter for
    `gpufleet ps`; on an existing cluster nothing, it is its owner's. []: somebody else installs what the pools need."""
    phase: NotRequired[Literal["cloud", "cluster"]]
    """How much of the environment is there. cloud: what AWS's own API makes: network, cluster, pools, registry and
    gpufleet:link. cluster: also what is installed on the cluster, whose API must then be reachable. Default cluster. A
    change from cluster to cloud deletes what is on the cluster."""
    cluster: Annotated[ClusterConfig, Default({})]
    """The EKS cluster."""
    existing_cluster: NotRequired[ExistingClusterConfig]
    """An EKS cluster to use instead of making one; give its VPC under network too."""
    lustre: NotRequired[LustreFilesConfig]
    """The shared files of the cluster's pods on FSx for Lustre, in place of EFS. Default: they are on EFS."""
    efa_plugin: NotRequired[EfaPluginConfig]
    """AWS's EFA device plugin."""
    autoscaler: Annotated[AutoscalerConfig, Default({})]
    """What starts nodes for a job, and takes them away after it."""
    managed_prometheus: NotRequired[ManagedPrometheusConfig]
    """A workspace of Amazon Managed Service for Prometheus, which keeps what the dashboard reads; with monitoring in
    software. Default: none, Prometheus keeps it in the cluster."""
    own_servers: NotRequired[OnpremServersConfig]
    """On-prem servers that join the cluster (EKS hybrid nodes). Default: none."""
    link: NotRequired[LinkConfig]
    """The line to the own network, where there is none yet. Default: none is made."""
