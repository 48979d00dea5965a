"""NVIDIA's GPU operator: the chart's values, refusals."""

import pytest

from gpufleet.kubernetes.gpu_operator import GpuOperator
from tests.components.recorder import construct, refusal

GPU = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("args", "driver", "nfd"),
    [
        ({}, {"enabled": True, "rdma": {"enabled": False}}, True),
        ({"driver": False}, {"enabled": False, "rdma": {"enabled": False}}, True),
        ({"rdma": True}, {"enabled": True, "rdma": {"enabled": True}}, False),
    ],
    ids=["own driver", "driver in the image", "rdma"],
)
def test_chart(args, driver, nfd, preview):
    recording = construct(lambda: GpuOperator("gpus", args), preview)
    assert recording.one("kubernetes:helm.sh/v3:Release", "gpus-release").inputs == {
        "chart": "gpu-operator",
        "version": "v26.7.0",
        "name": "gpu-operator",
        "namespace": "gpu-operator",
        "createNamespace": True,
        "atomic": True,
        "timeout": 600,
        "repositoryOpts": {"repo": "https://helm.ngc.nvidia.com/nvidia"},
        "values": {"driver": driver, "nfd": {"enabled": nfd}, "daemonsets": {"tolerations": [GPU]}},
    }
    assert recording.outputs["gpus"] == {"resource": "nvidia.com/gpu"}


def test_refuses_rdma_of_somebody_elses_driver(preview):
    assert refusal(lambda: GpuOperator("gpus", {"rdma": True, "driver": False}), preview) == [
        "gpus: rdma=true: needs the operator's driver; set driver=true and use nodes without one "
        "[any-gpu-operator-rdma]"
    ]
