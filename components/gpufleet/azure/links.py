"""What components hand over to each other: arguments that the one takes, and a method `for_...` of the other returns.

``Cluster("fleet", version="1.36", admins=admins, **group.for_parts(), **network.for_cluster())``

No `from __future__ import annotations` here: the component host reads the annotations as objects.
"""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

import pulumi

from gpufleet.azure.batch_mounts import Mount


class GroupLink(TypedDict):
    """A resource group, for all that is in it."""

    region: str
    """Region, for instance eastus. Nodes, files and images lie in the same: every read across regions waits for the
    distance."""
    resource_group_name: pulumi.Input[str]
    """The resource group: for a pool that of its cluster or Batch account. AKS makes a second one for a cluster's
    nodes."""
    tags: NotRequired[Mapping[str, str]]
    """Tags of every resource, of a cluster's second resource group and of its nodes included. The machines of Azure
    Batch take none: their cost shows under the account's tags."""


class ScopeLink(TypedDict):
    """A resource group or its subscription, for a budget."""

    scope: pulumi.Input[str]
    """Id of the resource group that is watched; or of a subscription, with ``by_tag``."""


class SubnetLink(TypedDict):
    """A network, for nodes."""

    subnet_id: pulumi.Input[str]
    """Subnet of the nodes, with a way out: they have no public addresses. The nodes of a cluster all lie in one virtual
    network. Another subnet replaces the cluster or the pool."""


class OutboundLink(TypedDict):
    """The public addresses of a network, for the API server of a cluster in it."""

    outbound_addresses: NotRequired[pulumi.Input[Sequence[str]]]
    """Public IPv4 addresses through which nodes reach the internet: those of a NAT gateway or firewall. An API server
    with ``authorized_ranges`` lets them in, as nodes register with it through these. Default: none are known."""


class ClusterNetworkLink(SubnetLink, OutboundLink):
    """A network, for a cluster."""


class EndpointLink(TypedDict):
    """A network, for the private endpoint of a service."""

    endpoint_subnet_id: NotRequired[pulumi.Input[str]]
    """With a private endpoint (access=private-endpoint, or public=false): the subnet of the private address."""
    vnet_id: NotRequired[pulumi.Input[str]]
    """With a private endpoint: the virtual network that finds the service by its name."""


class ClientsLink(TypedDict):
    """A network, for files that its subnets reach."""

    client_subnet_ids: Mapping[str, pulumi.Input[str]]
    """Short name to a subnet with the service endpoint Microsoft.Storage; nobody else reaches the share."""


class IdentityLink(TypedDict):
    """The identity of nodes, for Azure Batch."""

    identity_id: pulumi.Input[str]
    """User-assigned identity by which nodes mount containers and pull images, and by which the account reaches its
    storage. Give it its role (Storage Blob Data Contributor) on each container, before jobs run; with auto-storage, on
    the storage account, as Batch makes containers of its own there."""


class AccessLogsLink(TypedDict):
    """A workspace, for the record of who reads and writes files."""

    log_workspace_id: NotRequired[pulumi.Input[str]]
    """The workspace of Log Analytics that takes in the record. Default: nothing is recorded."""


class BlobUsersLink(TypedDict):
    """The identity of nodes, for files."""

    client_principal_ids: NotRequired[Mapping[str, pulumi.Input[str]]]
    """Principals that read and write blobs in the containers that are made here: a short name of your choice to the
    principal of an identity."""


class PullersLink(TypedDict):
    """The identity of nodes, for a registry."""

    pull_principal_ids: NotRequired[Mapping[str, pulumi.Input[str]]]
    """Who pulls: a short name of your choice to the principal of an identity."""


class StorageLink(TypedDict):
    """A storage account, for a Batch account."""

    storage_account_id: NotRequired[pulumi.Input[str]]
    """Storage account for what Batch itself keeps of jobs (auto-storage). Default: none."""
    storage_region: NotRequired[str]
    """Region of that storage account, for validation only. Default: unknown."""


class MountsLink(TypedDict):
    """Files, for the nodes of a Batch pool."""

    mounts: NotRequired[Sequence[Mount]]
    """At most 10 file systems on every node. A node where one fails takes no task. Default: none."""


class RegistryLink(TypedDict):
    """A registry, for the nodes of a Batch pool."""

    registry_servers: NotRequired[Sequence[pulumi.Input[str]]]
    """Hosts of registries that the identity may pull from, such as images.azurecr.io. Default: none."""


class BatchAccountLink(TypedDict):
    """A Batch account, for its pools."""

    account_name: pulumi.Input[str]
    """The Batch account."""


class ClusterLink(TypedDict):
    """A cluster, for its agent pools."""

    cluster_name: pulumi.Input[str]
    """The AKS cluster."""
