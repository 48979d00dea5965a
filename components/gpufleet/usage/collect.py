"""What the API server tells now of GPUs that are held, and were: pods, their nodes, and jobs whose pods are gone."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from gpufleet.fleet.gpu_jobs import JOB_LABELS, USER_LABELS, gpus_of
from gpufleet.fleet.node_facts import node_facts
from gpufleet.fleet.stack_state import parse_time
from gpufleet.usage.allocation import UNKNOWN, GpuAllocation

Object = Mapping[str, Any]
_ENDED = ("Succeeded", "Failed")


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
            job_uid=_owner(meta),
            gpus=gpus,
            start=start,
            end=None if end is None else max(start, end),
            seen=now,
            exact=exact,
            **_whose(meta, environment, project),
            **asdict(node_facts(places.get(pod["spec"].get("nodeName", "")), pod["spec"].get("nodeSelector"))),
        )


def allocated_by_jobs(
    jobs: Sequence[Object], known: set[str], environment: str, project: str | None, now: datetime
) -> Iterator[GpuAllocation]:
    """What ended MPIJobs held of which no pod is known: their workers are deleted when they end.

    known: uids of jobs that pods tell of. By the job's own times, waiting for nodes included; of a job that was
    suspended, only since it was resumed last. Source: kubeflow/mpi-operator v0.7.0, pkg/apis/kubeflow/v2beta1/types.go.
    """
    for job in jobs:
        meta, spec, status = job["metadata"], job["spec"], job.get("status") or {}
        start, end = parse_time(status.get("startTime")), parse_time(status.get("completionTime"))
        if str(meta["uid"]) in known or start is None or end is None:
            continue
        worker = (spec.get("mpiReplicaSpecs") or {}).get("Worker") or {}
        template = (worker.get("template") or {}).get("spec") or {}
        gpus = int(worker.get("replicas") or 0) * gpus_of({"spec": template})
        if gpus:
            yield GpuAllocation(
                uid=f"job/{meta['uid']}",
                name=str(meta["name"]),
                job=str(meta["name"]),
                job_uid=str(meta["uid"]),
                gpus=gpus,
                start=start,
                end=max(start, end),
                seen=now,
                exact=False,
                **_whose(meta, environment, project),
                **asdict(node_facts(None, template.get("nodeSelector"))),
            )


def ends_of_jobs(jobs: Sequence[Object]) -> dict[str, datetime]:
    """When each MPIJob ended, by its uid."""
    found = {str(job["metadata"]["uid"]): parse_time((job.get("status") or {}).get("completionTime")) for job in jobs}
    return {uid: end for uid, end in found.items() if end is not None}


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
