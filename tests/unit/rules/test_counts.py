"""Cases of gpufleet.rules.counts."""

from gpufleet.rules.counts import desired_within, idle_nodes, min_within_max

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
    ],
}


def test_case(case):
    case.check()
