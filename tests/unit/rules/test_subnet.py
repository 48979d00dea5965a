"""Cases of gpufleet.rules.subnet."""

from gpufleet.rules import Status
from gpufleet.rules.subnet import judge_subnets, subnet_for_zone

CASES = {
    subnet_for_zone: [
        ("given", {"zone": "use1-az1", "zones_with_subnet": ("use1-az2", "use1-az1")}, "pass", ""),
        (
            "none-given",
            {"zone": "use1-az1", "zones_with_subnet": ()},
            "fail",
            (
                "trainers: subnet_ids=[]: there is no subnet in zone use1-az1; give the subnet of use1-az1 "
                "[any-subnet-for-zone]"
            ),
        ),
        (
            "others-given",
            {"zone": "use1-az1", "zones_with_subnet": ("use1-az4", "use1-az2")},
            "fail",
            (
                "trainers: subnet_ids=[use1-az4, use1-az2]: there is no subnet in zone use1-az1; give the subnet of "
                "use1-az1, or use use1-az2 or use1-az4 [any-subnet-for-zone]"
            ),
        ),
    ],
}


def test_case(case) -> None:
    case.check()


def test_judge_subnets_looks_at_every_zone() -> None:
    args = {"zones": ["use1-az1", "use1-az2"], "subnet_ids": {"use1-az2": object()}}
    assert [each.status for each in judge_subnets(args)] == [Status.FAIL, Status.PASS]


def test_judge_subnets_does_not_raise_on_other_kinds() -> None:
    assert judge_subnets({"zones": 3, "subnet_ids": "x"}) == []
    assert [each.status for each in judge_subnets({"zones": ["a"], "subnet_ids": "x"})] == [Status.FAIL]
