"""Networks of the on-prem servers of a cluster: EKS hybrid nodes join from these networks."""

from collections.abc import Sequence
from typing import NotRequired, TypedDict

from pulumi_aws import eks


class RemoteNetworks(TypedDict):
    """IPv4 ranges of on-prem servers that join the cluster, private, apart from each other and from the VPC's."""

    nodes: Sequence[str]
    """Ranges of the servers' own addresses, 1 to 15, for instance ["10.80.0.0/24"]."""
    pods: NotRequired[Sequence[str]]
    """Ranges of the addresses of their pods, up to 15. With them, the cluster and cloud pods reach pods on on-prem
    servers if the site's router has routes to them. Default none."""


def remote_network_config(networks: RemoteNetworks | None) -> "eks.ClusterRemoteNetworkConfigArgs | None":
    """The same for EKS, which adds, changes and removes it in place.

    Source: docs.aws.amazon.com/eks/latest/userguide/hybrid-nodes-cluster-update.html
    """
    if networks is None:
        return None
    pods = list(networks.get("pods", ()))
    return eks.ClusterRemoteNetworkConfigArgs(
        remote_node_networks=eks.ClusterRemoteNetworkConfigRemoteNodeNetworksArgs(cidrs=list(networks["nodes"])),
        remote_pod_networks=eks.ClusterRemoteNetworkConfigRemotePodNetworksArgs(cidrs=pods) if pods else None,
    )
