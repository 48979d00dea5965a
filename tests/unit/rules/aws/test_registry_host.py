"""Cases of gpufleet.rules.aws.registry_host."""

import pytest

from gpufleet.rules import Status
from gpufleet.rules.aws.registry_host import account_known, validate_registry_host

CASES = {
    account_known: [
        ("repository", {"makes_repository": True, "account_given": False}, "pass", ""),
        ("account", {"makes_repository": False, "account_given": True}, "pass", ""),
        ("both", {"makes_repository": True, "account_given": True}, "pass", ""),
        (
            "neither",
            {"makes_repository": False, "account_given": False},
            "fail",
            (
                "trainers: account_id=null: is required when no repository is created; give the "
                "account of the registry, or a name in repositories [aws-registry-account]"
            ),
        ),
    ],
}


def test_case(case) -> None:
    case.check()


@pytest.mark.parametrize(
    ("args", "status"),
    [
        ({"repositories": ["a"]}, Status.PASS),
        ({"account_id": object()}, Status.PASS),
        ({"repositories": [], "existing_repositories": ["a"]}, Status.FAIL),
        ({}, Status.FAIL),
    ],
)
def test_judge_registry_host(args: dict[str, object], status: Status) -> None:
    assert [each.status for each in validate_registry_host(args)] == [status]
