"""The plan of a Batch environment: nodes become vCPUs and never more nodes run, or are billed, than asked for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpufleet.aws.batch_environment_plan import plan_batch_environment
from gpufleet.catalog import aws
from gpufleet.cost.line_item import LineItem
from gpufleet.cost.pool_cost import pool_cost
from gpufleet.cost.usage_assumptions import HOURS, UsageAssumptions
from gpufleet.plan import Plan
from gpufleet.plan.pools import PlannedPool, planned_pools
from tests.policies.raw_program import plan_from

TYPES = sorted(name for name, record in aws().types.items() if record.retired is None)
PRICES = {name: aws().prices.get((name, "us-east-1", "on-demand")) for name in TYPES}
PRICED = [name for name, record in PRICES.items() if record and record.usd_per_hour is not None]
ENVIRONMENT = "aws:batch/computeEnvironment:ComputeEnvironment"


def intent(types: list[str], most: int, **words: object) -> dict[str, object]:
    return {"types": types, "max": most, "zones": ["use1-az1"], **words}


def planned(args: dict[str, object]) -> tuple[PlannedPool, Plan]:
    """The environment's pool as `gpufleet cost` and the packs read it from a plan, and the plan."""
    plan = plan_batch_environment(args)
    resources = {
        "type": plan.compute_type,
        "allocationStrategy": plan.strategy,
        "instanceTypes": list(plan.types),
        "minVcpus": plan.min_vcpus,
        "maxVcpus": plan.max_vcpus,
        "subnets": ["${inside.id}"],
    }
    program = {
        "inside": {"type": "aws:ec2/subnet:Subnet", "inputs": {"availabilityZoneId": "use1-az1"}},
        "trainers": {"type": ENVIRONMENT, "inputs": {"type": "MANAGED", "computeResources": resources}},
    }
    whole = plan_from(program)
    return planned_pools(whole)[0], whole


def nodes_line(args: dict[str, object]) -> LineItem:
    """What `gpufleet cost` says of the environment's nodes."""
    pool, whole = planned(args)
    return next(line for line in pool_cost(pool, whole, UsageAssumptions()).lines if line.what.startswith("nodes: "))


@given(type_name=st.sampled_from(TYPES), least=st.integers(0, 9), most=st.integers(9, 1000))
def test_nodes_of_one_type_are_exactly_as_many_as_asked_for(type_name: str, least: int, most: int) -> None:
    pool, _ = planned(intent([type_name], most, min=least))
    assert (pool.intent["min"], pool.intent["max"], pool.most_by_type) == (least, most, {type_name: most})


@given(types=st.lists(st.sampled_from(TYPES), min_size=1, max_size=4, unique=True), most=st.integers(1, 1000))
def test_nodes_of_several_types_are_never_more_than_asked_for(types: list[str], most: int) -> None:
    pool, _ = planned(intent(types, most, capacity="spot"))
    assert pool.intent["max"] == most
    assert all(1 <= nodes <= most for nodes in pool.most_by_type.values())


@pytest.mark.parametrize("capacity", ["on-demand", "spot"])
@pytest.mark.parametrize("type_name", ["g5.8xlarge", "p4d.24xlarge", "p5.48xlarge"])
@pytest.mark.parametrize("most", [1, 3, 512])
def test_floor_is_0_and_ceiling_is_nodes_times_price(type_name: str, most: int, capacity: str) -> None:
    line = nodes_line(intent([type_name], most, capacity=capacity))
    price = aws().prices[type_name, "us-east-1", "on-demand"].usd_per_hour
    assert line.month("floor") == 0
    assert line.month("ceiling") == pytest.approx(most * price * HOURS)


@given(types=st.lists(st.sampled_from(PRICED), min_size=2, max_size=4, unique=True), most=st.integers(1, 100))
def test_ceiling_is_at_most_nodes_times_the_dearest_price(types: list[str], most: int) -> None:
    dearest = max(aws().prices[each, "us-east-1", "on-demand"].usd_per_hour for each in types)
    ceiling = nodes_line(intent(types, most, capacity="spot")).month("ceiling")
    assert ceiling is not None
    assert ceiling <= most * dearest * HOURS * (1 + 1e-9)


def test_words_of_batch() -> None:
    plan = plan_batch_environment(intent(["p4d.24xlarge"], 2))
    assert (plan.compute_type, plan.strategy, plan.market, plan.image_id) == ("EC2", "BEST_FIT_PROGRESSIVE", None, None)
    spot = plan_batch_environment(intent(["p4d.24xlarge"], 2, capacity="spot"))
    assert (spot.compute_type, spot.strategy, spot.market) == ("SPOT", "SPOT_PRICE_CAPACITY_OPTIMIZED", None)
