"""Cases of gpufleet.rules.unknown_values."""

from gpufleet.rules.unknown_values import plan_known

CASES = {
    plan_known: [
        ("told", {"words": ()}, "pass", ""),
        (
            "one",
            {"words": ("zones",)},
            "unverified",
            (
                "trainers: plan=[zones]: not verified: the program does not tell these before deployment, so "
                "that rules about them were not judged; give plain values, or resources of the same program "
                "[any-plan-known]"
            ),
        ),
        (
            "several",
            {"words": ("zones", "placement")},
            "unverified",
            (
                "trainers: plan=[placement, zones]: not verified: the program does not tell these before "
                "deployment, so that rules about them were not judged; give plain values, or resources of the "
                "same program [any-plan-known]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
