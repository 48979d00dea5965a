"""What components hand over to each other: `GpuNodeGroup("a", **pool, **cluster.for_nodes(), **network.for_nodes())`.

No `from __future__ import annotations` here: the component host reads the annotations as objects.
"""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

import pulumi


class ClusterLink(TypedDict):
    """A cluster, for the nodes that join it."""

    cluster_name: pulumi.Input[str]
    """The EKS cluster."""
    cluster_security_group_id: pulumi.Input[str]
    """The group that EKS made for the cluster. Every node gets it: EKS stops adding it as soon as a template names
    any group, and nodes without it never join."""
    node_role_arn: NotRequired[pulumi.Input[str]]
    """Role of the nodes. Default: the pool makes its own."""
    cluster_endpoint: NotRequired[pulumi.Input[str]]
    """URL of the Kubernetes API. Needed with an image of your own only, to which EKS adds no start-up data."""
    cluster_certificate_authority: NotRequired[pulumi.Input[str]]
    """The cluster's certificate, base64 of PEM. Needed with your own image."""
    service_cidr: NotRequired[pulumi.Input[str]]
    """IPv4 range of Kubernetes services. Needed with your own image."""
    cluster_version: NotRequired[pulumi.Input[str]]
    """Kubernetes version of the cluster, which its nodes follow. Default: EKS takes the cluster's when it makes a node
    group, and does not raise it with the cluster."""


class NodeNetwork(TypedDict):
    """A network, for nodes."""

    vpc_id: pulumi.Input[str]
    """The VPC of the subnets; the nodes' security groups are made in it."""
    subnet_ids: Mapping[str, pulumi.Input[str]]
    """Zone id to a private subnet with a way out. Those of ``zones`` are taken, and no others."""


class ClusterNetwork(TypedDict):
    """A network, for a control plane and its system nodes."""

    subnet_ids: Mapping[str, pulumi.Input[str]]
    """Zone id to private subnet, for the control plane; in at least two zones, of which ``zones`` takes some."""
    node_subnet_ids: NotRequired[Mapping[str, pulumi.Input[str]]]
    """Zone id to private subnet of the system nodes; they need a way out. Default: ``subnet_ids``. Another zone
    replaces the system nodes: new ones come first, then the old ones are drained."""


class FilesNetwork(TypedDict):
    """A network, for mount targets."""

    vpc_id: pulumi.Input[str]
    """The VPC of the subnets."""
    subnet_ids: Mapping[str, pulumi.Input[str]]
    """Zone id to the subnet of its mount target."""


class FilesClients(TypedDict):
    """Who mounts shared files."""

    client_security_group_ids: Mapping[str, pulumi.Input[str]]
    """Who may mount: a short name of your choice to a security group, for instance {"nodes": "sg-..."}. TCP 2049 is
    open from these groups and from nowhere else."""


class LustreClients(TypedDict):
    """Who mounts a file system of Lustre."""

    client_security_group_ids: Mapping[str, pulumi.Input[str]]
    """Who may mount: a short name of your choice to a security group, for instance {"nodes": "sg-..."}. The ports of
    Lustre, TCP 988 and 1018 to 1023, are opened in both directions."""


class FilesSync(TypedDict):
    """A shared file system, for what copies to it."""

    file_system_arn: NotRequired[pulumi.Input[str]]
    """For efs: ARN of the file system. Its mount target in the subnet's zone has to be there: pass a value that waits
    for it."""
    subnet_id: NotRequired[pulumi.Input[str]]
    """For efs: subnet in which DataSync puts its interfaces, one with a mount target in its zone."""
    security_group_ids: NotRequired[Sequence[pulumi.Input[str]]]
    """For efs: groups of those interfaces, which the mount target lets in; at most five."""


class JobBucket(TypedDict):
    """A part of a bucket that the job may read and write."""

    arn: pulumi.Input[str]
    """The bucket."""
    prefixes: Sequence[str]
    """Folders in it, each ending in a slash, for instance [runs/vision/]."""
    kms_key_arn: NotRequired[pulumi.Input[str]]
    """The bucket's key, where it has one of the customer's own."""


class FilesClient:
    """A cluster whose nodes mount shared files."""

    cluster_security_group_id: pulumi.Output[str]

    def for_files(self) -> FilesClients:
        """The nodes as clients of the files."""
        return {"client_security_group_ids": {"nodes": self.cluster_security_group_id}}
