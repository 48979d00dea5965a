"""The jobs of a namespace, and one of them in detail, for a person or a program."""

from collections.abc import Mapping
from typing import Any

from gpufleet.errors import UserError
from gpufleet.jobs.kubernetes import api_paths
from gpufleet.jobs.kubernetes.api import KubernetesApi, KubernetesApiError, KubernetesObject
from gpufleet.jobs.kubernetes.job_kind import JOB_SET, KINDS, MPI_JOB, JobKind, kind_of, part_of
from gpufleet.jobs.kubernetes.operator_check import operator_error
from gpufleet.jobs.kubernetes.pending_reasons import pending_reasons
from gpufleet.jobs.kubernetes.status import JobState, container_exit_code, job_status, worker_count
from gpufleet.jobs.kubernetes.step_states import step_states


def list_jobs(api: KubernetesApi, namespace: str) -> list[dict[str, object]]:
    """Every job of a namespace, newest first; see `job_summary`. Errors: UserError, also without an operator."""
    found = [each for kind in KINDS if (each := _find(api, kind, kind.jobs(namespace))) is not None]
    if not found:
        raise UserError(operator_error(api) or f"{api.where}: the MPI operator is just being installed; try again")
    items = [job for each in found for job in each.get("items") or []]
    made = sorted(items, key=lambda job: str(job["metadata"]["creationTimestamp"]), reverse=True)
    return [job_summary(job) for job in made]


def job_summary(job: Mapping[str, Any]) -> dict[str, object]:
    """The JSON summary of a job. Its keys do not change: scripts depend on them."""
    status = job_status(job)
    return {
        "name": job["metadata"]["name"],
        "state": status.state.value,
        "since": status.since,
        "reason": status.reason,
        "message": status.message,
        "workers": worker_count(job),
        "gpusPerWorker": int(part_of(job, kind_of(job).gpus) or 1),
        "created": job["metadata"]["creationTimestamp"],
    }


def job_details(api: KubernetesApi, namespace: str, name: str) -> dict[str, object]:
    """One job: its summary, what it waits for, and the exit code of its launcher, or worker 0, if it has one.

    Errors: UserError when there is no such job.
    """
    job = find_job(api, namespace, name)
    state = job_status(job).state
    waiting = [] if state.ended or state is JobState.RUNNING else pending_reasons(api, job)
    steps = step_states(job)
    found: dict[str, object] = {"waiting": waiting, "exitCode": process_exit_code(api, job)}
    found |= {} if kind_of(job) is MPI_JOB else {"process": kind_of(job).process}
    return job_summary(job) | found | ({"steps": steps} if steps else {})


def find_job(api: KubernetesApi, namespace: str, name: str) -> KubernetesObject:
    """Errors: UserError when there is no such job."""
    job = look_up_job(api, namespace, name)
    if job is None:
        raise UserError(f"{name}: job not found in namespace {namespace}; see `gpufleet jobs list`")
    return job


def look_up_job(api: KubernetesApi, namespace: str, name: str) -> KubernetesObject | None:
    """The job of this name, of whichever kind; None if there is none."""
    return next((job for kind in KINDS if (job := _find(api, kind, kind.job(namespace, name)))), None)


def _find(api: KubernetesApi, kind: JobKind, path: str) -> KubernetesObject | None:
    """A role that says nothing of JobSets forbids them also where the cluster has none."""
    try:
        return api.find(path)
    except KubernetesApiError as error:
        if error.status == 403 and kind is JOB_SET:
            return None
        raise


def process_exit_code(api: KubernetesApi, job: Mapping[str, Any]) -> int | None:
    """The exit code of a job's last launcher or worker 0; None while it runs, or when nobody knows any more."""
    name, namespace = job["metadata"]["name"], job["metadata"]["namespace"]
    try:
        selector = kind_of(job).selector(name, process=True)
        found = api.get(api_paths.core(namespace, "pods"), labelSelector=selector)
    except KubernetesApiError:
        return None
    pods = sorted(found.get("items") or [], key=lambda pod: str(pod["metadata"]["creationTimestamp"]))
    return container_exit_code(pods[-1]) if pods else None


def cancel_job(api: KubernetesApi, namespace: str, name: str) -> None:
    """Delete a job; its pods, and with them its logs, go too. Errors: UserError when there is no such job."""
    job = find_job(api, namespace, name)
    # Pods go before the job: who sees no job can use its GPUs and its name again.
    api.delete(kind_of(job).job(namespace, name), propagationPolicy="Foreground")
