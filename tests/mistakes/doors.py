"""The three doors, each as a function from a mistake's input to the findings there, passes and advice included.

Constructors call the judges of our components' arguments, packs judge raw resources, and preflight judges facts of an
account. `reported` is what a user sees of a pack: its policies run as `pulumi preview --policy-pack` would run them,
behind the policy SDK's own proxies.
"""

import runpy
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from accounts import judge_account, judge_stack
from corpus import BATCH, CONSTRUCTORS, Mistake
from pulumi_policy import EnforcementLevel, StackValidationPolicy
from raw_program import plan_from, policy_args

from gpufleet.plan import Plan
from gpufleet.policies import cost, ownership, zones
from gpufleet.policies.pack import Judge, plan_of
from gpufleet.rules import (
    Finding,
    judge_batch_environment,
    judge_batch_queue,
    judge_cluster,
    judge_network,
    judge_outputs_bucket,
    judge_pool,
    judge_registry,
    judge_shared_files,
    judge_training_job,
)
from gpufleet.rules.aws.address_plan import judge_address_plan
from gpufleet.rules.aws.cluster_access import judge_cluster_access
from gpufleet.rules.aws.existing_network import judge_existing_network
from gpufleet.rules.aws.registry_host import judge_registry_host
from gpufleet.rules.aws.system_nodes import judge_system_nodes
from gpufleet.rules.judged import Judged
from gpufleet.rules.kubernetes.mpi_job import judge_mpi_job

PACKS = Path(__file__).parents[2] / "policies"
JUDGES: Mapping[str, list[tuple[Judge, Mapping[str, object]]]] = {
    "zones": [(zones.judge_zones_of, zones.PROPERTIES)],
    "cost": [(cost.judge_cost, cost.PROPERTIES), (ownership.judge_ownership, ownership.PROPERTIES)],
}
JUDGES_OF_BATCH = dict(
    zip(BATCH, (judge_batch_environment, judge_batch_queue, judge_training_job, judge_outputs_bucket), strict=True)
)
ADDONS = ("aws-efs-csi-driver", "coredns", "eks-pod-identity-agent", "kube-proxy", "vpc-cni")


def findings(mistake: Mistake, door: str, given: Mapping[str, Any]) -> list[Finding]:
    """Every finding of a door on what goes through it."""
    if door in CONSTRUCTORS:
        return _constructed(door, given, mistake.region)
    if door == "resources":
        return [each.finding for each in judged(mistake, given)]
    if door == "stack":
        return [each.finding for each in judge_stack(given, mistake.region)]
    return [each.finding for each in judge_account(given["resources"], given, mistake.region)]


def judged(mistake: Mistake, resources: Mapping[str, Any]) -> list[Judged]:
    """Every finding of a pack on raw resources, as behind the SDK's proxies."""
    args = policy_args(resources, mistake.config, mistake.region)
    return _judged(plan_of(args.resources), mistake.pack, mistake.config)


def judged_plainly(resources: Mapping[str, Any], pack: str, config: Mapping[str, Any], region: str) -> list[Judged]:
    """Every finding of a pack on the plan of raw resources, as `gpufleet cost` and the others read it."""
    return _judged(plan_from(resources, region), pack, config)


def _judged(plan: Plan, pack: str, config: Mapping[str, Any]) -> list[Judged]:
    found: list[Judged] = []
    for judge, properties in JUDGES[pack]:
        found += judge(plan, {key: value for key, value in config.items() if key in properties})
    return found


def reported(mistake: Mistake, resources: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """The lines by which a pack refuses, and those by which it warns, as the engine shows them."""
    refusing: list[str] = []
    advising: list[str] = []
    for policy in policies_of(mistake.pack):
        known = policy.config_schema.properties if policy.config_schema else {}
        config = {key: value for key, value in mistake.config.items() if key in known}
        lines = refusing if policy.enforcement_level is EnforcementLevel.MANDATORY else advising
        args = policy_args(resources, config, mistake.region)
        policy.validate(args, lambda line, urn=None, lines=lines: lines.append(line))
    return refusing, advising


@cache
def policies_of(pack: str) -> list[StackValidationPolicy]:
    """The policies that a pack's __main__.py hands to Pulumi."""
    handed: list[StackValidationPolicy] = []
    with patch("pulumi_policy.PolicyPack", lambda name, policies: handed.extend(policies)):
        runpy.run_path(str(PACKS / pack / "__main__.py"))
    return handed


def _constructed(door: str, args: Mapping[str, Any], region: str) -> list[Finding]:
    if door == "pool":
        return judge_pool(args, region)
    if door == "network":
        plan = judge_address_plan(args, "10.0.0.0/16", 3)
        return [*judge_network(args), *judge_existing_network(args), *plan]
    if door == "cluster":
        system = judge_system_nodes(args, (["m7i.large"], 2, 3, 50))
        return [*judge_cluster(args), *judge_cluster_access(args, ADDONS), *system]
    if door in BATCH:
        return JUDGES_OF_BATCH[door](args)
    if door == "mpi_job":
        return judge_mpi_job("llm", args)
    if door == "files":
        return judge_shared_files(args)
    return [*judge_registry(args), *judge_registry_host(args)]
