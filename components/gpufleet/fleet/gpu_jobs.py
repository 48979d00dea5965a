"""What runs on the GPUs of a cluster: its jobs, from its pods and its exporters' figures."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from gpufleet.fleet.gpu_metrics import GpuUse
from gpufleet.fleet.stack_state import parse_time

GPU = "nvidia.com/gpu"
JOB_LABELS = ("training.kubeflow.org/job-name", "batch.kubernetes.io/job-name", "job-name")
"""Labels by which a pod says which job it is of: the MPI operator's, Kubernetes' own, and its older one."""
HUNG_AFTER = timedelta(minutes=30)


@dataclass(frozen=True)
class GpuJob:
    """A job whose pods are up, or a pod on its own.

    since: start of its youngest pod: from then on all of it is up. percent: of its busiest GPU now; None where no
    exporter tells. idle: for how long every look has found 0 %.
    """

    namespace: str
    name: str
    gpus: int
    pods: int
    since: datetime
    percent: float | None = None
    idle: timedelta = timedelta(0)

    @property
    def hung(self) -> bool:
        """Whether its pods have been up for half an hour, and all its GPUs at 0 % at each look."""
        return self.percent == 0 and self.idle >= HUNG_AFTER


def gpus_of(pod: Mapping[str, Any]) -> int:
    """GPUs that a pod asks for."""
    limits = [each.get("resources", {}).get("limits", {}) for each in pod.get("spec", {}).get("containers") or []]
    return sum(int(each.get(GPU, 0)) for each in limits)


def running_jobs(pods: Iterable[Mapping[str, Any]], uses: Mapping[str, Sequence[GpuUse]]) -> list[GpuJob]:
    """The jobs of running pods with GPUs, by namespace and name. uses: what the exporter of each node says."""
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for pod in pods:
        if pod.get("status", {}).get("phase") == "Running" and gpus_of(pod):
            groups.setdefault((pod["metadata"]["namespace"], _job_of(pod)), []).append(pod)
    return [_job(namespace, name, group, uses) for (namespace, name), group in sorted(groups.items())]


def _job(namespace: str, name: str, pods: Sequence[Mapping[str, Any]], uses: Mapping[str, Sequence[GpuUse]]) -> GpuJob:
    told = [_percent(pod, uses.get(pod["spec"].get("nodeName", ""), ())) for pod in pods]
    # A pod that nobody tells about may be the one that computes.
    percent = None if None in told else max(each for each in told if each is not None)
    since = max(filter(None, (parse_time(pod["status"].get("startTime")) for pod in pods)))
    return GpuJob(namespace, name, sum(map(gpus_of, pods)), len(pods), since, percent)


def _percent(pod: Mapping[str, Any], uses: Sequence[GpuUse]) -> float | None:
    """The busiest of a pod's GPUs; of its node's, where the exporter does not know pods."""
    own = [each.percent for each in uses if (each.namespace, each.pod) == _key(pod)]
    if not own and not any(each.pod for each in uses):
        own = [each.percent for each in uses]
    return max(own, default=None)


def _key(pod: Mapping[str, Any]) -> tuple[str, str]:
    return pod["metadata"]["namespace"], pod["metadata"]["name"]


def _job_of(pod: Mapping[str, Any]) -> str:
    labels = pod["metadata"].get("labels") or {}
    return str(next((labels[each] for each in JOB_LABELS if each in labels), pod["metadata"]["name"]))
