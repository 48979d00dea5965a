"""Cases of gpufleet.rules.generic."""

from gpufleet.rules.generic import allowed_choice, at_least, distinct, not_empty

CASES = {
    allowed_choice: [
        ("legal", {"argument": "capacity", "word": "spot", "legal": ("on-demand", "spot")}, "pass", ""),
        (
            "misspelt",
            {"argument": "capacity", "word": "spott", "legal": ("on-demand", "spot")},
            "fail",
            (
                "trainers: capacity=spott: is not an allowed value; did you mean spot? (use on-demand or spot) "
                "[any-argument-word]"
            ),
        ),
        (
            "other-case",
            {"argument": "capacity", "word": "Spot", "legal": ("on-demand", "spot")},
            "fail",
            (
                "trainers: capacity=Spot: is not an allowed value; did you mean spot? (use on-demand or spot) "
                "[any-argument-word]"
            ),
        ),
        (
            "far-off",
            {"argument": "network", "word": "infiniband", "legal": ("plain", "efa")},
            "fail",
            "trainers: network=infiniband: is not an allowed value; use plain or efa [any-argument-word]",
        ),
        (
            "empty",
            {"argument": "network", "word": "", "legal": ("plain", "efa")},
            "fail",
            "trainers: network='': is not an allowed value; use plain or efa [any-argument-word]",
        ),
    ],
    at_least: [
        ("at-limit", {"argument": "max", "value": 1, "least": 1}, "pass", ""),
        (
            "below",
            {"argument": "max", "value": 0, "least": 1},
            "fail",
            "trainers: max=0: is below 1; use 1 or more [any-argument-least]",
        ),
        (
            "negative",
            {"argument": "min", "value": -1, "least": 0},
            "fail",
            "trainers: min=-1: is below 0; use 0 or more [any-argument-least]",
        ),
    ],
    not_empty: [
        ("one", {"argument": "zones", "values": ("use1-az1",), "holds": "zone id"}, "pass", ""),
        (
            "none",
            {"argument": "zones", "values": (), "holds": "zone id"},
            "fail",
            "trainers: zones=[]: is empty; give at least one zone id [any-argument-not-empty]",
        ),
    ],
    distinct: [
        ("none", {"argument": "zones", "values": ()}, "pass", ""),
        ("different", {"argument": "zones", "values": ("use1-az1", "use1-az2")}, "pass", ""),
        (
            "twice",
            {"argument": "zones", "values": ("use1-az1", "use1-az2", "use1-az1")},
            "fail",
            (
                "trainers: zones=[use1-az1, use1-az2, use1-az1]: names use1-az1 twice; name it once "
                "[any-argument-distinct]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
