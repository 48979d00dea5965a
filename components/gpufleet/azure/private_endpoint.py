"""A private address of a service inside a virtual network, and the name by which the network finds it."""

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
from pulumi_azure_native import network, privatedns

ZONES = {
    "blob": "privatelink.blob.core.windows.net",
    "dfs": "privatelink.dfs.core.windows.net",
    "file": "privatelink.file.core.windows.net",
    "registry": "privatelink.azurecr.io",
}
"""Group of a service -> its DNS zone, in Azure's public cloud.

https://learn.microsoft.com/azure/private-link/private-endpoint-dns, read in November 2026.
"""


@dataclass(frozen=True)
class Within:
    """The network in which a private endpoint lies, and how it is tagged."""

    region: str
    resource_group_name: pulumi.Input[str]
    subnet_id: pulumi.Input[str]
    vnet_id: pulumi.Input[str]
    tags: Mapping[str, str]


def dns_zone(
    child: str, parent: pulumi.Resource, within: Within, group: str
) -> tuple[pulumi.Output[str], pulumi.Resource]:
    """The id of a new DNS zone for a group, and the link by which the network asks it.

    A resource group has one zone of a name and a network is linked to one: a second component that reaches the same
    kind of service privately is given the first one's zone.
    """
    opts = pulumi.ResourceOptions(parent=parent)
    zone = privatedns.PrivateZone(
        f"{child}-zone",
        private_zone_name=ZONES[group],
        resource_group_name=within.resource_group_name,
        location="global",
        tags=dict(within.tags),
        opts=opts,
    )
    link = privatedns.VirtualNetworkLink(
        f"{child}-link",
        private_zone_name=zone.name,
        resource_group_name=within.resource_group_name,
        location="global",
        virtual_network=privatedns.SubResourceArgs(id=within.vnet_id),
        registration_enabled=False,
        tags=dict(within.tags),
        opts=opts,
    )
    return zone.id, link


def private_endpoint(
    child: str,
    parent: pulumi.Resource,
    within: Within,
    group: str,
    service_id: pulumi.Input[str],
    zone_id: pulumi.Input[str],
) -> tuple["network.PrivateEndpoint", pulumi.Resource]:
    """The endpoint `child` to one group (see ZONES) of a service, and its entry in a DNS zone."""
    opts = pulumi.ResourceOptions(parent=parent)
    endpoint = network.PrivateEndpoint(
        child,
        resource_group_name=within.resource_group_name,
        location=within.region,
        subnet=network.SubnetArgs(id=within.subnet_id),
        private_link_service_connections=[
            network.PrivateLinkServiceConnectionArgs(name=group, private_link_service_id=service_id, group_ids=[group])
        ],
        tags=dict(within.tags),
        opts=opts,
    )
    entry = network.PrivateDnsZoneGroup(
        f"{child}-dns",
        private_endpoint_name=endpoint.name,
        resource_group_name=within.resource_group_name,
        private_dns_zone_group_name="default",
        private_dns_zone_configs=[network.PrivateDnsZoneConfigArgs(name=group, private_dns_zone_id=zone_id)],
        opts=opts,
    )
    return endpoint, entry
