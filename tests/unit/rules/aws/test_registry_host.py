"""Cases of gpufleet.rules.aws.registry_host."""

import pytest

from gpufleet.rules import Status
from gpufleet.rules.aws.registry_host import account_known, validate_registry_host

CASES = {
    account_known: [
        ("repository", {"makes_repository": True, "account_given": False, "used": "pull_through"}, "pass", ""),
        ("account", {"makes_repository": False, "account_given": True, "used": "pull_through"}, "pass", ""),
        ("both", {"makes_repository": True, "account_given": True, "used": "pull_through"}, "pass", ""),
        (
            "neither",
            {"makes_repository": False, "account_given": False, "used": "pull_through"},
            "fail",
            (
                "trainers: account_id=null: is required by pull_through when no repository is created; give the "
                "account of the registry, or a name in repositories [aws-registry-account]"
            ),
        ),
        ("nothing-in-it", {"makes_repository": False, "account_given": False, "used": ""}, "pass", ""),
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
        ({"pull_through": {"quay": "quay.io"}}, Status.FAIL),
        ({}, Status.PASS),
    ],
)
def test_judge_registry_host(args: dict[str, object], status: Status) -> None:
    assert [each.status for each in validate_registry_host(args)] == [status]
