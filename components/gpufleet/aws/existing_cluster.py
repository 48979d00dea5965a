"""ExistingCluster: an EKS cluster that is managed elsewhere, with the interface of `Cluster`. It registers nothing."""

from collections.abc import Sequence
from typing import NotRequired, TypedDict

import pulumi

from gpufleet.aws.kubeconfig import kubeconfig
from gpufleet.aws.links import ClusterLink, FilesClient


class ExistingClusterConfig(TypedDict):
    """An existing cluster: what nodes need to join it."""

    name: str
    """Name of the EKS cluster."""
    security_group_id: str
    """The security group that EKS made for it."""
    endpoint: str
    """URL of its Kubernetes API."""
    certificate_authority: str
    """Its certificate, base64 of PEM."""
    service_cidr: NotRequired[str]
    """IPv4 range of its Kubernetes services. Needed for nodes with an image of your own only."""
    node_role_arn: NotRequired[str]
    """Role of the GPU nodes. Default: each pool makes its own."""


class ExistingCluster(FilesClient):
    """The attributes of a `Cluster`, for one that exists; its owner manages its add-ons and system nodes."""

    def __init__(self, cluster: ExistingClusterConfig, region: str) -> None:
        self._cluster = cluster
        self.cluster_name = pulumi.Output.from_input(cluster["name"])
        self.cluster_security_group_id = pulumi.Output.from_input(cluster["security_group_id"])
        text = kubeconfig(cluster["name"], cluster["endpoint"], cluster["certificate_authority"], region)
        self.kubeconfig = pulumi.Output.secret(text)
        self.version = pulumi.Output.from_input("")
        self.resources: Sequence[pulumi.Resource] = ()

    def for_nodes(self) -> ClusterLink:
        """What nodes need to join."""
        cluster = self._cluster
        link: ClusterLink = {
            "cluster_name": cluster["name"],
            "cluster_security_group_id": cluster["security_group_id"],
            "cluster_endpoint": cluster["endpoint"],
            "cluster_certificate_authority": cluster["certificate_authority"],
        }
        if "service_cidr" in cluster:
            link["service_cidr"] = cluster["service_cidr"]
        if "node_role_arn" in cluster:
            link["node_role_arn"] = cluster["node_role_arn"]
        return link
