"""Changes of the legal program, and what the zones pack then says."""

import base64
from collections.abc import Callable, Mapping
from typing import Any

from gpufleet.policies.feasibility import validate_feasibility
from gpufleet.policies.pack import plan_of
from gpufleet.rules import Severity, Status
from tests.policies.legal_program import resource
from tests.policies.raw_program import plan_from, policy_args

TWO_SUBNETS = ["${subnet-use1-az1.id}", "${subnet-use1-az2.id}"]
Program = dict[str, dict[str, Any]]


def inputs(program: Program, name: str) -> dict[str, Any]:
    return program[name]["inputs"]


def findings_of(program: Mapping[str, Any], config: Mapping[str, object] | None = None, region: str = "us-east-1"):
    """What does not pass, through the SDK's proxies: (resource, rule, status, severity)."""
    plan = plan_of(policy_args(program, region=region).resources)
    found = [each for each in validate_feasibility(plan, config or {}) if each.finding.status is not Status.PASS]
    # The same without the proxies, as cost and preflight read a plan.
    again = [each for each in validate_feasibility(plan_from(program, region), config or {}) if each in found]
    assert again == found
    return found


def refused(program: Program, config: Mapping[str, object] | None = None) -> set[tuple[str, str]]:
    return {(each.resource, each.finding.rule) for each in findings_of(program, config) if each.rejects}


def doubtful(program: Program, config: Mapping[str, object] | None = None) -> set[tuple[str, str]]:
    return {
        (each.resource, each.finding.rule)
        for each in findings_of(program, config)
        if not each.rejects and each.finding.severity is not Severity.INFO
    }


def set_in(name: str, /, **values: Any) -> Callable[[Program], None]:
    return lambda program: inputs(program, name).update(values)


def interfaces(**values: Any) -> Callable[[Program], None]:
    return lambda program: [each.update(values) for each in inputs(program, "template")["networkInterfaces"]] and None


def resources(**values: Any) -> Callable[[Program], None]:
    return lambda program: inputs(program, "environment")["computeResources"].update(values)


def without(*names: str) -> Callable[[Program], None]:
    return lambda program: [program.pop(name) for name in names] and None


def add(name: str, kind: str, /, **values: Any) -> Callable[[Program], None]:
    return lambda program: program.update({name: resource(kind, **values)})


def both(*changes: Callable[[Program], None]) -> Callable[[Program], None]:
    return lambda program: [change(program) for change in changes] and None


def old_rule(**values: Any) -> Callable[[Program], None]:
    return add("old", "ec2/securityGroupRule:SecurityGroupRule", **values)


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()
