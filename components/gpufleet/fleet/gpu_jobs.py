"""What runs on the GPUs of a cluster: its jobs, from its pods and its exporters' figures."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from gpufleet.fleet.gpu_activity import Activity, activity_of_job
from gpufleet.fleet.gpu_metrics import GpuUse
from gpufleet.fleet.stack_state import parse_time

GPU = "nvidia.com/gpu"
JOB_LABELS = (
    "training.kubeflow.org/job-name",
    "jobset.sigs.k8s.io/jobset-name",
    "batch.kubernetes.io/job-name",
    "job-name",
)
"""Labels by which a pod says which job it is of: the MPI operator's, JobSet's, Kubernetes' own, and its older one."""
USER_LABELS = ("gpufleet.dev/user", "hub.jupyter.org/username")
"""Labels with a pod's user: of jobs, and of JupyterHub's notebooks."""
HUNG_AFTER = timedelta(minutes=30)


@dataclass(frozen=True)
class GpuJob:
    """A job whose pods are up, or a pod on its own.

    since: start of its youngest pod: from then on all of it is up. percent: of its busiest GPU now; None where no
    exporter tells; activity: the same. idle: for how long every look has found it idle or stuck.
    """

    namespace: str
    name: str
    gpus: int
    pods: int
    since: datetime
    percent: float | None = None
    activity: Activity | None = None
    user: str = ""
    project: str = ""
    idle: timedelta = timedelta(0)

    @property
    def computes(self) -> bool | None:
        """Whether it computes; None where nobody tells."""
        return None if self.activity is None else self.activity not in ("idle", "stuck")

    @property
    def hung(self) -> bool:
        """Whether its pods have been up for half an hour, and none of its GPUs has computed at any look."""
        return self.computes is False and self.idle >= HUNG_AFTER


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
    told = [_uses_of(pod, uses.get(pod["spec"].get("nodeName", ""), ())) for pod in pods]
    # A pod that nobody tells about may be the one that computes.
    gpus = [each for use in told for each in use] if all(told) else []
    since = max(filter(None, (parse_time(pod["status"].get("startTime")) for pod in pods)))
    return GpuJob(
        namespace,
        name,
        sum(map(gpus_of, pods)),
        len(pods),
        since,
        max((each.percent for each in gpus), default=None),
        activity_of_job(each.activity for each in gpus) if gpus else None,
        user=_label(pods, USER_LABELS),
        project=_label(pods, ("gpufleet.dev/project",)),
    )


def _uses_of(pod: Mapping[str, Any], uses: Sequence[GpuUse]) -> Sequence[GpuUse]:
    """A pod's GPUs; its node's, where the exporter does not know pods."""
    own = [each for each in uses if (each.namespace, each.pod) == _key(pod)]
    return own if own or any(each.pod for each in uses) else uses


def _label(pods: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> str:
    """The first of these labels that one of the pods has; empty if none has any."""
    found = (str((pod["metadata"].get("labels") or {}).get(key) or "") for key in keys for pod in pods)
    return next(filter(None, found), "")


def _key(pod: Mapping[str, Any]) -> tuple[str, str]:
    return pod["metadata"]["namespace"], pod["metadata"]["name"]


def _job_of(pod: Mapping[str, Any]) -> str:
    labels = pod["metadata"].get("labels") or {}
    return str(next((labels[each] for each in JOB_LABELS if each in labels), pod["metadata"]["name"]))
