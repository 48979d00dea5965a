"""Every policy, as registered or printed, before two linters of others: what they find has a reason."""

import json
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpufleet.aws.operator_roles import ROLES, AccountPlace, github_trust, operator_policies
from tests.unit.stacks.recorded_roles import documents

PLACE = AccountPlace("123456789012", "us-east-1", "gpufleet", "aws-dev", "lab-state")
KNOWN: dict[str, dict[str, str]] = yaml.safe_load(Path(__file__).with_name("policy_findings.yaml").read_text())
RISKS = (
    "allows_privilege_escalation",
    "allows_data_exfiltration_actions",
    "permissions_management_without_constraints",
    "credentials_exposure",
    "service_wildcard",
)
"""Cloudsplaining's judgements of a policy; each is a list."""

NEWER = ("aps:DescribeWorkspaceConfiguration", "aps:UpdateWorkspaceConfiguration")
"""Actions of AWS's API that parliament's list of 2025 lacks; at an unknown one it leaves out its other checks."""


@cache
def policies() -> dict[str, list[dict[str, Any]]]:
    """Name of a role to its policies: those of the environments, and those that `gpufleet permissions` prints."""
    found: dict[str, list[dict[str, Any]]] = {role: list(operator_policies(role, PLACE)) for role in ROLES}
    for key, document in documents():
        if document not in found.setdefault(key, []):
            found[key].append(document)
    return found


def without_newer(document: dict[str, Any]) -> dict[str, Any]:
    """The policy without the actions that parliament does not know."""
    statements = [
        {**each, "Action": [action for action in each["Action"] if action not in NEWER]}
        if isinstance(each.get("Action"), list)
        else each
        for each in document["Statement"]
    ]
    return {**document, "Statement": statements}


def findings(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What the linters find: tool and name of the finding, and its details."""
    with warnings.catch_warnings():
        # Of their own imports.
        warnings.simplefilter("ignore")
        from cloudsplaining.scan.policy_document import PolicyDocument
        from parliament import analyze_policy_string

    for each in analyze_policy_string(json.dumps(without_newer(document))).findings:
        yield f"parliament {each.issue}", str(each.detail)
    judged = PolicyDocument(document)
    for risk in RISKS:
        if found := getattr(judged, risk):
            yield f"cloudsplaining {risk}", str(found)


@pytest.mark.parametrize("role", sorted(policies()))
def test_findings_of_linters_have_a_reason(role: str) -> None:
    found = {name: detail for document in policies()[role] for name, detail in findings(document)}
    assert {name: found[name] for name in found.keys() - KNOWN.get(role, {}).keys()} == {}
    assert sorted(found) == sorted(KNOWN.get(role, {}))


def test_suppressions_are_of_policies_that_there_are() -> None:
    assert set(KNOWN) <= set(policies())


def test_the_linters_find_what_is_wrong() -> None:
    """Or all of the above would say nothing."""
    wrong = {
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", "Action": ["s3:GetObjekt"], "Resource": "*"},
            {"Effect": "Allow", "Action": ["iam:PutRolePolicy", "iam:PassRole"], "Resource": "*"},
        ],
    }
    names = {name for name, _ in findings(wrong)}
    assert {"parliament UNKNOWN_ACTION", "cloudsplaining permissions_management_without_constraints"} <= names


def test_the_trust_by_github_names_one_environment() -> None:
    trust = github_trust(PLACE, "lab/ml", "aws-dev")
    (statement,) = trust["Statement"]
    assert statement["Condition"] == {
        "StringEquals": {
            "token.actions.githubusercontent.com:aud": "sts.amazonaws.com",
            "token.actions.githubusercontent.com:sub": "repo:lab/ml:environment:aws-dev",
        }
    }
