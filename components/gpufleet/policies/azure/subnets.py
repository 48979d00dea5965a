"""The subnets of Azure pools, as far as a plan shows them: security groups of Batch's, sizes of those of AKS."""

from collections.abc import Iterator, Mapping

from gpufleet.plan import UNKNOWN, Resource
from gpufleet.plan.azure.graph import AzureGraph
from gpufleet.plan.property_values import blocks, get_path, items, number
from gpufleet.policies.azure.property_reader import PropertyReader
from gpufleet.rules.azure import nsg as azure_nsg
from gpufleet.rules.azure.subnet_size import USUAL_PODS, subnet_size
from gpufleet.rules.resource_finding import ResourceFinding, findings_on

_CLUSTER = "containerservice:ManagedCluster"
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


def validate_subnet_sizes(graph: AzureGraph) -> list[ResourceFinding]:
    """A finding on each subnet of the program that holds pools of AKS whose size is known."""
    taken: dict[str, list[tuple[int, int]]] = {}
    for cluster in graph.of(_CLUSTER):
        network = get_path(graph.props(cluster), "networkProfile")
        plugin, mode = get_path(network, "networkPlugin"), get_path(network, "networkPluginMode")
        pods_inside = plugin == "azure" and mode is None
        for resource, name, props in _pools_of(graph, cluster):
            subnets = graph.behind(resource, name, "network:Subnet")
            # Of a cluster's profiles is known which subnets they are made from together, not which is whose.
            if len(subnets) == 1 and props.get("vnetSubnetID") is not None:
                nodes = max(number(props.get("maxCount")) or 0, number(props.get("count")) or 0)
                alone = not pods_inside or props.get("podSubnetID") is not None
                pods = 0 if alone else nodes * (number(props.get("maxPods")) or USUAL_PODS)
                taken.setdefault(subnets[0].urn, []).append((nodes, pods))
    found: list[ResourceFinding] = []
    for urn, pools_inside in taken.items():
        subnet = graph.plan.by_urn[urn]
        cidr = get_path(graph.props(subnet), "addressPrefix")
        if isinstance(cidr, str):
            nodes, pods = (sum(each) for each in zip(*pools_inside, strict=True))
            found += findings_on(subnet, [subnet_size(subnet=subnet.name, cidr=cidr, nodes=nodes, pods=pods)])
    return found


def _pools_of(graph: AzureGraph, cluster: Resource) -> Iterator[tuple[Resource, str, Mapping[str, object]]]:
    """Of each pool: the resource, its property that leads to the subnet, and the pool's properties."""
    for profile in blocks(graph.props(cluster).get("agentPoolProfiles")):
        yield cluster, "agentPoolProfiles", profile
    for pool in graph.of("containerservice:AgentPool"):
        if graph.named(pool, "resourceName", _CLUSTER, "resourceName") is cluster:
            yield pool, "vnetSubnetID", graph.props(pool)


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
