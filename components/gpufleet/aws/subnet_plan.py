"""Which addresses each subnet of a network gets: plain arithmetic, decided before the first resource.

The network is cut into equal slots, their number the smallest power of two above ``max_zones``. The first slot holds
the small public subnets, each further slot is the private subnet of one zone, in the order of the zones. So appending
a zone takes the next slot and changes no subnet that exists; a change of ``max_zones`` changes them all.

With 10.0.0.0/16 and room for three zones, a private subnet has 16,379 addresses that AWS hands out, a public one 251.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network

SMALLEST = 28
"""Prefix length of the smallest subnet that AWS makes (docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html)."""

PUBLIC_BITS = 8
"""A public subnet is this many bits smaller than the network: /24 in a /16, enough for NAT and load balancers."""


@dataclass(frozen=True)
class ZoneSubnets:
    """The two subnets of one zone, as CIDRs."""

    zone: str
    private: str
    public: str


def plan_subnets(cidr: str, zones: Sequence[str], max_zones: int) -> list[ZoneSubnets]:
    """The subnets of each zone, in the order of ``zones``.

    Raises ValueError, with a reason for people, if ``cidr`` is not an IPv4 network, if there are no zones or more than
    ``max_zones``, or if the subnets would be smaller than AWS allows.
    """
    network = IPv4Network(cidr)
    if not 1 <= len(zones) <= max_zones:
        raise ValueError(f"{len(zones)} zones do not fit into a plan for {max_zones}")
    private_prefix = network.prefixlen + max_zones.bit_length()
    public_prefix = min(SMALLEST, network.prefixlen + PUBLIC_BITS)
    if private_prefix > SMALLEST or 2 ** (public_prefix - private_prefix) < max_zones:
        raise ValueError(f"{cidr} is too small for subnets in {max_zones} zones")
    public_slot, *private = network.subnets(new_prefix=private_prefix)
    public = public_slot.subnets(new_prefix=public_prefix)
    return [
        ZoneSubnets(zone, str(inside), str(outside))
        for zone, inside, outside in zip(zones, private, public, strict=False)
    ]
