"""The address plan: layouts that must stay as they are, and what holds for every plan."""

from ipaddress import IPv4Network
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpufleet.aws.subnet_plan import ZoneSubnets, plan_subnets

# A plan that changes replaces the subnets of running fleets: these stand for good.
LAYOUTS = {
    "default, two zones": (
        ("10.0.0.0/16", ["use1-az1", "use1-az2"], 3),
        [
            ZoneSubnets("use1-az1", "10.0.64.0/18", "10.0.0.0/24"),
            ZoneSubnets("use1-az2", "10.0.128.0/18", "10.0.1.0/24"),
        ],
    ),
    "default, full": (
        ("10.0.0.0/16", ["a", "b", "c"], 3),
        [
            ZoneSubnets("a", "10.0.64.0/18", "10.0.0.0/24"),
            ZoneSubnets("b", "10.0.128.0/18", "10.0.1.0/24"),
            ZoneSubnets("c", "10.0.192.0/18", "10.0.2.0/24"),
        ],
    ),
    "one zone gets half": (
        ("10.1.0.0/16", ["a"], 1),
        [ZoneSubnets("a", "10.1.128.0/17", "10.1.0.0/24")],
    ),
    "room for seven": (
        ("10.0.0.0/16", ["a", "b"], 7),
        [ZoneSubnets("a", "10.0.32.0/19", "10.0.0.0/24"), ZoneSubnets("b", "10.0.64.0/19", "10.0.1.0/24")],
    ),
    "room for four needs eight slots": (
        ("10.0.0.0/16", ["a"], 4),
        [ZoneSubnets("a", "10.0.32.0/19", "10.0.0.0/24")],
    ),
    "smallest for any number of zones": (
        ("10.0.0.0/22", ["a"], 7),
        [ZoneSubnets("a", "10.0.0.128/25", "10.0.0.0/28")],
    ),
    "smallest for three zones": (
        ("192.168.7.0/24", ["a", "b", "c"], 3),
        [
            ZoneSubnets("a", "192.168.7.64/26", "192.168.7.0/28"),
            ZoneSubnets("b", "192.168.7.128/26", "192.168.7.16/28"),
            ZoneSubnets("c", "192.168.7.192/26", "192.168.7.32/28"),
        ],
    ),
}


@pytest.mark.parametrize(("arguments", "plan"), LAYOUTS.values(), ids=LAYOUTS.keys())
def test_layouts_stand(arguments, plan):
    assert plan_subnets(*arguments) == plan


@st.composite
def plans(draw):
    """A legal request: range, number of zones, and zones to keep room for."""
    prefix = draw(st.integers(16, 22))
    block = draw(st.integers(0, 2**prefix - 1))
    max_zones = draw(st.integers(1, 7))
    count = draw(st.integers(1, max_zones))
    return str(IPv4Network((block << (32 - prefix), prefix))), [f"z{number}" for number in range(count)], max_zones


def _networks(plan: list[ZoneSubnets]) -> list[IPv4Network]:
    return [IPv4Network(cidr) for zone in plan for cidr in (zone.private, zone.public)]


@given(plans())
def test_subnets_lie_inside_and_apart(request_):
    cidr, zones, max_zones = request_
    networks = _networks(plan_subnets(cidr, zones, max_zones))
    assert all(network.subnet_of(IPv4Network(cidr)) for network in networks)
    assert not any(one.overlaps(other) for one, other in combinations(networks, 2))


@given(plans())
def test_subnets_are_legal_and_private_ones_large(request_):
    cidr, zones, max_zones = request_
    plan = plan_subnets(cidr, zones, max_zones)
    assert [zone.zone for zone in plan] == zones
    assert all(network.prefixlen <= 28 for network in _networks(plan))
    size = IPv4Network(cidr).num_addresses
    for zone in plan:
        private = IPv4Network(zone.private).num_addresses
        assert private >= size / (2 * max_zones)
        assert IPv4Network(zone.public).num_addresses <= private


@given(plans())
def test_an_appended_zone_moves_nothing(request_):
    cidr, zones, max_zones = request_
    whole = plan_subnets(cidr, zones, max_zones)
    for count in range(1, len(zones)):
        assert plan_subnets(cidr, zones[:count], max_zones) == whole[:count]


@pytest.mark.parametrize(
    ("cidr", "zones", "max_zones", "reason"),
    [
        ("10.0.0.0/16", [], 3, "0 zones do not fit into a plan for 3"),
        ("10.0.0.0/16", ["a", "b"], 1, "2 zones do not fit into a plan for 1"),
        ("10.0.0.0/25", ["a"], 3, "10.0.0.0/25 is too small for subnets in 3 zones"),
        ("10.0.0.0/24", ["a"], 7, "10.0.0.0/24 is too small for subnets in 7 zones"),
        ("10.0.0.0/28", ["a"], 1, "10.0.0.0/28 is too small for subnets in 1 zones"),
        ("10.0.0.1/16", ["a"], 1, "10.0.0.1/16 has host bits set"),
        ("fd00::/56", ["a"], 1, "Unexpected '/' in 'fd00::/56'|Expected 4 octets in 'fd00::'"),
    ],
)
def test_impossible_plans(cidr, zones, max_zones, reason):
    with pytest.raises(ValueError, match=reason):
        plan_subnets(cidr, zones, max_zones)
