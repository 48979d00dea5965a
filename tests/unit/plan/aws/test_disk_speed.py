"""The kind and the speed of a disk, as a launch template says it."""

import pytest

from gpufleet.plan.aws.launch_template import LaunchTemplate, set_disk
from gpufleet.plan.planned_pool import PoolBuilder
from gpufleet.plan.resource import UNKNOWN, Resource


@pytest.mark.parametrize(
    ("disks", "known", "unknown"),
    [
        ([{"volumeSize": 100, "volumeType": "gp3"}], {"disk_gib": 100}, []),
        (
            [{"volumeSize": 100, "volumeType": "gp3", "iops": 4000, "throughput": 1000}],
            {"disk_gib": 100, "disk_iops": 4000, "disk_throughput": 1000},
            [],
        ),
        # Of several the largest counts.
        (
            [{"volumeSize": 2, "iops": 16_000}, {"volumeSize": 500, "volumeType": "io2", "iops": 9000}],
            {"disk_gib": 500, "disk_type": "io2", "disk_iops": 9000},
            [],
        ),
        # Pools here never have an older kind, and no rule of ours is on it.
        ([{"volumeSize": 100, "volumeType": "io1", "iops": 50}], {"disk_gib": 100}, []),
        (
            [{"volumeSize": 100, "volumeType": UNKNOWN, "iops": UNKNOWN, "throughput": 250}],
            {"disk_gib": 100, "disk_throughput": 250},
            ["disk_type", "disk_iops"],
        ),
        ([{"volumeType": "gp3", "iops": 16_000}], {}, []),
    ],
)
def test_disk(disks: list[dict[str, object]], known: dict[str, object], unknown: list[str]) -> None:
    inputs = {"blockDeviceMappings": [{"ebs": disk} for disk in disks]}
    pool = PoolBuilder()
    set_disk(pool, LaunchTemplate(Resource("template", "aws:ec2/launchTemplate:LaunchTemplate", inputs), True))
    assert (pool.known, pool.unknown) == (known, unknown)
