"""The subnet of an Azure Batch pool and its security group, as far as a plan shows them."""

from collections.abc import Mapping

from gpufleet.plan import UNKNOWN, Resource
from gpufleet.plan.azure.graph import AzureGraph
from gpufleet.plan.property_values import blocks, get_path, items
from gpufleet.policies.azure.property_reader import PropertyReader
from gpufleet.rules.azure import nsg as azure_nsg

_GROUP = "network:NetworkSecurityGroup"
_MOUNTS = {
    "azureFileShareConfiguration": "file share",
    "cifsMountConfiguration": "file share",
    "nfsMountConfiguration": "NFS",
}


def validate_subnet(reading: PropertyReader, inter_node: bool) -> None:
    """What a Batch pool needs of its subnet's security group. Without a group of this plan there is nothing to say."""
    graph = reading.graph
    for subnet in graph.behind(reading.resource, "networkConfiguration", "network:Subnet"):
        for group in graph.behind(subnet, "networkSecurityGroup", _GROUP):
            entries = security_rules(graph, group)
            inside = azure_nsg.port_open(entries, "Inbound", azure_nsg.JOB_PORT)
            reading.add(azure_nsg.inter_node_open(group=group.name, inter_node=inter_node, open_inside=inside))
            for what in _mounted(reading):
                port = azure_nsg.MOUNT_PORTS[what]
                outside = azure_nsg.port_open(entries, "Outbound", port)
                reading.add(azure_nsg.mount_port_open(group=group.name, what=what, port=port, open_outside=outside))


def _mounted(reading: PropertyReader) -> list[str]:
    mounts = blocks(get_path(reading.props, "mountConfiguration"))
    return sorted({what for name, what in _MOUNTS.items() for each in mounts if each.get(name) is not None})


def security_rules(graph: AzureGraph, group: Resource) -> list[Mapping[str, object]] | None:
    """A group's rules, those that are resources of their own included; None where some are not known."""
    inline = get_path(graph.props(group), "securityRules")
    if inline is UNKNOWN or UNKNOWN in items(inline):
        return None
    apart = [
        graph.props(each)
        for each in graph.of("network:SecurityRule")
        if graph.named(each, "networkSecurityGroupName", _GROUP, "networkSecurityGroupName") is group
    ]
    return [*blocks(inline), *apart]
