"""The cut of a virtual network of Azure into subnets."""

from ipaddress import IPv4Network
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpufleet.azure.subnet_plan import ROLES, plan_azure_subnets


def test_the_default():
    assert plan_azure_subnets("10.60.0.0/16") == {
        "nodes": "10.60.0.0/18",
        "batch": "10.60.64.0/18",
        "endpoints": "10.60.128.0/20",
    }


def test_the_smallest():
    assert plan_azure_subnets("10.60.0.0/24") == {
        "nodes": "10.60.0.0/26",
        "batch": "10.60.0.64/26",
        "endpoints": "10.60.0.128/28",
    }
    with pytest.raises(ValueError, match="too small"):
        plan_azure_subnets("10.60.0.0/25")


@given(st.integers(8, 24), st.integers(0, 255))
def test_subnets_lie_inside_and_apart(prefix, second):
    whole = IPv4Network((f"10.{second}.0.0", prefix), strict=False)
    parts = [IPv4Network(cidr) for cidr in plan_azure_subnets(str(whole)).values()]
    assert len(parts) == len(ROLES)
    assert all(part.subnet_of(whole) for part in parts)
    assert not any(one.overlaps(other) for one, other in combinations(parts, 2))
