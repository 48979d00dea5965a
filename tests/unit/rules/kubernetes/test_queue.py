"""Cases of gpufleet.rules.kubernetes.queue."""

from gpufleet.rules.kubernetes.queue import flavor_count, flavor_known, flavor_name, flavor_whole, overflow_timeout

CASES = {
    flavor_known: [
        ("known", {"namespace": "vision", "flavor": "h100", "known": ("a100", "h100")}, "pass", ""),
        (
            "near",
            {"namespace": "vision", "flavor": "H100", "known": ("a100", "h100")},
            "fail",
            (
                "trainers: quotas.vision=H100: is not one of the flavors; did you mean h100? (use a100 or h100) "
                "[any-queue-flavor]"
            ),
        ),
        (
            "none",
            {"namespace": "vision", "flavor": "h100", "known": ()},
            "fail",
            ("trainers: quotas.vision=h100: is not one of the flavors; name it in flavors [any-queue-flavor]"),
        ),
    ],
    flavor_whole: [
        ("both", {"flavor": "h100", "given": ("gpu", "zone")}, "pass", ""),
        (
            "no-zone",
            {"flavor": "h100", "given": ("gpu",)},
            "fail",
            ("trainers: flavors.h100=[gpu]: lacks zone; give gpu and zone as texts [any-queue-flavor-known]"),
        ),
        (
            "empty",
            {"flavor": "h100", "given": ()},
            "fail",
            ("trainers: flavors.h100=[]: lacks gpu and zone; give gpu and zone as texts [any-queue-flavor-known]"),
        ),
    ],
    flavor_name: [
        ("gpu", {"flavor": "h100"}, "pass", ""),
        (
            "cpu",
            {"flavor": "cpu"},
            "fail",
            (
                "trainers: flavors=cpu: is taken by the flavor for launchers; use another name, such as the "
                "GPU's [any-queue-flavor-name]"
            ),
        ),
    ],
    overflow_timeout: [
        ("limit", {"minutes": 6}, "pass", ""),
        (
            "below",
            {"minutes": 5.9},
            "fail",
            (
                "trainers: overflow.capacity_timeout_minutes=5.9: is less than the 6 minutes that a new node can take; "
                "give a pool's nodes the time to start [any-queue-overflow-timeout]"
            ),
        ),
    ],
    flavor_count: [
        ("most", {"count": 63}, "pass", ""),
        (
            "above",
            {"count": 64},
            "fail",
            (
                "trainers: flavors=64: is more than the 63 that Kueue allows; make a queue for each kind of GPU "
                "[any-queue-flavors]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
