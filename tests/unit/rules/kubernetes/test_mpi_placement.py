"""Cases of gpufleet.rules.kubernetes.mpi_placement."""

from gpufleet.rules.kubernetes.mpi_placement import one_zone, preference_free, topology_queued, volume_zone

CASES = {
    one_zone: [
        ("id", {"zone": "use1-az1"}, "pass", ""),
        ("azure", {"zone": "eastus-1"}, "pass", ""),
        ("on-prem", {"zone": "hall-2"}, "pass", ""),
        (
            "name",
            {"zone": "us-east-1a"},
            "fail",
            (
                "trainers: zone=us-east-1a: is a zone name, which means another zone in another account; use the"
                " zone's id, such as use1-az1 [any-mpi-zone]"
            ),
        ),
        (
            "several",
            {"zone": "use1-az1,use1-az2"},
            "fail",
            (
                "trainers: zone=use1-az1,use1-az2: is not a zone id; use one zone id, such as use1-az1, or leave it"
                " out [any-mpi-zone]"
            ),
        ),
        (
            "empty",
            {"zone": ""},
            "fail",
            ("trainers: zone='': is not a zone id; use one zone id, such as use1-az1, or leave it out [any-mpi-zone]"),
        ),
    ],
    preference_free: [
        ("free", {"prefer": "onprem", "place": "", "queue": None}, "pass", ""),
        (
            "one-place",
            {"prefer": "onprem", "place": "cloud", "queue": None},
            "fail",
            "trainers: prefer=onprem: has no effect with place=cloud; leave one of them out [any-mpi-prefer]",
        ),
        (
            "queued",
            {"prefer": "onprem", "place": "", "queue": "gpus"},
            "fail",
            (
                "trainers: prefer=onprem: has no effect in queue gpus, whose flavors have an order; leave it out "
                "[any-mpi-prefer]"
            ),
        ),
    ],
    volume_zone: [
        ("same", {"volume_zone": "use1-az1", "zone": "use1-az1"}, "pass", ""),
        (
            "other",
            {"volume_zone": "use1-az1", "zone": "use1-az2"},
            "fail",
            (
                "trainers: volume_zone=use1-az1: is where the volume is, and the workers run in use1-az2; set "
                "zone=use1-az1 [any-mpi-volume-zone]"
            ),
        ),
        (
            "any",
            {"volume_zone": "use1-az1", "zone": None},
            "fail",
            (
                "trainers: volume_zone=use1-az1: is where the volume is, and the workers may run in any zone; "
                "set zone=use1-az1 [any-mpi-volume-zone]"
            ),
        ),
    ],
    topology_queued: [
        ("queue", {"topology": "gpufleet.dev/zone-id", "queue": "vision"}, "pass", ""),
        (
            "none",
            {"topology": "gpufleet.dev/zone-id", "queue": None},
            "fail",
            (
                "trainers: topology=gpufleet.dev/zone-id: is read only by Kueue, and the job has no queue; give "
                "the queue, or use zone [any-mpi-topology]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
