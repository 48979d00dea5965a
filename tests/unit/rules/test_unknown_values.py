"""Cases of gpufleet.rules.unknown_values."""

from gpufleet.rules.unknown_values import plan_known

CASES = {
    plan_known: [
        ("told", {"arguments": ()}, "pass", ""),
        (
            "one",
            {"arguments": ("zones",)},
            "unverified",
            (
                "trainers: plan=[zones]: not verified: these are not known before deployment, so rules about "
                "them were not checked; give plain values, or resources of the same program "
                "[any-plan-known]"
            ),
        ),
        (
            "several",
            {"arguments": ("zones", "placement")},
            "unverified",
            (
                "trainers: plan=[placement, zones]: not verified: these are not known before deployment, "
                "so rules about them were not checked; give plain values, or resources of the "
                "same program [any-plan-known]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
