"""Roles of those who run gpufleet: what they may not, what `up` needs, and the command."""

import json
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from gpufleet.aws.operator_roles import ROLES, AccountPlace, operator_policies, operator_roles, role_statements
from gpufleet.cli import main
from tests.unit.stacks.recorded_roles import recordings

PLACE = AccountPlace("123456789012", "us-east-1", "gpufleet", "aws-dev", "lab-state")
CALLS = Path(__file__).parents[3] / "rehearsal" / "gpufleet_rehearsal" / "aws" / "calls"
NAMES = {
    "s3:PutBucketEncryption": "s3:PutEncryptionConfiguration",
    "s3:PutBucketLifecycleConfiguration": "s3:PutLifecycleConfiguration",
    "s3:PutPublicAccessBlock": "s3:PutBucketPublicAccessBlock",
}
"""Calls whose right has another name. Source: AWS's service authorization reference, Amazon S3."""
NOT_GIVEN = {
    "ecr:DeleteRepository": "data",
    "iam:CreateOpenIDConnectProvider": "an account has one, and whoever may make it decides who gets in",
}
"""Calls of the table that no role of ours gets, and why."""


def allowed(role: str) -> set[str]:
    return {
        action
        for policy in operator_policies(role, PLACE)
        for statement in policy["Statement"]
        if statement["Effect"] == "Allow"
        for action in statement["Action"]
    }


def test_up_may_call_what_the_table_of_the_rehearsal_calls() -> None:
    """The table says which call takes each type's inputs; what comes after a second dot is a part of its input."""
    calls: dict[str, list[str]] = {}
    for file in CALLS.glob("*.yaml"):
        for kind, row in (yaml.safe_load(file.read_text()).get("types") or {}).items():
            calls[kind] = [".".join(call.split(".")[:1]) for call in row["calls"]]
    types = {each.type for made in recordings() for each in made.resources if each.type in calls}
    assert len(types) > 40
    services = {"amp": "aps", "efs": "elasticfilesystem"}
    called = {
        f"{services.get(of, of)}:{verb}"
        for kind in types
        for of, _, verb in (each.partition(":") for each in calls[kind])
    }
    wanted = {NAMES.get(call, call) for call in called} - NOT_GIVEN.keys()
    assert wanted - allowed("up") == set()


@pytest.mark.parametrize("role", ROLES)
def test_no_role_takes_data_or_reads_secrets(role: str) -> None:
    taken = ("*:DeleteFileSystem", "*:DeleteAccessPoint", "s3:DeleteBucket*", "ecr:Delete*", "ecr:BatchDelete*")
    read = ("secretsmanager:*Get*", "secretsmanager:Delete*", "ssm:GetParameter*", "kms:Decrypt")
    assert [each for each in allowed(role) if any(fnmatch(each, form) for form in (*taken, *read))] == []


@pytest.mark.parametrize("role", ["reap", "up"])
def test_what_ends_a_resource_wants_the_mark_of_the_project_on_it(role: str) -> None:
    """Objects of the state's bucket, groups that EKS tags itself and activations, which take no tags in a condition."""
    unmarked = {
        action
        for policy in operator_policies(role, PLACE)
        for statement in policy["Statement"]
        for action in statement["Action"]
        if any(fnmatch(action, form) for form in ("*:Delete*", "*:Release*", "*:Terminate*", "*:Detach*", "kms:Sched*"))
        and "aws:ResourceTag/gpufleet-stack" not in json.dumps(statement.get("Condition", {}))
    }
    assert unmarked <= {
        "s3:DeleteObject",
        "autoscaling:DeleteScheduledAction",
        "autoscaling:DeleteTags",
        "ssm:DeleteActivation",
    }
    marked = [each for policy in operator_policies(role, PLACE) for each in policy["Statement"] if "Condition" in each]
    assert {"StringLike": {"aws:ResourceTag/gpufleet-stack": "gpufleet/aws-dev"}} in [m["Condition"] for m in marked]


def test_a_preview_changes_nothing() -> None:
    assert [each for each in allowed("preview") if not each.partition(":")[2].startswith(("Get", "List", "Desc"))] == []


@pytest.mark.parametrize("role", ROLES)
def test_each_statement_has_a_reason_and_a_name(role: str) -> None:
    statements = list(role_statements(role))
    assert operator_roles()[role]["for"]
    assert all(each["why"].strip() for each in statements)
    names = [each["sid"] for each in statements]
    assert len(names) == len(set(names))


def run(*words: str) -> Any:
    return CliRunner().invoke(main, ["permissions", *words])


def test_the_command_prints_policies_that_fit_a_managed_policy() -> None:
    done = run("up", "--account", "123456789012", "--region", "us-gov-west-1", "--environment", "aws-dev")
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert len(lines) > 1
    assert all(len(line) <= 6144 and json.loads(line)["Version"] == "2012-10-17" for line in lines)
    assert "arn:aws-us-gov:" in done.output
    assert "{" + "account}" not in done.output


def test_the_command_refuses_in_one_line() -> None:
    done = run("reap", "--account", "12", "--region", "us-east-1")
    assert (done.exit_code, done.output) == (
        1,
        "Error: permissions: account=12: must be 12 digits; `aws sts get-caller-identity` shows it\n",
    )
    done = run("reap", "--account", "123456789012", "--region", "us-east-1", "--github", "lab/ml")
    assert "github-environment=*: must name one environment; give its name" in done.output


def test_the_command_prints_who_may_take_the_role() -> None:
    done = run("reap", "--account", "123456789012", "--region", "us-east-1", "--github", "lab/ml",
               "--github-environment", "reap")  # fmt: skip
    assert json.loads(done.output)["Statement"][0]["Condition"]["StringEquals"][
        "token.actions.githubusercontent.com:sub"
    ] == ("repo:lab/ml:environment:reap")
