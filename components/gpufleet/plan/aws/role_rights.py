"""What the roles of a plan may do, as far as their policies are known."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from gpufleet.documents.json import read_json
from gpufleet.plan.property_values import blocks, from_json, items, value_of
from gpufleet.plan.resource import UNKNOWN, Plan, Resource

ROLE = "aws:iam/role:Role"
INLINE = "aws:iam/rolePolicy:RolePolicy"
ATTACHMENT = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
_ELSEWHERE = "aws:iam/policyAttachment:PolicyAttachment"
"""Attaches one policy to several roles, by their names."""


@cache
def managed_policies() -> dict[str, list[str]]:
    """AWS's own policies by name: patterns of the actions on ecr, kms and s3 that they allow on everything.

    Source: docs.aws.amazon.com/aws-managed-policy/latest/reference, read in November 2026.
    """
    found: dict[str, list[str]] = read_json(Path(__file__).with_name("managed_policies.json"))
    return found


def granted(plan: Plan, role: Resource, action: str) -> list[str]:
    """Patterns of what a role of the plan may do `action` on: the last parts of ARNs, as repository/k8s/* or bucket/*.

    Conditions and denials are not looked at.
    """
    return [
        resource.split(":", 5)[-1]
        for statements in _policies(plan, role)
        for statement in statements or ()
        if statement.get("Effect") == "Allow" and _named(action, statement)
        for resource in _texts(statement.get("Resource"))
    ]


def allows(plan: Plan, role: Resource, action: str, resource: str) -> bool | None:
    """Whether a role may do `action` on `resource`, the last part of its ARN; None where a policy is not known."""
    if any(fnmatchcase(resource, pattern) for pattern in granted(plan, role, action)):
        return True
    elsewhere = bool(plan.of_type(_ELSEWHERE)) or value_of(role, "managedPolicyArns") is not None
    return None if elsewhere or None in _policies(plan, role) else False


def _policies(plan: Plan, role: Resource) -> list[list[Mapping[str, object]] | None]:
    """The statements of each policy of a role; None for one that is not known."""
    found = [_statements(each.get("policy")) for each in blocks(value_of(role, "inlinePolicies"))]
    for policy in plan.of_type(INLINE):
        if role in plan.behind(policy, "role", ROLE):
            found.append(_statements(value_of(policy, "policy")))
    for attachment in plan.of_type(ATTACHMENT):
        if role in plan.behind(attachment, "role", ROLE):
            arn = value_of(attachment, "policyArn")
            known = managed_policies().get(arn.rpartition("/")[2]) if isinstance(arn, str) else None
            found.append(None if known is None else [{"Effect": "Allow", "Action": known, "Resource": "*"}])
    return found


def _statements(document: object) -> list[Mapping[str, object]] | None:
    policy = from_json(document)
    if policy is UNKNOWN or not isinstance(policy, Mapping):
        return None
    return blocks(policy.get("Statement"))


def _named(action: str, statement: Mapping[str, object]) -> bool:
    return any(fnmatchcase(action.lower(), each.lower()) for each in _texts(statement.get("Action")))


def _texts(value: object) -> list[str]:
    return [value] if isinstance(value, str) else [each for each in items(value) if isinstance(each, str)]
