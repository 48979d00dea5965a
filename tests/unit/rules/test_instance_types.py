"""Cases of gpufleet.rules.instance_types."""

from gpufleet.rules.instance_types import same_gpu, type_current, type_in_region, type_in_zone, type_known

CASES = {
    type_known: [
        (
            "known",
            {"type_name": "g5.8xlarge", "known": ("g4dn.xlarge", "g5.8xlarge", "p4d.24xlarge", "p5.48xlarge")},
            "pass",
            "",
        ),
        (
            "misspelt",
            {"type_name": "p4d.24xl", "known": ("g4dn.xlarge", "g5.8xlarge", "p4d.24xlarge", "p5.48xlarge")},
            "fail",
            "trainers: types=p4d.24xl: is not a GPU type in the catalog; did you mean p4d.24xlarge? [aws-type-known]",
        ),
        (
            "cpu",
            {"type_name": "m7i.large", "known": ("g4dn.xlarge", "g5.8xlarge", "p4d.24xlarge", "p5.48xlarge")},
            "fail",
            (
                "trainers: types=m7i.large: is not a GPU type in the catalog; use a GPU type such as g5.8xlarge, "
                "p4d.24xlarge or p5.48xlarge [aws-type-known]"
            ),
        ),
        (
            "empty",
            {"type_name": "", "known": ("g4dn.xlarge", "g5.8xlarge", "p4d.24xlarge", "p5.48xlarge")},
            "fail",
            (
                "trainers: types='': is not a GPU type in the catalog; use a GPU type such as g5.8xlarge, "
                "p4d.24xlarge or p5.48xlarge [aws-type-known]"
            ),
        ),
    ],
    type_current: [
        ("current", {"type_name": "p5.48xlarge", "retired": None, "successor": None}, "pass", ""),
        (
            "retired",
            {"type_name": "p3.16xlarge", "retired": "2026-05", "successor": "p4d.24xlarge"},
            "fail",
            "trainers: types=p3.16xlarge: is retired since 2026-05; use p4d.24xlarge [aws-type-current]",
        ),
        (
            "without-successor",
            {"type_name": "p1.large", "retired": "2020", "successor": None},
            "fail",
            "trainers: types=p1.large: is retired since 2020; use a current type [aws-type-current]",
        ),
    ],
    type_in_region: [
        (
            "offered",
            {"type_name": "p5.48xlarge", "region": "us-east-1", "zones": ("use1-az1",), "elsewhere": ("us-east-1",)},
            "pass",
            "",
        ),
        (
            "elsewhere",
            {"type_name": "p5e.48xlarge", "region": "us-east-1", "zones": (), "elsewhere": ("us-east-2", "us-west-2")},
            "fail",
            (
                "trainers: types=p5e.48xlarge: is not offered in us-east-1; it is offered in us-east-2 or "
                "us-west-2 [aws-type-in-region]"
            ),
        ),
        (
            "nowhere",
            {"type_name": "p5e.48xlarge", "region": "us-east-1", "zones": (), "elsewhere": ()},
            "fail",
            "trainers: types=p5e.48xlarge: is not offered in us-east-1; use another type [aws-type-in-region]",
        ),
        (
            "unknown",
            {"type_name": "p5.48xlarge", "region": "xx-north-9", "zones": None, "elsewhere": ("us-east-1",)},
            "unverified",
            (
                "trainers: types=p5.48xlarge: not verified: the catalog does not know what xx-north-9 offers; ask "
                "aws ec2 describe-instance-type-offerings [aws-type-in-region]"
            ),
        ),
    ],
    type_in_zone: [
        ("offered", {"type_name": "p4de.24xlarge", "zone": "use1-az4", "zones": ("use1-az4", "use1-az6")}, "pass", ""),
        (
            "not-offered",
            {"type_name": "p4de.24xlarge", "zone": "use1-az5", "zones": ("use1-az4", "use1-az6")},
            "fail",
            (
                "trainers: zones=use1-az5: does not offer p4de.24xlarge; use use1-az4 or use1-az6, which do "
                "[aws-type-in-zone]"
            ),
        ),
        (
            "no-zone-of-the-region",
            {"type_name": "p4de.24xlarge", "zone": "use1-az5", "zones": ()},
            "fail",
            (
                "trainers: zones=use1-az5: does not offer p4de.24xlarge; no zone of the region does: use another type "
                "or region [aws-type-in-zone]"
            ),
        ),
        (
            "unknown",
            {"type_name": "p4de.24xlarge", "zone": "use1-az5", "zones": None},
            "unverified",
            (
                "trainers: zones=use1-az5: not verified: whether the account gets p4de.24xlarge there is not known; "
                "ask aws ec2 describe-instance-type-offerings [aws-type-in-zone]"
            ),
        ),
    ],
    same_gpu: [
        ("same", {"types": ("g6e.12xlarge", "g6e.24xlarge"), "gpus": ("4 x L40S", "4 x L40S")}, "pass", ""),
        ("one", {"types": ("g5.xlarge",), "gpus": ("1 x A10G",)}, "pass", ""),
        (
            "number",
            {"types": ("g5.8xlarge", "g5.12xlarge"), "gpus": ("1 x A10G", "4 x A10G")},
            "fail",
            (
                "trainers: types=[g5.8xlarge, g5.12xlarge]: mixes 1 x A10G and 4 x A10G in one pool; make a pool "
                "for each kind, or keep jobs to one node [any-pool-same-gpu]"
            ),
        ),
        (
            "model",
            {"types": ("g5.8xlarge", "g6.8xlarge"), "gpus": ("1 x A10G", "1 x L4")},
            "fail",
            (
                "trainers: types=[g5.8xlarge, g6.8xlarge]: mixes 1 x A10G and 1 x L4 in one pool; make a pool for "
                "each kind, or keep jobs to one node [any-pool-same-gpu]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
