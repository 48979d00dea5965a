"""Cases of gpufleet.rules.counts."""

import pytest

from gpufleet.catalog import aws
from gpufleet.rules.counts import desired_within, fewer_nodes, idle_nodes, min_within_max, validate_fewer_nodes

CASES = {
    min_within_max: [
        ("equal", {"least": 2, "most": 2}, "pass", ""),
        (
            "above",
            {"least": 3, "most": 2},
            "fail",
            "trainers: min=3: is above max=2; use 2 or fewer, or raise max [any-count-min-max]",
        ),
    ],
    desired_within: [
        ("at-least", {"desired": 1, "least": 1, "most": 3}, "pass", ""),
        ("at-most", {"desired": 3, "least": 1, "most": 3}, "pass", ""),
        (
            "below",
            {"desired": 0, "least": 1, "most": 3},
            "fail",
            "trainers: desired=0: is not between min=1 and max=3; use 1 to 3 [any-count-desired]",
        ),
        (
            "above",
            {"desired": 4, "least": 1, "most": 3},
            "fail",
            "trainers: desired=4: is not between min=1 and max=3; use 1 to 3 [any-count-desired]",
        ),
        (
            "only-one-legal",
            {"desired": 1, "least": 2, "most": 2},
            "fail",
            "trainers: desired=1: is not between min=2 and max=2; use 2 [any-count-desired]",
        ),
        ("min-above-max-is-another-rule", {"desired": 9, "least": 3, "most": 2}, "pass", ""),
    ],
    idle_nodes: [
        ("zero", {"least": 0, "capacity": "on-demand"}, "pass", ""),
        (
            "one",
            {"least": 1, "capacity": "on-demand"},
            "fail",
            (
                "trainers: min=1: 1 node runs and cost money even when no job does; set min=0 to scale to zero "
                "[any-count-idle]"
            ),
        ),
        (
            "two-spot",
            {"least": 2, "capacity": "spot"},
            "fail",
            (
                "trainers: min=2: 2 nodes run and cost money even when no job does; set min=0 to scale to zero "
                "[any-count-idle]"
            ),
        ),
        ("reserved", {"least": 2, "capacity": "reservation"}, "pass", ""),
        ("capacity-block", {"least": 2, "capacity": "capacity-block"}, "pass", ""),
    ],
    fewer_nodes: [
        ("no-larger", {"types": ("g5.8xlarge",), "gpu": "A10G", "most": 4, "larger": "", "gpus": 0}, "pass", ""),
        (
            "larger",
            {"types": ("g5.8xlarge",), "gpu": "A10G", "most": 4, "larger": "g5.12xlarge", "gpus": 4},
            "fail",
            (
                "trainers: types=[g5.8xlarge]: 4 nodes of one A10G talk over the network; a job of up to 4 GPUs "
                "runs faster on one g5.12xlarge, which has 4 x A10G [any-pool-fewer-nodes]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()


@pytest.mark.parametrize(
    ("types", "most", "larger"),
    [
        (["g5.8xlarge"], 3, ""),
        (["g5.8xlarge"], 4, "g5.12xlarge"),
        (["g5.8xlarge", "g5.xlarge"], 7, "g5.12xlarge"),
        (["g5.8xlarge"], 8, "g5.48xlarge"),
        (["g5.12xlarge"], 8, ""),
        (["g5.8xlarge", "g6.8xlarge"], 8, ""),
        (["p5.4xlarge"], 7, ""),
        (["p5.4xlarge"], 8, "p5.48xlarge"),
        ([], 8, ""),
    ],
)
def test_the_larger_type_has_no_more_gpus_than_the_pool_may_reach(types, most, larger):
    (finding,) = validate_fewer_nodes([aws().types[name] for name in types], most, ["use1-az1"], "us-east-1")
    assert finding.status == ("fail" if larger else "pass")
    assert larger in finding.fix


def test_no_type_is_named_that_the_region_does_not_offer():
    record = aws().types["p5.4xlarge"]
    offering = {region for name, region in aws().offers if name == "p5.48xlarge"}
    without = next(region for region in aws().regions if region not in offering)
    (finding,) = validate_fewer_nodes([record], 8, ["any"], without)
    assert "p5.48xlarge" not in finding.fix


def test_jobs_of_one_node_want_no_larger_one():
    (finding,) = validate_fewer_nodes([aws().types["g5.8xlarge"]], 8, ["use1-az1", "use1-az2"], "us-east-1")
    assert finding.status == "pass"
