"""GPU use in what an exporter of NVIDIA's metrics answers, in Prometheus' text format."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gpufleet.fleet.gpu_activity import Activity, activity_of

METRICS: Mapping[str, tuple[str, float]] = {
    "DCGM_FI_DEV_GPU_UTIL": ("percent", 1.0),
    "nvidia_smi_utilization_gpu_ratio": ("percent", 100.0),
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE": ("engine", 100.0),
    "DCGM_FI_PROF_SM_ACTIVE": ("sm", 1.0),
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": ("tensor", 1.0),
    "DCGM_FI_DEV_POWER_USAGE": ("watts", 1.0),
    "nvidia_smi_power_draw_watts": ("watts", 1.0),
    "DCGM_FI_DEV_ENFORCED_POWER_LIMIT": ("limit", 1.0),
    "nvidia_smi_enforced_power_limit_watts": ("limit", 1.0),
}
"""Metric -> what it tells, and what makes it percent, a share of 1 or watts. Sources: github.com/NVIDIA/dcgm-exporter,
etc/default-counters.csv; nvidia_gpu_exporter, on NVML's figures, METRICS.md."""
_OWNERS = (("namespace", "pod_namespace"), ("pod", "pod_name"))
"""Labels that name who has a GPU, now and by --use-old-namespace of DCGM's exporter (its
internal/pkg/transformation/const.go)."""
_SAMPLE = re.compile(r"([A-Za-z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True, slots=True)
class GpuUse:
    """One GPU, or one instance of a divided one, now.

    percent: utilization. pod and namespace: of the pod that it is assigned to, empty where the exporter does not tell.
    sm, tensor: as in `activity_of`; power: of its limit. None where the exporter does not tell.
    """

    percent: float
    namespace: str
    pod: str
    sm: float | None = None
    tensor: float | None = None
    power: float | None = None

    @property
    def activity(self) -> Activity:
        return activity_of(self.percent, self.sm, self.tensor, self.power)


def gpu_uses(text: str) -> Iterator[GpuUse]:
    """Every GPU in an exporter's answer whose utilization it tells. Other samples and NaN are skipped.

    Of an instance of a divided GPU (MIG) the share of time of its engine is the utilization: the driver tells no other.
    """
    figures: dict[tuple[str, ...], dict[str, float]] = {}
    owners: dict[tuple[str, ...], tuple[str, str]] = {}
    for line in text.splitlines():
        found = _SAMPLE.match(line)
        if found is None or found[1] not in METRICS:
            continue
        (name, factor), labels = METRICS[found[1]], dict(_LABEL.findall(found[2] or ""))
        try:
            value = float(found[3]) * factor
        except ValueError:
            continue
        if value != value:
            continue
        uuid = next((str(labels[word]) for word in ("UUID", "uuid", "gpu") if word in labels), "")
        gpu: tuple[str, ...] = (uuid, str(labels.get("GPU_I_ID", "")))
        figures.setdefault(gpu, {})[name] = value
        namespace, pod = (next((str(labels[word]) for word in words if word in labels), "") for words in _OWNERS)
        owners[gpu] = (namespace, pod)
    for each, told in figures.items():
        percent = told.get("percent", told.get("engine"))
        if percent is not None:
            power = told["watts"] / told["limit"] if "watts" in told and told.get("limit") else None
            yield GpuUse(percent, *owners[each], told.get("sm"), told.get("tensor"), power)
