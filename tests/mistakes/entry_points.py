"""The three entry points, each as a function from a mistake's input to the findings there, passes and advice included.

Constructors validate the arguments of our components, packs check raw resources, and preflight checks facts of an
account. `reported` is what a user sees of a pack: its policies run as `pulumi preview --policy-pack` would run them,
behind the policy SDK's own proxies.
"""

import runpy
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from pulumi_policy import EnforcementLevel, StackValidationPolicy

from gpufleet.plan import Plan
from gpufleet.policies import cost, feasibility, ownership
from gpufleet.policies.pack import PlanCheck, plan_of
from gpufleet.rules import (
    Finding,
    validate_batch_environment,
    validate_batch_queue,
    validate_cluster,
    validate_network,
    validate_outputs_bucket,
    validate_pool,
    validate_registry,
    validate_shared_files,
    validate_training_job,
)
from gpufleet.rules.aws.cluster_access import validate_cluster_access
from gpufleet.rules.aws.existing_network import validate_existing_network
from gpufleet.rules.aws.registry_host import validate_registry_host
from gpufleet.rules.aws.subnet_plan import validate_subnet_plan
from gpufleet.rules.aws.system_nodes import validate_system_nodes
from gpufleet.rules.kubernetes.mpi_job import validate_mpi_job
from gpufleet.rules.resource_finding import ResourceFinding
from tests.mistakes.accounts import validate_account, validate_stack
from tests.mistakes.corpus import BATCH, CONSTRUCTORS, Mistake
from tests.policies.raw_program import plan_from, policy_args

PACKS = Path(__file__).parents[2] / "policies"
PACK_CHECKS: Mapping[str, list[tuple[PlanCheck, Mapping[str, object]]]] = {
    "zones": [(feasibility.validate_feasibility, feasibility.PROPERTIES)],
    "cost": [(cost.validate_cost, cost.PROPERTIES), (ownership.validate_ownership, ownership.PROPERTIES)],
}
BATCH_CHECKS = dict(
    zip(
        BATCH,
        (validate_batch_environment, validate_batch_queue, validate_training_job, validate_outputs_bucket),
        strict=True,
    )
)
ADDONS = ("aws-efs-csi-driver", "coredns", "eks-pod-identity-agent", "kube-proxy", "vpc-cni")


def findings(mistake: Mistake, entry_point: str, given: Mapping[str, Any]) -> list[Finding]:
    """Every finding of an entry point on its input."""
    if entry_point in CONSTRUCTORS:
        return _constructed(entry_point, given, mistake.region)
    if entry_point == "resources":
        return [each.finding for each in pack_findings(mistake, given)]
    if entry_point == "stack":
        return [each.finding for each in validate_stack(given, mistake.region)]
    return [each.finding for each in validate_account(given["resources"], given, mistake.region)]


def pack_findings(mistake: Mistake, resources: Mapping[str, Any]) -> list[ResourceFinding]:
    """Every finding of a pack on raw resources, as behind the SDK's proxies."""
    args = policy_args(resources, mistake.config, mistake.region)
    return _pack_findings(plan_of(args.resources), mistake.pack, mistake.config)


def plan_findings(
    resources: Mapping[str, Any], pack: str, config: Mapping[str, Any], region: str
) -> list[ResourceFinding]:
    """Every finding of a pack on the plan of raw resources, as `gpufleet cost` and the others read it."""
    return _pack_findings(plan_from(resources, region), pack, config)


def _pack_findings(plan: Plan, pack: str, config: Mapping[str, Any]) -> list[ResourceFinding]:
    found: list[ResourceFinding] = []
    for check, properties in PACK_CHECKS[pack]:
        found += check(plan, {key: value for key, value in config.items() if key in properties})
    return found


def reported(mistake: Mistake, resources: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """The lines by which a pack refuses, and those by which it warns, as the engine shows them."""
    rejecting: list[str] = []
    advising: list[str] = []
    for policy in policies_of(mistake.pack):
        known = policy.config_schema.properties if policy.config_schema else {}
        config = {key: value for key, value in mistake.config.items() if key in known}
        lines = rejecting if policy.enforcement_level is EnforcementLevel.MANDATORY else advising
        args = policy_args(resources, config, mistake.region)
        policy.validate(args, lambda line, urn=None, lines=lines: lines.append(line))
    return rejecting, advising


@cache
def policies_of(pack: str) -> list[StackValidationPolicy]:
    """The policies that a pack's __main__.py hands to Pulumi."""
    handed: list[StackValidationPolicy] = []
    with patch("pulumi_policy.PolicyPack", lambda name, policies: handed.extend(policies)):
        runpy.run_path(str(PACKS / pack / "__main__.py"))
    return handed


def _constructed(entry_point: str, args: Mapping[str, Any], region: str) -> list[Finding]:
    if entry_point == "pool":
        return validate_pool(args, region)
    if entry_point == "network":
        plan = validate_subnet_plan(args, "10.0.0.0/16", 3)
        return [*validate_network(args), *validate_existing_network(args), *plan]
    if entry_point == "cluster":
        system = validate_system_nodes(args, (["m7i.large"], 2, 3, 50))
        return [*validate_cluster(args), *validate_cluster_access(args, ADDONS), *system]
    if entry_point in BATCH:
        return BATCH_CHECKS[entry_point](args)
    if entry_point == "mpi_job":
        return validate_mpi_job("llm", args)
    if entry_point == "files":
        return validate_shared_files(args)
    return [*validate_registry(args), *validate_registry_host(args)]
