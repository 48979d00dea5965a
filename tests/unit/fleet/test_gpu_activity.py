"""Which jobs compute, which wait and which idle, by what exporters answer."""

import json
from importlib.resources import files
from pathlib import Path

import pytest

from gpufleet.fleet.gpu_activity import Activity, activity_of, activity_of_job
from gpufleet.fleet.gpu_jobs import running_jobs
from gpufleet.fleet.gpu_metrics import gpu_uses
from tests.unit.fleet.test_clusters import pod

METRICS = Path(__file__).parent / "metrics"


@pytest.mark.parametrize(
    ("file", "waits"),
    [
        ("dcgm_h100", "stuck"),
        # By power alone.
        ("dcgm_v100", "stuck"),
        # Neither power's limit nor the SMs: it may be a program without matrix products.
        ("dcgm_operator", "busy"),
    ],
)
def test_jobs_are_told_apart(file: str, waits: Activity) -> None:
    pods = [pod(f"{name}-worker-0", name, gpus=2) for name in ("trains", "waits", "sleeps")]
    uses = {"a": list(gpu_uses((METRICS / f"{file}.txt").read_text(encoding="utf-8")))}
    found = {job.name: job.activity for job in running_jobs(pods, uses)}
    assert found == {"trains": "computing", "waits": waits, "sleeps": "idle"}


@pytest.mark.parametrize(
    ("percent", "sm", "tensor", "power", "found"),
    [
        (0, 0.0, 0.0, 0.15, "idle"),
        (0, None, None, None, "idle"),
        # Utilization is of the last sample; the counters are of the time since the one before.
        (0, 0.02, 0.0, 0.4, "computing"),
        (0, 0.0, 0.01, 0.1, "computing"),
        (100, 0.29, 0.009, 0.29, "stuck"),
        (100, 0.3, 0.0, 0.29, "computing"),
        (100, 0.29, 0.01, 0.29, "computing"),
        (100, 0.29, 0.0, 0.3, "computing"),
        (100, None, None, 0.29, "stuck"),
        (100, 0.29, None, None, "stuck"),
        (100, None, 0.0, None, "busy"),
        (100, None, None, None, "busy"),
        # Kernels come and go: a program that computes a little.
        (90, 0.1, 0.0, 0.2, "stuck"),
        (89, 0.1, 0.0, 0.2, "computing"),
    ],
)
def test_limits(percent: float, sm: float | None, tensor: float | None, power: float | None, found: str) -> None:
    assert activity_of(percent, sm, tensor, power) == found


@pytest.mark.parametrize(
    ("gpus", "found"),
    [
        (("stuck", "stuck", "computing"), "computing"),
        (("stuck", "busy"), "busy"),
        # The rank that is gone has an idle GPU.
        (("stuck", "stuck", "idle"), "stuck"),
        (("idle", "idle"), "idle"),
    ],
)
def test_activity_of_a_job(gpus: tuple[Activity, ...], found: Activity) -> None:
    assert activity_of_job(gpus) == found


def test_an_instance_of_a_divided_gpu_is_told_by_its_engine() -> None:
    # As in kubernetes-sigs/dra-driver-nvidia-gpu#166: the driver tells no utilization of instances.
    text = "\n".join(
        f'DCGM_FI_PROF_{name}{{gpu="0",UUID="GPU-2c",GPU_I_PROFILE="1g.10gb",GPU_I_ID="{instance}"}} {value}'
        for instance, engine, tensor in ((8, 0.97, 0.2), (9, 0.0, 0.0))
        for name, value in (("GR_ENGINE_ACTIVE", engine), ("PIPE_TENSOR_ACTIVE", tensor))
    )
    assert [(each.percent, each.activity) for each in gpu_uses(text)] == [(97, "computing"), (0, "idle")]


def test_every_threshold_says_where_it_is_from() -> None:
    content = json.loads(files("gpufleet.fleet").joinpath("activity.json").read_text(encoding="utf-8"))
    assert {name: each["at_least"] for name, each in content.items()} == {
        "tensor_active": 0.01,
        "sm_active": 0.3,
        "power": 0.3,
        "busy_percent": 90,
    }
    assert all(each["source"] and each["meaning"] for each in content.values())
