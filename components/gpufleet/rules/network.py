"""Rules on the network of a fleet."""

from collections.abc import Mapping

from gpufleet.rules.rule import Finding


def judge_network(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on a network. Reads region, zones, cidr, nat (none, single, per-zone), interface_endpoints, tags."""
    return []
