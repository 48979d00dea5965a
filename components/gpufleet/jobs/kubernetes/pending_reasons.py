"""What holds a job up: pods that wait, quota, the queue, and what the operator does not like."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gpufleet.jobs.kubernetes import api_paths
from gpufleet.jobs.kubernetes.api import KubernetesApi, KubernetesApiError, KubernetesObject
from gpufleet.jobs.kubernetes.job_kind import kind_of, part_of
from gpufleet.jobs.kubernetes.kueue_reasons import kueue_reason_text
from gpufleet.jobs.kubernetes.pending_pods import PendingPods, group_pending_pods, is_starting
from gpufleet.rules.messages import one_line

QUEUE = "kueue.x-k8s.io/queue-name"
_STARTING_ASKED = 3
"""Pods whose events are looked at when their containers do not start. They mostly wait for the same volume."""


def pending_reasons(api: KubernetesApi, job: Mapping[str, Any]) -> list[str]:
    """What a job that does not run waits for, a line each; the same again while nothing changes.

    Errors: Unreachable. What may not be looked at is left out.
    """
    return list(dict.fromkeys(line for line in _lines(api, job)))


def _lines(api: KubernetesApi, job: Mapping[str, Any]) -> Iterator[str]:
    name, namespace = job["metadata"]["name"], job["metadata"]["namespace"]
    kind = kind_of(job)
    if part_of(job, kind.suspend):
        yield from _queued(api, job)
        return
    pods = _items(
        api,
        api_paths.core(namespace, "pods"),
        labelSelector=kind.selector(name),
        fieldSelector="status.phase=Pending",
    )
    for wait in group_pending_pods(pods):
        yield wait.line
    yield from _starting(api, namespace, sorted(pod["metadata"]["name"] for pod in pods if is_starting(pod)))
    # Pods that could not even be made (quota, admission), and jobs that the operator finds invalid.
    for owner in (name, f"{name}-{kind.process_owner}"):
        for warning in _warnings(api, namespace, owner):
            yield f"{owner}: {warning}"


def _starting(api: KubernetesApi, namespace: str, pods: Sequence[str]) -> Iterator[str]:
    """Pods whose containers do not start, with one warning together."""
    by_warning: dict[str, list[str]] = {}
    for pod in pods[:_STARTING_ASKED]:
        for warning in _warnings(api, namespace, pod):
            by_warning.setdefault(warning, []).append(pod)
    others = len(pods) - _STARTING_ASKED
    more = f" ({others} more pods are starting)" if others > 0 else ""
    for warning, names in by_warning.items():
        yield PendingPods(tuple(names), warning + more).line


def _queued(api: KubernetesApi, job: Mapping[str, Any]) -> Iterator[str]:
    name, namespace = job["metadata"]["name"], job["metadata"]["namespace"]
    queue = (job["metadata"].get("labels") or {}).get(QUEUE)
    if queue is None:
        yield f"{name}: is suspended, and in no queue that would start it"
        return
    owner = f"kueue.x-k8s.io/job-uid={job['metadata'].get('uid')}"
    path = f"/apis/kueue.x-k8s.io/v1beta2/namespaces/{namespace}/workloads"
    said = [
        one_line(kueue_reason_text(str(condition.get("message") or "")))
        for workload in _items(api, path, labelSelector=owner)
        for condition in (workload.get("status") or {}).get("conditions") or []
        if condition.get("type") == "QuotaReserved" and condition.get("status") == "False"
    ]
    yield f"{name}: waits for queue {queue}" + (f": {said[0]}" if said and said[0] else "")


def _warnings(api: KubernetesApi, namespace: str, name: str) -> list[str]:
    """The last warning of each kind about an object."""
    events = _items(
        api, api_paths.core(namespace, "events"), fieldSelector=f"involvedObject.name={name},type=Warning", limit=50
    )
    by_reason = {}
    for event in sorted(events, key=_last):
        # The scheduler's words stand in the pod's own conditions.
        if event.get("reason") != "FailedScheduling":
            by_reason[event.get("reason")] = one_line(" ".join(str(event.get("message") or "").split()))
    return [f"{reason}: {message}" for reason, message in by_reason.items()]


def _last(event: Mapping[str, Any]) -> str:
    return str(event.get("lastTimestamp") or event.get("eventTime") or event["metadata"].get("creationTimestamp") or "")


def _items(api: KubernetesApi, path: str, **query: object) -> list[KubernetesObject]:
    """Errors: Unreachable."""
    try:
        found = api.find(path, **query) or {}
    except KubernetesApiError as error:
        if error.status in (401, 403):
            return []
        raise
    return list(found.get("items") or [])
