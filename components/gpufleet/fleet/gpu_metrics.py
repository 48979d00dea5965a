"""GPU use in what an exporter of NVIDIA's metrics answers, in Prometheus' text format."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

UTILISATION = {"DCGM_FI_DEV_GPU_UTIL": 1.0, "nvidia_smi_utilization_gpu_ratio": 100.0}
"""Metric -> what makes it percent. DCGM's exporter gives percent (github.com/NVIDIA/dcgm-exporter,
etc/default-counters.csv), nvidia_gpu_exporter, on NVML's figures, a share of 1 (its METRICS.md)."""
_OWNERS = (("namespace", "pod_namespace"), ("pod", "pod_name"))
"""Labels that name who has a GPU, now and by --use-old-namespace of DCGM's exporter (its
internal/pkg/transformation/const.go)."""
_SAMPLE = re.compile(r"([A-Za-z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True, slots=True)
class GpuUse:
    """One GPU now. pod and namespace: of whoever it is assigned to, empty where the exporter does not tell."""

    percent: float
    namespace: str
    pod: str


def gpu_uses(text: str) -> Iterator[GpuUse]:
    """Every GPU in an exporter's answer. Other samples and NaN are skipped."""
    for line in text.splitlines():
        found = _SAMPLE.match(line)
        if found is None or found[1] not in UTILISATION:
            continue
        try:
            percent = float(found[3]) * UTILISATION[found[1]]
        except ValueError:
            continue
        if percent != percent:
            continue
        labels = dict(_LABEL.findall(found[2] or ""))
        namespace, pod = (next((labels[word] for word in words if word in labels), "") for words in _OWNERS)
        yield GpuUse(percent, namespace, pod)
