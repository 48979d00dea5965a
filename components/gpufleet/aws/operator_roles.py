"""Roles of those who run gpufleet in an AWS account: policies and trusts that somebody reviews and applies."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from gpufleet.aws.partition import partition
from gpufleet.documents.yaml import read_yaml

ISSUER = "token.actions.githubusercontent.com"
ROLES = ("preview", "up", "reap", "submit")
"""The roles; `operator_roles.yaml` says what each may, and why."""


@dataclass(frozen=True)
class AccountPlace:
    """Where a role is: account (12 digits), region, Pulumi project, environment (* for all of the project) and the
    bucket of Pulumi's state."""

    account: str
    region: str
    project: str
    environment: str
    bucket: str

    def fill(self, value: Any) -> Any:  # noqa: ANN401
        """A value of the file with the place filled in."""
        if isinstance(value, str):
            for name, text in {**vars(self), "partition": partition(self.region)}.items():
                value = value.replace(f"{{{name}}}", text)
            return value
        if isinstance(value, Mapping):
            return {self.fill(key): self.fill(each) for key, each in value.items()}
        return [self.fill(each) for each in value] if isinstance(value, list) else value


@cache
def operator_roles() -> Mapping[str, Mapping[str, Any]]:
    """The file's content."""
    roles: Mapping[str, Mapping[str, Any]] = read_yaml(Path(__file__).with_name("operator_roles.yaml"))
    return roles


def role_statements(role: str) -> Iterator[Mapping[str, Any]]:
    """A role's statements as the file has them, with those of the role that it includes."""
    found = operator_roles()[role]
    if "with" in found:
        yield from role_statements(found["with"])
    yield from found["statements"]


def operator_policies(role: str, place: AccountPlace) -> Sequence[dict[str, Any]]:
    """The role's policies, each short enough for a managed policy (6,144 characters without white space).

    https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
    """
    documents: list[list[dict[str, Any]]] = [[]]
    for given in role_statements(role):
        statement = _statement(given, place)
        if len(_written([*documents[-1], statement])) > 6_000:
            documents.append([])
        documents[-1].append(statement)
    return [_policy(statements) for statements in documents]


def github_trust(place: AccountPlace, repository: str, environment: str) -> dict[str, Any]:
    """The role's principals: jobs of one environment of GitHub in one repository, and nobody else.

    https://docs.github.com/actions/how-tos/secure-your-work/security-harden-deployments/oidc-in-aws
    """
    statement = {
        "Effect": "Allow",
        "Principal": {
            "Federated": f"arn:{partition(place.region)}:iam::{place.account}:oidc-provider/{ISSUER}",
        },
        "Action": "sts:AssumeRoleWithWebIdentity",
        "Condition": {
            "StringEquals": {
                f"{ISSUER}:aud": "sts.amazonaws.com",
                f"{ISSUER}:sub": f"repo:{repository}:environment:{environment}",
            }
        },
    }
    return _policy([statement])


def _statement(given: Mapping[str, Any], place: AccountPlace) -> dict[str, Any]:
    resources = "NotResource" if "not_resources" in given else "Resource"
    statement: dict[str, Any] = {
        "Sid": given["sid"],
        "Effect": given.get("effect", "Allow"),
        "Action": given["actions"],
        resources: place.fill(given.get("not_resources") or given["resources"]),
    }
    if "condition" in given:
        statement["Condition"] = place.fill(given["condition"])
    return statement


def _policy(statements: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": list(statements)}


def _written(statements: Sequence[Mapping[str, Any]]) -> str:
    return json.dumps(_policy(statements), separators=(",", ":"))
