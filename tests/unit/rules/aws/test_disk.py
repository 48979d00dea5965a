"""The kind and the speed of a node's disk."""

import pytest

from gpufleet.rules.aws.disk import default_iops, iops_range, throughput_range, validate_disk

CASES = {
    iops_range: [
        ("gp3-least", {"disk_type": "gp3", "disk_iops": 3000, "disk_gib": 1}, "pass", ""),
        (
            "gp3-below",
            {"disk_type": "gp3", "disk_iops": 2999, "disk_gib": 100},
            "fail",
            "trainers: disk_iops=2999: gp3 has 3,000 to 80,000 IOPS; use one of these [aws-disk-iops]",
        ),
        ("gp3-most", {"disk_type": "gp3", "disk_iops": 80_000, "disk_gib": 160}, "pass", ""),
        (
            "gp3-above",
            {"disk_type": "gp3", "disk_iops": 80_001, "disk_gib": 500},
            "fail",
            "trainers: disk_iops=80001: gp3 has 3,000 to 80,000 IOPS; use one of these [aws-disk-iops]",
        ),
        (
            "gp3-too-small",
            {"disk_type": "gp3", "disk_iops": 50_001, "disk_gib": 100},
            "fail",
            (
                "trainers: disk_iops=50001: gp3 has at most 500 IOPS for each GiB, 50,000 for disk_gib=100; use at "
                "most that, or disk_gib=101 [aws-disk-iops]"
            ),
        ),
        ("io2-least", {"disk_type": "io2", "disk_iops": 100, "disk_gib": 20}, "pass", ""),
        (
            "io2-below",
            {"disk_type": "io2", "disk_iops": 99, "disk_gib": 20},
            "fail",
            "trainers: disk_iops=99: io2 has 100 to 256,000 IOPS; use one of these [aws-disk-iops]",
        ),
        ("io2-per-gib", {"disk_type": "io2", "disk_iops": 100_000, "disk_gib": 100}, "pass", ""),
        (
            "io2-too-small",
            {"disk_type": "io2", "disk_iops": 100_001, "disk_gib": 100},
            "fail",
            (
                "trainers: disk_iops=100001: io2 has at most 1000 IOPS for each GiB, 100,000 for disk_gib=100; use at "
                "most that, or disk_gib=101 [aws-disk-iops]"
            ),
        ),
    ],
    throughput_range: [
        ("least", {"disk_type": "gp3", "disk_throughput": 125, "disk_iops": 3000}, "pass", ""),
        (
            "below",
            {"disk_type": "gp3", "disk_throughput": 124, "disk_iops": 3000},
            "fail",
            "trainers: disk_throughput=124: gp3 has 125 to 2,000 MiB/s; use one of these [aws-disk-throughput]",
        ),
        ("most", {"disk_type": "gp3", "disk_throughput": 2000, "disk_iops": 8000}, "pass", ""),
        (
            "above",
            {"disk_type": "gp3", "disk_throughput": 2001, "disk_iops": 9000},
            "fail",
            "trainers: disk_throughput=2001: gp3 has 125 to 2,000 MiB/s; use one of these [aws-disk-throughput]",
        ),
        ("a-quarter", {"disk_type": "gp3", "disk_throughput": 750, "disk_iops": 3000}, "pass", ""),
        (
            "above-a-quarter",
            {"disk_type": "gp3", "disk_throughput": 751, "disk_iops": 3000},
            "fail",
            (
                "trainers: disk_throughput=751: is more than a quarter of disk_iops=3000, and EC2 then launches no "
                "node; set disk_iops=3004 or leave it out [aws-disk-throughput]"
            ),
        ),
        (
            "io2",
            {"disk_type": "io2", "disk_throughput": 500, "disk_iops": 3000},
            "fail",
            (
                "trainers: disk_throughput=500: io2 has no separate throughput: it follows from the IOPS; leave it "
                "out, or use disk_type=gp3 [aws-disk-throughput]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()


@pytest.mark.parametrize(
    ("disk_type", "throughput", "iops"),
    [("gp3", None, None), ("gp3", 750, None), ("gp3", 751, 3004), ("gp3", 2000, 8000), ("io2", None, 3000)],
)
def test_iops_follow_from_type_and_throughput(disk_type: str, throughput: int | None, iops: int | None) -> None:
    assert default_iops(disk_type, throughput) == iops


@pytest.mark.parametrize(
    ("pool", "rules"),
    [
        ({}, []),
        ({"disk_throughput": 2000}, []),
        ({"disk_throughput": 2000, "disk_iops": 4000}, ["aws-disk-throughput"]),
        ({"disk_type": "io2"}, []),
        ({"disk_type": "gp2", "disk_iops": 1}, ["any-argument-word"]),
        ({"disk_iops": 0}, ["aws-disk-iops"]),
        ({"disk_iops": "many"}, []),
    ],
)
def test_pool(pool: dict[str, object], rules: list[str]) -> None:
    assert [each.rule for each in validate_disk(pool) if each.rejects] == rules
