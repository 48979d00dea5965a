"""Why a job stays RUNNABLE, according to AWS Batch and the catalog: its queue, its environments, what it asks for.

Source: docs.aws.amazon.com/batch/latest/userguide/troubleshooting.html#job_stuck_in_runnable.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpufleet.catalog import AwsGpuType, aws
from gpufleet.jobs.aws_batch.jobs import AwsBatchJobs
from gpufleet.jobs.aws_batch.status import JobDetail, multinode_count
from gpufleet.rules.messages import join_words

ApiObject = Mapping[str, Any]
MIB = 1024


@dataclass(frozen=True)
class JobRequirements:
    """What one container of a job requests. count: of its containers, each on a node of its own when several."""

    gpus: int
    vcpus: int
    memory_mib: int
    count: int

    @classmethod
    def of(cls, job: JobDetail) -> "JobRequirements":
        """From DescribeJobs. Of a multi-node job the first range counts: a job of gpufleet has no more."""
        container = job.get("container") or {}
        ranges = (job.get("nodeProperties") or {}).get("nodeRangeProperties") or []
        if ranges:
            container = ranges[0].get("container") or {}
        asked = {each["type"]: int(float(each["value"])) for each in container.get("resourceRequirements") or []}
        vcpus = asked.get("VCPU", int(container.get("vcpus") or 0))
        memory = asked.get("MEMORY", int(container.get("memory") or 0))
        return cls(asked.get("GPU", 0), vcpus, memory, multinode_count(job) or 1)


def pending_reasons(jobs: AwsBatchJobs, job: JobDetail) -> list[str]:
    """Why a job stays RUNNABLE, one line each; the same while nothing changes. Errors: AwsBusy, AwsClientError."""
    return list(dict.fromkeys(_lines(jobs, job)))


def _lines(jobs: AwsBatchJobs, job: JobDetail) -> Iterator[str]:
    if job.get("statusReason"):
        yield f"Batch says: {' '.join(str(job['statusReason']).split())}"
    queues = jobs.aws.ask("batch", "describe_job_queues", "jobQueues[]", jobQueues=[job["jobQueue"]])
    if not queues:
        yield f"its queue {_short(str(job['jobQueue']))} no longer exists"
        return
    [queue] = queues
    name = f"queue {queue['jobQueueName']}"
    if queue.get("state") == "DISABLED":
        yield f"{name} is DISABLED: it takes jobs and starts none; enable it"
    if queue.get("status") not in ("VALID", "UPDATING", None):
        yield f"{name} is {queue['status']}: {queue.get('statusReason') or 'no reason given'}"
    order = sorted(queue.get("computeEnvironmentOrder") or [], key=lambda each: int(each["order"]))
    if not order:
        yield f"{name} has no compute environment; `pulumi up` gives it one"
        return
    wanted = [each["computeEnvironment"] for each in order]
    answer = "computeEnvironments[]"
    found = jobs.aws.ask("batch", "describe_compute_environments", answer, computeEnvironments=wanted)
    place = {each: at for at, each in enumerate(wanted)}
    needs = JobRequirements.of(job)
    for environment in sorted(found, key=lambda each: place.get(each["computeEnvironmentArn"], len(place))):
        said = "; ".join(_against(environment, needs)) or _no_fault(environment)
        yield f"environment {environment['computeEnvironmentName']}: {said}"


def _against(environment: ApiObject, needs: JobRequirements) -> Iterator[str]:
    """Why it starts no instance for the job; nothing when it should."""
    if environment.get("state") == "DISABLED":
        yield "is DISABLED; enable it, or take it out of the queue"
        return
    if environment.get("status") == "INVALID":
        yield f"is INVALID: {environment.get('statusReason') or 'no reason given'}"
        return
    if environment.get("type") == "UNMANAGED":
        yield "is UNMANAGED: Batch starts no instance in it, who made it does"
        return
    resources = environment.get("computeResources") or {}
    kind = str(resources.get("type") or "")
    if needs.count > 1 and kind == "SPOT":
        yield "is of type SPOT, which multi-node jobs never run on; give the queue an environment of type EC2"
    types = [str(each) for each in resources.get("instanceTypes") or []]
    most = int(resources.get("maxvCpus") or 0)
    wanted = needs.vcpus * needs.count
    if wanted > most:
        yield f"at most {most} vCPUs, and the job asks for {wanted}; raise its max nodes and run `pulumi up`"
        return
    misfit = _misfit(types, needs)
    if misfit:
        yield misfit
        return
    smallest = min((record.vcpus for each in types for record in _records(each)), default=0)
    if smallest > most:
        yield f"at most {most} vCPUs, and its smallest instance has {smallest}; raise its max nodes"
        return
    desired = int(resources.get("desiredvCpus") or 0)
    if desired + max(wanted, 1) > most:
        yield f"full: {desired} of at most {most} vCPUs are in use or on their way; the job starts when others end"


def _misfit(types: Sequence[str], needs: JobRequirements) -> str:
    """Why no instance type holds one container of the job; empty when one does, or a type is not in the catalog."""
    known = [_records(each) for each in types]
    if not types or not all(known):
        return _without_gpus(types) if needs.gpus else ""
    records = [record for each in known for record in each]
    for what, asked, most in (
        ("GPUs", needs.gpus, max(record.gpus for record in records)),
        ("vCPUs", needs.vcpus, max(record.vcpus for record in records)),
        ("MiB of memory", needs.memory_mib, max(int(record.memory_gib * MIB) for record in records)),
    ):
        if asked > most:
            return f"its types ({', '.join(types)}) have {most} {what}, and the job asks for {asked}"
    return ""


def _without_gpus(types: Sequence[str]) -> str:
    others = [each for each in types if not _records(each)]
    if not others:
        return ""
    verb = "is" if len(others) == 1 else "are"
    return f"{join_words(others, 'and')} {verb} no GPU type of the catalog, and the job asks for GPUs"


def _records(name: str) -> list[AwsGpuType]:
    """The types of the catalog that are meant by a type or a family, such as g5."""
    known = aws().types
    if name in known:
        return [known[name]]
    return [record for each, record in known.items() if each.partition(".")[0] == name]


def _no_fault(environment: ApiObject) -> str:
    resources = environment.get("computeResources") or {}
    desired, most = int(resources.get("desiredvCpus") or 0), int(resources.get("maxvCpus") or 0)
    has = f"{desired} of at most {most} vCPUs wanted"
    if desired:
        return f"{has}: its instances are starting, or AWS has no capacity (see the Auto Scaling group's activity)"
    return f"{has}: Batch has not asked for instances yet; it looks every few minutes"


def _short(arn: str) -> str:
    return arn.rpartition("/")[2]
