"""The jobs of a namespace, and one of them in detail, for a person or a program."""

from collections.abc import Mapping
from typing import Any

from gpufleet.errors import UserError
from gpufleet.jobs.kubernetes import api_paths
from gpufleet.jobs.kubernetes.api import KubernetesApi, KubernetesApiError, KubernetesObject
from gpufleet.jobs.kubernetes.operator_check import operator_error
from gpufleet.jobs.kubernetes.pending_reasons import pending_reasons
from gpufleet.jobs.kubernetes.status import JobState, container_exit_code, job_status, worker_count
from gpufleet.jobs.kubernetes.step_states import step_states


def list_jobs(api: KubernetesApi, namespace: str) -> list[dict[str, object]]:
    """Every MPIJob of a namespace, newest first; see `job_summary`. Errors: UserError, also without an operator."""
    found = api.find(api_paths.jobs(namespace))
    if found is None:
        raise UserError(operator_error(api) or f"{api.where}: the MPI operator is just being installed; try again")
    made = sorted(found.get("items") or [], key=lambda job: str(job["metadata"]["creationTimestamp"]), reverse=True)
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
        "gpusPerWorker": int(job["spec"].get("slotsPerWorker") or 1),
        "created": job["metadata"]["creationTimestamp"],
    }


def job_details(api: KubernetesApi, namespace: str, name: str) -> dict[str, object]:
    """One job: its summary, what it waits for, and the launcher's exit code if it has one.

    Errors: UserError when there is no such job.
    """
    job = find_job(api, namespace, name)
    state = job_status(job).state
    waiting = [] if state.ended or state is JobState.RUNNING else pending_reasons(api, job)
    steps = step_states(job)
    found = {"waiting": waiting, "exitCode": launcher_exit_code(api, namespace, name)}
    return job_summary(job) | found | ({"steps": steps} if steps else {})


def find_job(api: KubernetesApi, namespace: str, name: str) -> KubernetesObject:
    """Errors: UserError when there is no such job."""
    job = api.find(api_paths.job(namespace, name))
    if job is None:
        raise UserError(f"{name}: job not found in namespace {namespace}; see `gpufleet jobs list`")
    return job


def launcher_exit_code(api: KubernetesApi, namespace: str, name: str) -> int | None:
    """The exit code of a job's last launcher; None while it runs, or when nobody knows any more."""
    try:
        found = api.get(api_paths.core(namespace, "pods"), labelSelector=api_paths.job_selector(name, "launcher"))
    except KubernetesApiError:
        return None
    pods = sorted(found.get("items") or [], key=lambda pod: str(pod["metadata"]["creationTimestamp"]))
    return container_exit_code(pods[-1]) if pods else None


def cancel_job(api: KubernetesApi, namespace: str, name: str) -> None:
    """Delete a job; its pods, and with them its logs, go too. Errors: UserError when there is no such job."""
    find_job(api, namespace, name)
    # Pods go before the job: who sees no job can use its GPUs and its name again.
    api.delete(api_paths.job(namespace, name), propagationPolicy="Foreground")
