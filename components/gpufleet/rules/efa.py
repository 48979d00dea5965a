"""Rules on EFA, AWS's network for multi-node training."""

from collections.abc import Sequence

from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule

NETWORKS = ("plain", "efa")


@rule("aws-efa-supported", Severity.ERROR)
def supported(*, network: str, type_name: str, efa_interfaces: int, larger: Sequence[str]) -> Outcome:
    """A pool with EFA has instance types with EFA; `larger` are types of the same family that have it.

    Source: EfaInfo of DescribeInstanceTypes, as the catalog has it.
    """
    if network != "efa" or efa_interfaces > 0:
        return passed()
    fix = f"use {join_words(larger)}, or set network=plain" if larger else "set network=plain"
    return failed("types", type_name, "has no EFA", fix)


@rule("aws-efa-one-zone", Severity.ERROR)
def one_zone(*, network: str, zones: Sequence[str]) -> Outcome:
    """A pool with EFA lies in one zone.

    Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html#efa-limits: EFA traffic does not cross zones.
    """
    if network != "efa" or len(zones) < 2:
        return passed()
    return failed("zones", list(zones), "EFA traffic does not cross zones", "keep one zone, or make a pool for each")


@rule("aws-efa-same-cards", Severity.ERROR)
def same_cards(*, network: str, types: Sequence[str], layouts: Sequence[str]) -> Outcome:
    """All types of a pool with EFA have the same network cards; `layouts` describes them, such as 32 EFA interfaces.

    Source: one launch template holds one list of network interfaces, each with the index of its network card.
    """
    kinds = sorted(set(layouts))
    if network != "efa" or len(kinds) < 2:
        return passed()
    fix = "make a pool for each, or set network=plain"
    return failed("types", list(types), f"has types with {join_words(kinds, 'and')} in one launch template", fix)


@rule("aws-efa-private", Severity.ERROR)
def private(*, public_addresses: bool, type_name: str, interfaces: int) -> Outcome:
    """Nodes with several network interfaces have no public addresses.

    Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html; EC2 RunInstances: The
    associatePublicIPAddress parameter cannot be specified when launching with multiple network interfaces.
    """
    if not public_addresses or interfaces < 2:
        return passed()
    problem = f"EC2 gives no public address to {type_name} with {interfaces} network interfaces"
    return failed("public_addresses", True, problem, "set public_addresses=false and use a subnet with a NAT gateway")


@rule("aws-efa-near", Severity.INFO)
def near(*, network: str, placement: str, capacity: str) -> Outcome:
    """Nodes with EFA are placed close together; reserved capacity is placed by AWS.

    Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html: a cluster placement group is advised.
    """
    if network != "efa" or placement != "none" or capacity in ("reservation", "capacity-block"):
        return passed()
    return failed(
        "placement", placement, "nodes may lie far apart in their zone", "set placement=create for low latency"
    )


@rule("any-pool-private", Severity.WARNING)
def pool_private(*, public_addresses: bool) -> Outcome:
    """Nodes have no public addresses.

    Source: https://docs.aws.amazon.com/eks/latest/best-practices/subnets.html: nodes belong into private subnets; each
    public IPv4 address costs 0.005 USD per hour.
    """
    if not public_addresses:
        return passed()
    problem = "gives each node an address that the internet can reach"
    return failed("public_addresses", True, problem, "set public_addresses=false and use a subnet with a NAT gateway")
