"""Rules on the addresses of an Azure environment: room for its nodes, and ranges apart from those of its cluster."""

from collections.abc import Mapping
from ipaddress import IPv4Network

from gpufleet.azure.subnet_plan import plan_azure_subnets
from gpufleet.rules.azure.network import DEFAULT_CIDR
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

RESERVED = 5
"""Addresses of every subnet that Azure keeps: learn.microsoft.com/azure/virtual-network/virtual-networks-faq"""
RANGES = {"pod_cidr": "10.244.0.0/16", "service_cidr": "10.0.0.0/16"}
"""A cluster's own ranges, with AKS's defaults."""
_BITS_OF_ROLE = 2
"""A role's subnet is a quarter of the network."""


@rule("azure-stack-addresses", Severity.ERROR)
def addresses_enough(*, cidr: str, role: str, subnet: str, nodes: int) -> Outcome:
    """A subnet that is made here has an address for each node that the pools in it may have; `role`: nodes or batch.

    Pods have none of it, as they are in an overlay.
    Source: https://learn.microsoft.com/azure/aks/azure-cni-overlay: one address per node;
    https://learn.microsoft.com/azure/batch/batch-virtual-network: the subnet has an address for each node of a pool,
    or the pool stays smaller, with a resize error.
    """
    free = IPv4Network(subnet).num_addresses - RESERVED
    if nodes <= free:
        return passed()
    of = "Azure Batch" if role == "batch" else "the cluster"
    problem = f"{of} may have {nodes} nodes, and its part {subnet} has {free} addresses"
    prefix = 32 - (nodes + RESERVED - 1).bit_length() - _BITS_OF_ROLE
    return failed("cidr", cidr, problem, f"use a range of /{prefix} or larger, or lower max")


@rule("azure-stack-ranges-apart", Severity.ERROR)
def ranges_apart(*, cidr: str, argument: str, other: str) -> Outcome:
    """The range of the virtual network shares no address with those of the cluster's pods and services.

    Source: https://learn.microsoft.com/azure/aks/configure-azure-cni (ServiceCidrOverlapExistingSubnetsCidr),
    https://learn.microsoft.com/azure/aks/azure-cni-overlay
    """
    try:
        apart = not IPv4Network(cidr).overlaps(IPv4Network(other))
    except ValueError:
        # What is not a range has been reported.
        return passed()
    if apart:
        return passed()
    problem = f"overlaps gpufleet:cluster.{argument}={other}"
    return failed("cidr", cidr, problem, f"use one such as {DEFAULT_CIDR}, or give the cluster another {argument}")


def validate_azure_addresses(
    cidr: str, nodes: Mapping[str, int], cluster: Mapping[str, object] | None
) -> list[Finding]:
    """Findings on a network that is made here.

    nodes: the most nodes of each role of `plan_azure_subnets`. cluster: the arguments of the cluster, None without one.
    A range that cannot be cut into subnets has no findings here: `azure-network-cidr` says so.
    """
    ranges = {} if cluster is None else {name: str(cluster.get(name, usual)) for name, usual in RANGES.items()}
    found = [ranges_apart(cidr=cidr, argument=name, other=other) for name, other in ranges.items()]
    try:
        subnets = plan_azure_subnets(cidr)
    except ValueError:
        return found
    room = [addresses_enough(cidr=cidr, role=role, subnet=subnets[role], nodes=most) for role, most in nodes.items()]
    return [*found, *room]
