"""What the stand-in autoscaler of a rehearsal is told."""

from dataclasses import replace

import pytest

from gpufleet_rehearsal.kubernetes.autoscaling import BOOT_SECONDS, IDLE_SECONDS, SHORTEST, idle_seconds, scaling
from gpufleet_rehearsal.kubernetes.node_groups import NodeGroup

MACHINE = {"driver": True, "efa_interfaces": 1, "huge_pages": 5128, "built_in": []}
GROUP = NodeGroup("trainers", 0, 0, 4, "g5.8xlarge", ("use1-az2", "use1-az1"), {"a": "b"}, (), MACHINE)


def release(idle):
    return {"chart": "cluster-autoscaler", "values": {"extraArgs": {"scale-down-unneeded-time": idle}}}


@pytest.mark.parametrize(
    ("said", "seconds"), [("90s", 90), ("10m", 600), ("1h", 3600), ("", IDLE_SECONDS), ("soon", 600)]
)
def test_idle_time_is_the_charts(said, seconds):
    assert idle_seconds(release(said)) == seconds


def test_pools_grow_in_their_first_zone_in_the_rehearsals_time():
    told = scaling([GROUP], release("10m"), 0.01)
    assert (told.idle_seconds, told.boot_seconds) == (6.0, BOOT_SECONDS * 0.01)
    assert [(row["pool"], row["zone"], row["min"], row["max"]) for row in told.pools] == [
        ("trainers", "use1-az2", 0, 4)
    ]
    # Jobs' pods come one by one, also where the cloud takes no time.
    assert scaling([GROUP], release("10m"), 0).idle_seconds == SHORTEST


def test_all_that_a_real_one_would_learn_of_an_empty_group_is_told():
    taint = {"key": "team", "effect": "NO_SCHEDULE"}
    known = replace(GROUP, taints=(taint,), tags={"Name": "trainers"}, scaling_tags={"a": "tag"})
    (row,) = scaling([known], release("10m"), 0.01).pools
    assert row == {
        "pool": "trainers",
        "type": "g5.8xlarge",
        "zone": "use1-az2",
        "machine": MACHINE,
        "min": 0,
        "max": 4,
        "labels": {"a": "b"},
        "taints": [taint],
        "tags": {"Name": "trainers"},
        "scaling_tags": {"a": "tag"},
    }


def test_groups_without_gpus_stay_as_they_are():
    assert scaling([replace(GROUP, machine=None)], release("10m"), 0.01).pools == []


def test_without_the_chart_nothing_is_looked_after():
    assert scaling([GROUP], None, 0.01).pools == []


def test_pools_of_aks_scale_themselves():
    own = replace(GROUP, pool="own", scales_itself=True)
    assert [row["pool"] for row in scaling([GROUP, own], None, 0.01).pools] == ["own"]
