"""A program with one pool on AWS, and the pool that is found in it."""

from typing import Any

from gpufleet.plan.pools import PlannedPool, planned_pools
from tests.policies.raw_program import plan_from

SUBNETS: dict[str, Any] = {
    "a": {"type": "aws:ec2/subnet:Subnet", "inputs": {"availabilityZoneId": "use1-az1"}},
    "b": {"type": "aws:ec2/subnet:Subnet", "inputs": {"availabilityZoneId": "use1-az2"}},
    "again": {"type": "aws:ec2/subnet:Subnet", "inputs": {"availabilityZoneId": "use1-az1"}},
    "named": {"type": "aws:ec2/subnet:Subnet", "inputs": {"availabilityZone": "us-east-1c"}},
    "also-named": {"type": "aws:ec2/subnet:Subnet", "inputs": {"availabilityZone": "us-east-1d"}},
    "anywhere": {"type": "aws:ec2/subnet:Subnet", "inputs": {}},
}
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
GROUP = "aws:ec2/placementGroup:PlacementGroup"
BATCH = "aws:batch/computeEnvironment:ComputeEnvironment"
SCALING = "aws:autoscaling/group:Group"
INSTANCE = "aws:ec2/instance:Instance"
BY_TEMPLATE = {"launchTemplate": {"id": "${template.id}", "version": "1"}}


def pool_of(
    kind: str,
    inputs: dict[str, Any],
    template: dict[str, Any] | None = None,
    zone_names: dict[str, str] | None = None,
    region: str | None = "us-east-1",
    **more: dict[str, Any],
) -> PlannedPool:
    """The one pool of a program."""
    program = {**SUBNETS, **more, "pool": {"type": kind, "inputs": inputs}}
    if template is not None:
        program["template"] = {"type": TEMPLATE, "inputs": template}
    (pool,) = planned_pools(plan_from(program, region), zone_names)
    return pool
