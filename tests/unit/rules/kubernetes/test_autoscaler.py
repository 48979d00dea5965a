"""Cases of gpufleet.rules.kubernetes.autoscaler."""

from gpufleet.rules.kubernetes.autoscaler import idle_short

CASES = {
    idle_short: [
        ("default", {"minutes": 10}, "pass", ""),
        ("hour", {"minutes": 60}, "pass", ""),
        (
            "above",
            {"minutes": 61},
            "fail",
            (
                "trainers: idle_minutes=61: is paid for after every job, on every node; use 60 or less [any-"
                "autoscaler-idle]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
