"""Rules on the subnets that a component is given, one per zone."""

from collections.abc import Mapping, Sequence

from gpufleet.rules.read import mapping, texts
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule
from gpufleet.rules.wording import listed


@rule("any-subnet-for-zone", Severity.ERROR)
def subnet_for_zone(*, zone: str, zones_with_subnet: Sequence[str]) -> Outcome:
    """Every zone of a component has a subnet to put its resources in.

    Source: an EKS node group and an EFS mount target are placed by subnet, never by zone.
    """
    if zone in zones_with_subnet:
        return passed()
    others = listed(sorted(zones_with_subnet))
    fix = f"give the subnet of {zone}" + (f", or use {others}" if others else "")
    return failed("subnet_ids", list(zones_with_subnet), f"there is no subnet in zone {zone}", fix)


def judge_subnets(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on the subnets of a component. Reads zones (zone ids) and subnet_ids (zone id to subnet)."""
    known = tuple(mapping(args, "subnet_ids"))
    return [subnet_for_zone(zone=zone, zones_with_subnet=known) for zone in texts(args, "zones")]
