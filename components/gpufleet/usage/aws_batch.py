"""GPUs that jobs on AWS Batch hold and held: one record for each try of a job, of an array's child or of all nodes.

Batch keeps jobs some 7 days after their end. Sources: docs.aws.amazon.com/batch/latest/APIReference/API_JobDetail.html,
API_AttemptDetail.html.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from gpufleet.errors import UserError
from gpufleet.jobs.aws_batch.client import AwsBatchClient
from gpufleet.jobs.aws_batch.jobs import AwsBatchJobs
from gpufleet.jobs.aws_batch.status import JobDetail, child_count, has_ended, multinode_count
from gpufleet.jobs.settings import JobSettings
from gpufleet.usage.allocation import UNKNOWN, GpuAllocation

_WITH_TIMES = ("STARTING", "RUNNING", "SUCCEEDED", "FAILED")
"""States of children that may have held GPUs."""
_DESCRIBED = 100
"""Most instances of one DescribeContainerInstances."""


def allocated_on_aws_batch(settings: JobSettings, now: datetime) -> list[GpuAllocation]:
    """What the environment's jobs hold and held, as far as Batch still knows. Errors: UserError."""
    assert settings.batch is not None
    aws = AwsBatchClient(settings.batch.region)
    jobs = AwsBatchJobs(aws, settings.batch, settings.environment)
    found = [job for job in jobs.describe(_ids(jobs)) if job is not None]
    types = _types(aws, [job for job in found if not has_ended(job)])
    return [each for job in found for each in allocations_of(job, settings, types, now)]


def allocations_of(
    job: JobDetail, settings: JobSettings, types: Mapping[str, str], now: datetime
) -> Iterator[GpuAllocation]:
    """One record for each try. types: instance type by the ARN of an ECS container instance."""
    assert settings.batch is not None
    gpus = _gpus(job)
    tags = job.get("tags") or {}
    name, identity = str(job["jobName"]), str(job["jobId"])
    instance = str((job.get("container") or {}).get("containerInstanceArn") or "")
    nodes = settings.batch.multinode if multinode_count(job) else None
    kind = nodes.type if nodes else types.get(instance, "")
    pools = [pool for pool in settings.pools.values() if kind and kind in pool.types]
    pool = pools[0] if len(pools) == 1 else None
    for number, (begun, stopped) in enumerate(_tries(job)):
        if gpus:
            yield GpuAllocation(
                uid=f"{identity}#try-{number}",
                environment=settings.environment,
                namespace=str(job.get("jobQueue") or "").rpartition("/")[2],
                name=name,
                job=name,
                # Children of one array are one job.
                job_uid=identity.partition(":")[0],
                user=str(tags.get("user") or UNKNOWN),
                team=str(job.get("shareIdentifier") or UNKNOWN),
                project=str(tags.get("project") or settings.project or UNKNOWN),
                pool=pool.label if pool else "",
                place="cloud",
                type=kind,
                region=settings.batch.region,
                capacity=(pool.capacity or "on-demand") if pool else "",
                gpus=gpus,
                node_gpus=None,
                start=begun,
                end=None if stopped is None else max(begun, stopped),
                seen=now,
            )


def _ids(jobs: AwsBatchJobs) -> list[str]:
    """Ids of whole jobs, and of the children of arrays, which tell more than their array."""
    found: list[str] = []
    for job in jobs.list_jobs():
        identity = str(job["jobId"])
        if child_count(job):
            found += [str(each["jobId"]) for state in _WITH_TIMES for each in jobs.list_children(identity, state)]
        else:
            found.append(identity)
    return found


def _tries(job: JobDetail) -> list[tuple[datetime, datetime | None]]:
    """Start and end of each try that had a node; the end of one that runs is None."""
    ended = [(_time(each.get("startedAt")), _time(each.get("stoppedAt"))) for each in job.get("attempts") or []]
    tries = [(begun, stopped) for begun, stopped in ended if begun is not None and stopped is not None]
    begun, stopped = _time(job.get("startedAt")), _time(job.get("stoppedAt"))
    if begun is not None and (not has_ended(job) or not tries):
        return [*tries, (begun, stopped if has_ended(job) else None)]
    return list(tries)


def _gpus(job: JobDetail) -> int:
    """GPUs of all its nodes."""
    nodes = multinode_count(job)
    if not nodes:
        return _of_container(job.get("container") or {})
    ranges: Sequence[Mapping[str, Any]] = (job.get("nodeProperties") or {}).get("nodeRangeProperties") or []
    # Our definitions have one range, which holds all nodes.
    return nodes * max((_of_container(each.get("container") or {}) for each in ranges), default=0)


def _of_container(container: Mapping[str, Any]) -> int:
    wanted = container.get("resourceRequirements") or []
    return next((int(each["value"]) for each in wanted if each.get("type") == "GPU"), 0)


def _types(aws: AwsBatchClient, running: Sequence[JobDetail]) -> dict[str, str]:
    """Instance types by container instance, of those that are there still; nothing without the right to ask.

    Source: docs.aws.amazon.com/AmazonECS/latest/developerguide/task-placement-constraints.html (ecs.instance-type); the
    ARN names the cluster: arn:aws:ecs:REGION:ACCOUNT:container-instance/CLUSTER/ID.
    """
    arns = {str((job.get("container") or {}).get("containerInstanceArn") or "") for job in running} - {""}
    clusters: dict[str, list[str]] = {}
    for arn in sorted(arns):
        clusters.setdefault(arn.split("/")[1], []).append(arn)
    found: dict[str, str] = {}
    for cluster, own in clusters.items():
        for begin in range(0, len(own), _DESCRIBED):
            asked = own[begin : begin + _DESCRIBED]
            try:
                answer = aws.call("ecs", "describe_container_instances", cluster=cluster, containerInstances=asked)
            except UserError:
                return found
            for each in answer.get("containerInstances") or []:
                told = {one["name"]: one.get("value") for one in each.get("attributes") or []}
                found[str(each["containerInstanceArn"])] = str(told.get("ecs.instance-type") or "")
    return found


def _time(milliseconds: object) -> datetime | None:
    if not isinstance(milliseconds, int | float) or milliseconds <= 0:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
