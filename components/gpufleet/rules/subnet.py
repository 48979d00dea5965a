"""Rules on the subnets that a component is given, one per zone."""

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Network

from gpufleet.catalog import aws
from gpufleet.rules.coerce import mapping, text, texts
from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule, unverified

RESERVED = 5
"""Addresses of every subnet that AWS keeps: docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html"""


@rule("any-subnet-for-zone", Severity.ERROR)
def subnet_for_zone(*, zone: str, zones_with_subnet: Sequence[str]) -> Outcome:
    """Every zone of a component has a subnet for its resources.

    Source: an EKS node group and an EFS mount target are placed by subnet, never by zone.
    """
    if zone in zones_with_subnet:
        return passed()
    others = join_words(sorted(zones_with_subnet))
    fix = f"give the subnet of {zone}" + (f", or use {others}" if others else "")
    return failed("subnet_ids", list(zones_with_subnet), f"there is no subnet in zone {zone}", fix)


@rule("aws-subnet-nodes", Severity.ERROR)
def nodes_fit(*, cidrs: Sequence[str], nodes: int, interfaces: int) -> Outcome:
    """Subnets have an address for each of a pool's nodes; `interfaces`: those of a node that have one.

    Source: https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html; InsufficientFreeAddressesInSubnet
    (aws/karpenter-provider-aws#3380).
    """
    free = _free(cidrs)
    if free is None:
        return _not_known(cidrs, nodes)
    return _enough_addresses(cidrs, free, nodes, interfaces)


@rule("aws-subnet-addresses", Severity.WARNING)
def pods_fit(*, cidrs: Sequence[str], nodes: int, per_node: int | None) -> Outcome:
    """Subnets have the addresses that a pool's nodes reserve for their pods; `per_node` is None where not known.

    Nodes start without them, but their pods do not.

    Source: https://github.com/aws/amazon-vpc-cni-k8s/blob/master/docs/eni-and-ip-target.md: WARM_ENI_TARGET is 1 by
    default, so that a node holds all addresses of one spare interface; aws/karpenter-provider-aws#3380.
    """
    free = _free(cidrs)
    if free is None:
        return _not_known(cidrs, nodes)
    if per_node is None:
        problem = f"{_have(cidrs, free)}, and how many each node holds for its pods is not known"
        return unverified("max", nodes, problem, "look at the VPC CNI's WARM_ENI_TARGET and WARM_IP_TARGET")
    return _enough_addresses(cidrs, free, nodes, per_node)


def validate_addresses(cidrs: Sequence[str], nodes: int, per_node: int | None, interfaces: int = 1) -> list[Finding]:
    """Every finding on the addresses of a pool: in subnets of these IPv4 ranges, with at most so many nodes.

    per_node: addresses that a node holds, its own among them; None where nobody knows. interfaces: those of a node
    that have an address (interfaces of kind efa-only have none).
    """
    return [
        nodes_fit(cidrs=cidrs, nodes=nodes, interfaces=interfaces),
        pods_fit(cidrs=cidrs, nodes=nodes, per_node=per_node),
    ]


def _free(cidrs: Sequence[str]) -> list[int] | None:
    """Addresses of each subnet that AWS hands out; None if a range cannot be read."""
    try:
        return [max(0, IPv4Network(cidr).num_addresses - RESERVED) for cidr in cidrs]
    except ValueError:
        return None


def _enough_addresses(cidrs: Sequence[str], free: Sequence[int], nodes: int, each: int) -> Outcome:
    # A node lies in one subnet, so what is left over in several does not add up.
    fitting = sum(addresses // each for addresses in free)
    if nodes <= fitting:
        return passed()
    problem = f"{_have(cidrs, free)}, room for {fitting} nodes with {each} each"
    return failed("max", nodes, problem, f"use {fitting} or fewer, or larger subnets")


def _have(cidrs: Sequence[str], free: Sequence[int]) -> str:
    verb = "has" if len(cidrs) == 1 else "have"
    return f"{join_words(cidrs, 'and')} {verb} {join_words(map(str, free), 'and')} addresses"


def _not_known(cidrs: Sequence[str], nodes: int) -> Outcome:
    problem = f"the range of {join_words(cidrs, 'and')} cannot be read"
    return unverified("max", nodes, problem, "give IPv4 ranges such as 10.0.64.0/18")


def validate_subnets(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on the subnets of a component. Reads region, zones (zone ids) and subnet_ids (zone id to subnet).

    A zone that its region does not have is for `validate_zones`.
    """
    known = tuple(mapping(args, "subnet_ids"))
    zones = aws().regions.get(text(args, "region"), {})
    checked = [zone for zone in texts(args, "zones") if not zones or zone in zones or zone in known]
    return [subnet_for_zone(zone=zone, zones_with_subnet=known) for zone in checked]
