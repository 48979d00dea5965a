"""Cases of gpufleet.rules.kubernetes.software."""

import pytest

from gpufleet.rules import Status
from gpufleet.rules.kubernetes.software import software_needed, validate_software

CASES = {
    software_needed: [
        ("there", {"name": "efa-plugin", "software": ["efa-plugin"], "pools": ["big"]}, "pass", ""),
        ("not-needed", {"name": "efa-plugin", "software": [], "pools": []}, "pass", ""),
        (
            "device-plugin",
            {"name": "device-plugin", "software": ["mpi-operator"], "pools": ["big", "small"]},
            "fail",
            "trainers: software=[mpi-operator]: lacks device-plugin: no pod gets a GPU on nodes of big and small; add "
            "device-plugin, or leave software out [aws-software-needed]",
        ),
        (
            "efa-plugin",
            {"name": "efa-plugin", "software": ["device-plugin"], "pools": ["big"]},
            "fail",
            "trainers: software=[device-plugin]: lacks efa-plugin: no pod gets an EFA interface on nodes of big, and "
            "no worker is placed; add efa-plugin, or leave software out [aws-software-needed]",
        ),
        (
            "autoscaler",
            {"name": "autoscaler", "software": ["device-plugin"], "pools": ["big"]},
            "fail",
            "trainers: software=[device-plugin]: lacks autoscaler: nothing starts a node of big, whose min is 0; add "
            "autoscaler, or leave software out, or give the pools a min [aws-software-needed]",
        ),
    ],
}
POOL = {"types": ["g5.xlarge"], "max": 2}
OWN = {"gpu": "V100", "nodes": ["gpu-1"]}
PLUGIN = ["device-plugin"]


def test_case(case):
    case.check()


@pytest.mark.parametrize(
    ("software", "pool", "lacking"),
    [
        (["mpi-operator"], POOL | {"network": "efa"}, ["device-plugin", "efa-plugin", "autoscaler"]),
        (["mpi-operator"], POOL | {"image": "bottlerocket"}, ["autoscaler"]),
        (["gpu-operator", "autoscaler"], POOL, []),
        (PLUGIN, POOL | {"min": 1}, []),
        (PLUGIN, POOL | {"min": 0}, ["autoscaler"]),
        (PLUGIN, POOL | {"schedule": [{"at": "08:00", "min": 1}]}, []),
        (PLUGIN, POOL | {"schedule": [{"at": "20:00", "max": 0}]}, ["autoscaler"]),
        (PLUGIN, OWN, []),
        (["mpi-operator"], OWN, ["device-plugin"]),
        ([], POOL | {"network": "efa"}, []),
    ],
)
def test_what_a_pool_needs(software, pool, lacking):
    found = [each for each in validate_software(software, {"big": pool}) if each.status is Status.FAIL]
    assert [each.problem.split(":")[0] for each in found] == [f"lacks {name}" for name in lacking]
