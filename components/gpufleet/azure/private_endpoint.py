"""A private address of a service inside a virtual network, and the name by which the network finds it."""

import pulumi
from pulumi_azure_native import network, privatedns

from gpufleet.azure.links import EndpointLink, GroupLink

ZONES = {
    "blob": "privatelink.blob.core.windows.net",
    "dfs": "privatelink.dfs.core.windows.net",
    "file": "privatelink.file.core.windows.net",
    "registry": "privatelink.azurecr.io",
}
"""Group of a service -> its DNS zone, in Azure's public cloud.

https://learn.microsoft.com/azure/private-link/private-endpoint-dns, read in November 2026.
"""


class Within(GroupLink, EndpointLink):
    """Where a private endpoint is made: arguments of a component that the rules have passed."""


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
        resource_group_name=within["resource_group_name"],
        location="global",
        tags=within.get("tags", {}),
        opts=opts,
    )
    link = privatedns.VirtualNetworkLink(
        f"{child}-link",
        private_zone_name=zone.name,
        resource_group_name=within["resource_group_name"],
        location="global",
        virtual_network=privatedns.SubResourceArgs(id=within["vnet_id"]),
        registration_enabled=False,
        tags=within.get("tags", {}),
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
        resource_group_name=within["resource_group_name"],
        location=within["region"],
        subnet=network.SubnetArgs(id=within["endpoint_subnet_id"]),
        private_link_service_connections=[
            network.PrivateLinkServiceConnectionArgs(name=group, private_link_service_id=service_id, group_ids=[group])
        ],
        tags=within.get("tags", {}),
        opts=opts,
    )
    entry = network.PrivateDnsZoneGroup(
        f"{child}-dns",
        private_endpoint_name=endpoint.name,
        resource_group_name=within["resource_group_name"],
        private_dns_zone_group_name="default",
        private_dns_zone_configs=[network.PrivateDnsZoneConfigArgs(name=group, private_dns_zone_id=zone_id)],
        opts=opts,
    )
    return endpoint, entry
