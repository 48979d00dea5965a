"""Cases of gpufleet.rules.kubernetes.mpi_placement."""

import pytest

from gpufleet.rules.kubernetes.mpi_placement import (
    one_topology,
    one_zone,
    preference_free,
    topology_queued,
    validate_placement,
    volume_zone,
)

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
        ("queue", {"argument": "topology", "topology": "gpufleet.dev/zone-id", "queue": "vision"}, "pass", ""),
        (
            "none",
            {"argument": "topology", "topology": "gpufleet.dev/zone-id", "queue": None},
            "fail",
            (
                "trainers: topology=gpufleet.dev/zone-id: is read only by Kueue, and the job has no queue; give "
                "the queue, or use zone [any-mpi-topology]"
            ),
        ),
    ],
    one_topology: [
        ("one", {"topology": "", "prefer": "example.com/rack"}, "pass", ""),
        (
            "two",
            {"topology": "gpufleet.dev/zone-id", "prefer": "example.com/rack"},
            "fail",
            "trainers: prefer_topology=example.com/rack: has no effect with topology=gpufleet.dev/zone-id; leave one "
            "of them out [any-mpi-topology-once]",
        ),
    ],
}


@pytest.mark.parametrize(
    ("job", "rules"),
    [
        ({"prefer_topology": "example.com/rack", "queue": "gpus"}, []),
        ({"prefer_topology": "example.com/rack"}, ["any-mpi-topology"]),
        ({"topology": "gpufleet.dev/zone-id", "prefer_topology": "r", "queue": "gpus"}, ["any-mpi-topology-once"]),
    ],
)
def test_job_has_one_topology_and_a_queue(job: dict[str, object], rules: list[str]) -> None:
    assert [finding.rule for finding in validate_placement(job) if finding.rejects] == rules


def test_case(case):
    case.check()
