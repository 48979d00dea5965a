"""What is wrong with a node besides its GPUs' metrics."""

from typing import Any

import pytest

from gpufleet.node_health.node_faults import faults_of, is_gpu_node, pool_of

EXPECTED = {"types": {"p5.48xlarge": 8}, "pools": {"lab": 4}}


def node(capacity: int, allocatable: int, labels: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
    devices = [{"nvidia.com/gpu": str(count)} for count in (capacity, allocatable)]
    return {
        "metadata": {"name": "n", "labels": labels or {}, "creationTimestamp": "2026-11-28T04:00:00Z"},
        "spec": {},
        "status": {"capacity": devices[0], "allocatable": devices[1], **more},
    }


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        (node(8, 8, {"node.kubernetes.io/instance-type": "p5.48xlarge"}), []),
        # The plugin calls one unhealthy.
        (node(8, 7, {"node.kubernetes.io/instance-type": "p5.48xlarge"}), ["7 of 8 GPUs are usable"]),
        # The driver finds only seven.
        (node(7, 7, {"node.kubernetes.io/instance-type": "p5.48xlarge"}), ["7 of 8 GPUs are usable"]),
        (node(3, 3, {"gpufleet.dev/pool": "lab"}), ["3 of 4 GPUs are usable"]),
        (node(3, 3, {"gpufleet.dev/pool": "other"}), []),
    ],
)
def test_gpus_are_counted(case: dict[str, Any], expected: list[str]) -> None:
    assert [each.line for each in faults_of(case, "", EXPECTED)] == expected


def test_efa_interfaces_are_counted() -> None:
    case = node(8, 8)
    case["status"]["capacity"]["vpc.amazonaws.com/efa"] = "32"
    case["status"]["allocatable"]["vpc.amazonaws.com/efa"] = "31"
    assert [each.line for each in faults_of(case, "", {})] == ["31 of 32 EFA interfaces are usable"]


@pytest.mark.parametrize(
    ("kind", "status", "faulty"),
    [
        ("AcceleratedHardwareReady", "False", True),
        ("AcceleratedHardwareReady", "True", False),
        ("AcceleratedHardwareReady", "Unknown", False),
        ("GPUMissing", "True", True),
        ("GPUMissing", "False", False),
        # Any XID in the log, also an application's.
        ("XIDErrors", "True", False),
    ],
)
def test_conditions_of_the_clouds_agents(kind: str, status: str, faulty: bool) -> None:
    told = {"type": kind, "status": status, "reason": "NvidiaXID79Error", "message": "detected XID-79"}
    found = faults_of(node(8, 8, conditions=[told]), "", {})
    assert [each.key for each in found] == ([f"condition-{kind}"] if faulty else [])
    assert all("NvidiaXID79Error detected XID-79" in each.line and each.ends_work for each in found)


def test_gpu_nodes_and_their_pools() -> None:
    assert is_gpu_node(node(8, 8))
    assert is_gpu_node(node(0, 0, {"nvidia.com/gpu.present": "true"}))
    assert not is_gpu_node(node(0, 0))
    assert pool_of(node(1, 1, {"gpufleet.dev/pool": "a", "node.kubernetes.io/instance-type": "b"})) == "a"
    assert pool_of(node(1, 1, {"node.kubernetes.io/instance-type": "b"})) == "b"
