"""Cases of gpufleet.rules.subnet."""

import pytest

from gpufleet.rules import Status
from gpufleet.rules.subnet import judge_subnets, subnet_for_zone


def test_subnet_for_zone_passes() -> None:
    assert subnet_for_zone(zone="use1-az1", zones_with_subnet=["use1-az2", "use1-az1"]).status is Status.PASS


@pytest.mark.parametrize(
    ("known", "fix"),
    [
        ([], "give the subnet of use1-az1"),
        (["use1-az2"], "give the subnet of use1-az1, or use use1-az2"),
        (["use1-az4", "use1-az2"], "give the subnet of use1-az1, or use use1-az2 or use1-az4"),
    ],
)
def test_subnet_for_zone_fails(known: list[str], fix: str) -> None:
    finding = subnet_for_zone(zone="use1-az1", zones_with_subnet=known)
    shown = ", ".join(known)
    assert finding.refuses
    assert finding.line("it") == (
        f"it: subnet_ids=[{shown}]: there is no subnet in zone use1-az1; {fix} [any-subnet-for-zone]"
    )


def test_judge_subnets_looks_at_every_zone() -> None:
    args = {"zones": ["use1-az1", "use1-az2"], "subnet_ids": {"use1-az2": object()}}
    assert [each.status for each in judge_subnets(args)] == [Status.FAIL, Status.PASS]


def test_judge_subnets_does_not_raise_on_other_kinds() -> None:
    assert judge_subnets({"zones": 3, "subnet_ids": "x"}) == []
    assert [each.status for each in judge_subnets({"zones": ["a"], "subnet_ids": "x"})] == [Status.FAIL]
