"""What the API server tells now of GPUs that are held, and were: pods, their nodes, and jobs whose pods are gone."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from gpufleet.fleet.gpu_jobs import JOB_LABELS, USER_LABELS, gpus_of
from gpufleet.fleet.node_facts import node_facts
from gpufleet.fleet.stack_state import parse_time
from gpufleet.jobs.kubernetes.job_kind import JOB_SET, kind_of, part_of
from gpufleet.jobs.kubernetes.status import worker_count
from gpufleet.usage.allocation import UNKNOWN, GpuAllocation

Object = Mapping[str, Any]
_ENDED = ("Succeeded", "Failed")
_JOB_SET_UID = "jobset.sigs.k8s.io/jobset-uid"
"""A pod of a JobSet belongs to a Job of its, and names the JobSet by this label.

Source: kubernetes-sigs/jobset v0.12.0, api/jobset/v1alpha2/jobset_types.go (JobSetUIDKey)."""


def allocated_by_pods(
    pods: Sequence[Object], nodes: Sequence[Object], environment: str, project: str | None, now: datetime
) -> Iterator[GpuAllocation]:
    """What each pod with GPUs holds or held. A pod that no node was found for has held none."""
    places = {node["metadata"]["name"]: node for node in nodes}
    for pod in pods:
        start, gpus = _start(pod), gpus_of(pod)
        if not gpus or start is None:
            continue
        meta, labels = pod["metadata"], pod["metadata"].get("labels") or {}
        end, exact = _end(pod, start)
        yield GpuAllocation(
            uid=str(meta["uid"]),
            name=str(meta["name"]),
            job=str(next((labels[each] for each in JOB_LABELS if each in labels), meta["name"])),
            job_uid=str(labels.get(_JOB_SET_UID) or _owner(meta)),
            gpus=gpus,
            start=start,
            end=None if end is None else max(start, end),
            seen=now,
            exact=exact,
            **_whose(meta, environment, project),
            **asdict(node_facts(places.get(pod["spec"].get("nodeName", "")), pod["spec"].get("nodeSelector"))),
        )


def allocated_by_jobs(
    jobs: Sequence[Object],
    known: Mapping[str, Collection[str]],
    environment: str,
    project: str | None,
    now: datetime,
) -> Iterator[GpuAllocation]:
    """What workers of ended jobs held of which no pod is known.

    An MPIJob's are all deleted when it ends. Of a JobSet that fails, the Job controller deletes those that still run
    (kubernetes.io/docs/concepts/workloads/controllers/job): each worker that is gone has its own record. known: by
    the uid of each job that pods tell of, the names of these pods. By the job's own times, waiting for nodes included;
    of a job that was suspended, only since it was resumed last. Source: kubeflow/mpi-operator v0.7.0,
    pkg/apis/kubeflow/v2beta1/types.go.
    """
    for job in jobs:
        meta, kind = job["metadata"], kind_of(job)
        (start, end), uid, name = _times(job), str(meta["uid"]), str(meta["name"])
        template = part_of(job, kind.worker_pod) or {}
        workers, gpus = worker_count(job), gpus_of({"spec": template})
        if start is None or end is None or not gpus:
            continue
        if kind is JOB_SET:
            pods = {index: f"{name}-{kind.process_owner}-{index}" for index in range(workers)}
            gone = [index for index, pod in pods.items() if not _names(known.get(uid, ()), pod)]
            missing = [(f"worker/{uid}/{index}", pods[index], gpus) for index in gone]
        else:
            missing = [] if uid in known or not workers else [(f"job/{uid}", name, workers * gpus)]
        for record, pod, held in missing:
            yield GpuAllocation(
                uid=record,
                name=pod,
                job=name,
                job_uid=uid,
                gpus=held,
                start=start,
                end=max(start, end),
                seen=now,
                exact=False,
                **_whose(meta, environment, project),
                **asdict(node_facts(None, template.get("nodeSelector"))),
            )


def ends_of_jobs(jobs: Sequence[Object]) -> dict[str, datetime]:
    """When each job ended, by its uid."""
    found = {str(job["metadata"]["uid"]): _times(job)[1] for job in jobs}
    return {uid: end for uid, end in found.items() if end is not None}


def _names(pods: Collection[str], worker: str) -> bool:
    """Whether one of these is the worker, or a pod of it: the Job controller adds a random end to its name."""
    return any(pod == worker or pod.startswith(f"{worker}-") for pod in pods)


def _times(job: Object) -> tuple[datetime | None, datetime | None]:
    """When a job began and ended. A JobSet has conditions only: it began when its queue let it, or was made."""
    status = job.get("status") or {}
    if kind_of(job) is not JOB_SET:
        return parse_time(status.get("startTime")), parse_time(status.get("completionTime"))
    since = {
        (each.get("type"), each.get("status")): each.get("lastTransitionTime")
        for each in status.get("conditions") or []
    }
    began = since.get(("Suspended", "False")) or job["metadata"].get("creationTimestamp")
    return parse_time(began), parse_time(since.get(("Completed", "True")) or since.get(("Failed", "True")))


def _start(pod: Object) -> datetime | None:
    """When the pod was bound to its node: from then on its GPUs are nobody else's, image pull included."""
    if not pod["spec"].get("nodeName"):
        return None
    status = pod.get("status") or {}
    for each in status.get("conditions") or []:
        if each.get("type") == "PodScheduled" and each.get("status") == "True":
            return parse_time(each.get("lastTransitionTime"))
    return parse_time(status.get("startTime")) or parse_time(pod["metadata"].get("creationTimestamp"))


def _end(pod: Object, start: datetime) -> tuple[datetime | None, bool]:
    """When an ended pod's last container had; and whether its status holds that, or it is guessed from its
    conditions."""
    status = pod.get("status") or {}
    if status.get("phase") not in _ENDED:
        return None, True
    states = [each.get("state") or {} for each in status.get("containerStatuses") or []]
    ends = [parse_time((each.get("terminated") or {}).get("finishedAt")) for each in states]
    if ends and None not in ends:
        return max(each for each in ends if each is not None), True
    # A pod that was evicted, or whose node went away, has no containers that tell.
    changes = [parse_time(each.get("lastTransitionTime")) for each in status.get("conditions") or []]
    return max((each for each in changes if each is not None), default=start), False


def _owner(meta: Object) -> str:
    owners = [each for each in meta.get("ownerReferences") or [] if each.get("controller")]
    return str(owners[0]["uid"]) if owners else ""


def _whose(meta: Object, environment: str, project: str | None) -> dict[str, Any]:
    labels = meta.get("labels") or {}
    return {
        "environment": environment,
        "namespace": str(meta["namespace"]),
        "user": str(next((labels[each] for each in USER_LABELS if labels.get(each)), UNKNOWN)),
        "team": str(labels.get("gpufleet.dev/team") or meta["namespace"]),
        "project": str(labels.get("gpufleet.dev/project") or project or UNKNOWN),
    }
