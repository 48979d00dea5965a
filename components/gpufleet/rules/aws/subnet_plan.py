"""Rules on the addresses of a network that is made here."""

from collections.abc import Mapping
from ipaddress import IPv4Network

from gpufleet.aws.subnet_plan import plan_subnets
from gpufleet.rules.coerce import text, texts, whole
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

MOST_ZONES = 7
"""Of eight slots one holds the public subnets. No AWS region has more than six zones (November 2026)."""


@rule("aws-network-max-zones", Severity.ERROR)
def max_zones_legal(*, max_zones: int, zones: int) -> Outcome:
    """A network has room for at least as many zones as it uses, and for at most seven.

    Source: gpufleet.aws.subnet_plan, which cuts a network into at most eight slots.
    """
    if max(zones, 1) <= max_zones <= MOST_ZONES:
        return passed()
    if zones > MOST_ZONES:
        return failed("zones", zones, "are too many zones for one network", f"name at most {MOST_ZONES}")
    problem = (
        f"the address plan keeps no room for {zones} zones" if max_zones < zones else "is more than any region has"
    )
    return failed("max_zones", max_zones, problem, f"use {max(zones, 1)} to {MOST_ZONES}")


@rule("aws-network-address-plan", Severity.ERROR)
def cidr_large_enough(*, cidr: str, max_zones: int) -> Outcome:
    """A network has room for a private and a public subnet of at least /28 in each zone that it keeps room for.

    Source: docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html
    """
    if max_zones not in range(1, MOST_ZONES + 1) or not _is_network(cidr):
        return passed()  # other rules report these
    try:
        plan_subnets(cidr, ["any"], max_zones)
    except ValueError:
        fix = f"use at least {_smallest(max_zones)}, better a /16: every pod takes an address"
        return failed("cidr", cidr, f"has no room for the subnets of {max_zones} zones", fix)
    return passed()


def _is_network(cidr: str) -> bool:
    try:
        IPv4Network(cidr)
    except ValueError:
        return False
    return True


def _smallest(max_zones: int) -> str:
    """The longest prefix, from /28 down, whose plan works out."""
    for prefix in range(28, 15, -1):
        try:
            plan_subnets(f"10.0.0.0/{prefix}", ["any"], max_zones)
        except ValueError:
            continue
        return f"a /{prefix}"
    raise AssertionError("a /16 has room for seven zones")


def validate_subnet_plan(args: Mapping[str, object], default_cidr: str, default_max_zones: int) -> list[Finding]:
    """Every finding on the address plan of a network. Reads cidr, max_zones, zones."""
    max_zones = whole(args, "max_zones", default_max_zones)
    return [
        max_zones_legal(max_zones=max_zones, zones=len(texts(args, "zones"))),
        cidr_large_enough(cidr=text(args, "cidr", default_cidr), max_zones=max_zones),
    ]
