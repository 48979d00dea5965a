"""The jobs that run on an environment's pools now, as far as whatever runs them tells."""

from collections.abc import Collection
from datetime import datetime
from time import monotonic

from gpufleet.errors import UserError
from gpufleet.fleet.clusters import ANSWER_SECONDS, listed_objects
from gpufleet.fleet.gpu_jobs import GpuJob, running_jobs
from gpufleet.jobs.kubernetes.api import KubernetesApi
from gpufleet.jobs.settings import JobSettings
from gpufleet.pools.node_labels import PREFIX
from gpufleet.usage.backends import allocated_by_backend
from gpufleet.usage.running_jobs import running_jobs as running_allocations


def jobs_on_pools(settings: JobSettings, labels: Collection[str], now: datetime) -> list[GpuJob]:
    """The running jobs with GPUs: of its cluster those on nodes of these pools, of a batch service all.

    labels: values of the label `gpufleet.dev/pool`. Errors: UserError where nothing answers, ModuleNotFoundError where
    the SDK of the cloud is not installed.
    """
    found: list[GpuJob] = []
    if settings.on != "kubernetes":
        found += running_allocations(allocated_by_backend(settings, now, now))
    if labels and (settings.kubeconfig or settings.on == "kubernetes"):
        found += _jobs_on_nodes(KubernetesApi.of(settings.kubeconfig, settings.environment), labels)
    return found


def _jobs_on_nodes(api: KubernetesApi, labels: Collection[str]) -> list[GpuJob]:
    end, key = monotonic() + ANSWER_SECONDS, f"{PREFIX}pool"
    try:
        nodes, pods = (
            listed_objects(api, f"/api/v1/{kind}", max(0.1, end - monotonic())) for kind in ("nodes", "pods")
        )
        names = {
            each["metadata"]["name"] for each in nodes if (each["metadata"].get("labels") or {}).get(key) in labels
        }
        return running_jobs([pod for pod in pods if pod["spec"].get("nodeName") in names], {})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{api.where}: does not answer like Kubernetes: {type(error).__name__} {error}") from error


def job_words(job: GpuJob) -> str:
    """A job in words: `training/first, 8 GPUs, of ana`."""
    where = f"{job.namespace}/{job.name}" if job.namespace else job.name
    return f"{where}, {job.gpus} GPUs{f', of {job.user}' if job.user else ''}"
