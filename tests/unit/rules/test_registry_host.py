"""Cases of gpufleet.rules.registry_host."""

import pytest

from gpufleet.rules import Status
from gpufleet.rules.registry_host import account_known, judge_registry_host


@pytest.mark.parametrize(("made", "given"), [(True, False), (False, True), (True, True)])
def test_account_known_passes(made: bool, given: bool) -> None:
    assert account_known(makes_repository=made, account_given=given).status is Status.PASS


def test_account_known_fails() -> None:
    finding = account_known(makes_repository=False, account_given=False)
    assert finding.refuses
    assert finding.line("it") == (
        "it: account_id=null: is not given, and no repository is made that would tell it; "
        "give the account of the registry, or a name in repositories [aws-registry-account]"
    )


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
    assert [each.status for each in judge_registry_host(args)] == [status]
