"""Compute environments of a plan in the words of gpufleet.pools.eks_pool."""

from typing import Any

import pytest

from gpufleet.plan.pools import PlannedPool, planned_pools
from tests.policies.one_pool import BATCH, SUBNETS
from tests.policies.raw_program import plan_from


def batch(**resources: Any) -> PlannedPool | None:
    given = {"type": "EC2", "subnets": ["${a.id}"], "instanceTypes": ["p4d.24xlarge"], "maxVcpus": 200}
    program = {**SUBNETS, "pool": {"type": BATCH, "inputs": {"computeResources": given | resources}}}
    return next(iter(planned_pools(plan_from(program))), None)


@pytest.mark.parametrize(
    ("resources", "most", "least", "by_type"),
    [
        # BEST_FIT, the default, never exceeds the limit; 200 vCPUs are two nodes of 96.
        ({}, 2, 0, {"p4d.24xlarge": 2}),
        # The other strategies begin one instance more.
        ({"allocationStrategy": "BEST_FIT_PROGRESSIVE"}, 3, 0, {"p4d.24xlarge": 3}),
        ({"type": "SPOT"}, 3, 0, {"p4d.24xlarge": 3}),
        ({"maxVcpus": 192, "allocationStrategy": "BEST_FIT_PROGRESSIVE"}, 2, 0, {"p4d.24xlarge": 2}),
        (
            {"instanceTypes": ["g5.xlarge", "g5.48xlarge"], "minVcpus": 193},
            50,
            2,
            {"g5.xlarge": 50, "g5.48xlarge": 1},
        ),
        ({"maxVcpus": 95}, 0, 0, {"p4d.24xlarge": 0}),
    ],
)
def test_batch_counts_vcpus(resources: dict[str, Any], most: int, least: int, by_type: dict[str, int]) -> None:
    pool = batch(**resources)
    assert pool is not None
    assert (pool.kind, pool.intent["max"], pool.intent["min"], pool.intent["desired"]) == ("batch", most, least, least)
    assert pool.most_by_type == by_type


def test_batch_family_is_every_current_type_of_it() -> None:
    pool = batch(instanceTypes=["p4d"])
    assert pool is not None
    assert pool.intent["types"] == ["p4d.24xlarge"]


def test_batch_without_sizes_of_its_types_has_no_number_of_nodes() -> None:
    pool = batch(instanceTypes=["optimal"])
    assert pool is not None
    assert (pool.gpu, pool.most_by_type) == (False, {})
    assert pool.unknown == ("max",)
    assert pool.intent["min"] == 0


def test_fargate_and_unmanaged_environments_are_no_pools() -> None:
    assert batch(type="FARGATE") is None
    program = {"pool": {"type": BATCH, "inputs": {"type": "UNMANAGED"}}}
    assert planned_pools(plan_from(program)) == []
