"""The existing subnets of AKS clusters in a plan: whether their nodes' way out may reach the API server."""

import ipaddress
from collections.abc import Callable, Iterable, Sequence

from gpufleet.plan.azure.graph import AzureGraph
from gpufleet.plan.property_values import blocks, get_path, items
from gpufleet.plan.resource import Plan, Resource
from gpufleet.preflight.azure.facts import AzureFacts
from gpufleet.preflight.query_results import QueryRunner
from gpufleet.rules.azure.cluster import nodes_reach_api
from gpufleet.rules.resource_finding import ResourceFinding, findings_on
from gpufleet.rules.rule import Finding

CLUSTER, POOL = "containerservice:ManagedCluster", "containerservice:AgentPool"


def validate_cluster_networks(
    plan: Plan, account: Callable[[str], AzureFacts], queries: QueryRunner
) -> list[ResourceFinding]:
    """A finding on each cluster with authorized ranges and a NAT gateway, for each subnet that exists already.

    Without such a subnet nothing is asked. account: the subscription seen in a region.
    """
    graph = AzureGraph(plan)
    found: list[ResourceFinding] = []
    for cluster in graph.of(CLUSTER):
        props = graph.props(cluster)
        ranges = items(get_path(props.get("apiServerAccessProfile"), "authorizedIPRanges"))
        if not ranges or get_path(props.get("networkProfile"), "outboundType") != "userAssignedNATGateway":
            continue
        for subnet in _subnets(graph, cluster):
            facts = queries.ask(account, graph.location(cluster) or "").value
            addresses = None if facts is None else _addresses(subnet, facts, queries)
            found += findings_on(cluster, [_reach(ranges, addresses)])
    return found


def _subnets(graph: AzureGraph, cluster: Resource) -> Iterable[str]:
    """Ids of the existing subnets of a cluster's nodes: of its own pools, and of those that refer to it."""
    named = [get_path(each, "vnetSubnetID") for each in blocks(graph.props(cluster).get("agentPoolProfiles"))]
    for pool in graph.of(POOL):
        if cluster in graph.behind(pool, "resourceName", CLUSTER):
            named.append(graph.props(pool).get("vnetSubnetID"))
    return dict.fromkeys(each for each in named if isinstance(each, str))


def _addresses(subnet: str, facts: AzureFacts, queries: QueryRunner) -> Sequence[str] | None:
    answer = queries.ask(facts.outbound_addresses, subnet)
    if answer.known and not answer.value:
        queries.add(f"{subnet}: has no NAT gateway with a public address, and the cluster's nodes go out through one")
    return answer.value or None


def _reach(ranges: Sequence[object], addresses: Sequence[str] | None) -> Finding:
    known = [each for each in ranges if isinstance(each, str)]
    missing = [each for each in addresses or () if not any(_within(each, allowed) for allowed in known)]
    unclear = addresses is None or (missing and len(known) < len(ranges))
    return nodes_reach_api(
        ranges=[each if isinstance(each, str) else "(not known)" for each in ranges],
        outbound="nat-gateway",
        included=None if unclear else not missing,
        missing=() if unclear else missing,
    )


def _within(address: str, allowed: str) -> bool:
    try:
        return ipaddress.IPv4Network(address).subnet_of(ipaddress.IPv4Network(allowed))
    except ValueError:
        return False
