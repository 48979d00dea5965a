"""Cases of gpufleet.rules.aws.placement_group."""

from gpufleet.rules.aws.placement_group import placement_group_usable


def group(found):
    return {"placement_group": "theirs", "found": found}


CASES = {
    placement_group_usable: [
        ("cluster", group({"strategy": "cluster", "state": "available"}), "pass", ""),
        (
            "spread",
            group({"strategy": "spread", "state": "available"}),
            "fail",
            (
                "trainers: placement_group=theirs: is of the strategy spread; use one of the strategy cluster "
                "[aws-placement-group-usable]"
            ),
        ),
        (
            "being-deleted",
            group({"strategy": "cluster", "state": "deleting"}),
            "fail",
            ("trainers: placement_group=theirs: is deleting; use one that is available [aws-placement-group-usable]"),
        ),
        (
            "not-there",
            group({}),
            "fail",
            (
                "trainers: placement_group=theirs: the account holds no such placement group in this region; give a "
                "name that `aws ec2 describe-placement-groups` shows, or set placement=create "
                "[aws-placement-group-usable]"
            ),
        ),
        (
            "unknown",
            group(None),
            "unverified",
            (
                "trainers: placement_group=theirs: not verified: what the account holds of this placement group is "
                "not known; look with `aws ec2 describe-placement-groups` [aws-placement-group-usable]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
