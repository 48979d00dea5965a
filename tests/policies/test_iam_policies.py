"""Sizes of IAM policies in a plan."""

import json

import pytest

from gpufleet.policies.feasibility import validate_feasibility
from gpufleet.rules import Status
from tests.policies.raw_program import plan_from

ROLE = {"type": "aws:iam/role:Role", "inputs": {"assumeRolePolicy": "{}"}}


def text(size: int, spaces: int = 0) -> str:
    """A policy of so many characters without white space, and with so much of it."""
    bare = json.dumps({"Sid": ""}, separators=(",", ":"))
    return json.dumps({"Sid": "a" * (size - len(bare))}, separators=(",", ":")) + " " * spaces


def managed(policy: str) -> dict:
    return {"type": "aws:iam/policy:Policy", "inputs": {"policy": policy}}


def inline(policy: str, role: str = "${role.name}") -> dict:
    return {"type": "aws:iam/rolePolicy:RolePolicy", "inputs": {"role": role, "policy": policy}}


@pytest.mark.parametrize(
    ("program", "names"),
    [
        ({"one": managed(text(6144, spaces=500))}, []),
        ({"one": managed(text(6145))}, ["one"]),
        ({"one": managed("${role.arn}")}, []),
        ({"one": inline(text(5000)), "two": inline(text(5240))}, []),
        ({"one": inline(text(5000)), "two": inline(text(5241))}, ["two"]),
        ({"one": inline(text(5000), "theirs"), "two": inline(text(5241), "theirs")}, ["two"]),
        # Of two roles.
        ({"one": inline(text(5000), "theirs"), "two": inline(text(5241))}, []),
        ({"one": inline("${role.arn}"), "two": inline(text(10_240))}, []),
    ],
)
def test_policies_are_not_longer_than_iam_takes(program: dict, names: list[str]) -> None:
    found = validate_feasibility(plan_from({"role": ROLE, **program}), {})
    faults = [each for each in found if each.finding.rule == "aws-iam-policy-size"]
    assert [each.resource for each in faults if each.finding.status is Status.FAIL] == names
    assert all(each.rejects for each in faults if each.finding.status is Status.FAIL)
