"""Rules on the limits of a Batch job: its tries, its time, its share of a node."""

from gpufleet.catalog import AwsGpuType
from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule, unverified

VCPUS_PER_GPU = 4
GIB_PER_GPU = 12
"""What a job gets for each GPU if neither it nor an instance type says more: fits every type of Batch's own image (the
smallest is g4dn.xlarge with 4 vCPUs and 16 GiB, of which the system keeps some)."""
FREE = 0.9
"""Share of a node's memory that a job gets by default; a few percent are the kernel's and the ECS agent's:
https://docs.aws.amazon.com/batch/latest/userguide/memory-management.html"""


def share_of_node(record: AwsGpuType | None, gpus: int) -> tuple[int, int]:
    """vCPUs and GiB that a job with so many GPUs gets by default: its part of the node, or what the smallest has."""
    counted = max(gpus, 1)
    if record is None:
        return VCPUS_PER_GPU * counted, GIB_PER_GPU * counted
    memory = int(record.memory_gib * FREE * counted / record.gpus)
    return max(1, record.vcpus * counted // record.gpus), max(1, memory)


@rule("aws-batch-tries", Severity.ERROR)
def tries(*, argument: str, value: int, least: int, most: int) -> Outcome:
    """A job has 1 to 10 attempts; `argument` counts all attempts, or those after the first, from `least` to `most`.

    Source: attempts in RetryStrategy of botocore's model of batch.
    """
    if least <= value <= most:
        return passed()
    return failed(argument, value, "Batch tries a job 1 to 10 times", f"use {least} to {most}")


@rule("aws-batch-timeout", Severity.ERROR)
def timeout(*, argument: str, value: int, least: int) -> Outcome:
    """A job's timeout is a minute or more; `argument` gives it in units of which `least` make one minute.

    Source: attemptDurationSeconds in JobTimeout of botocore's model of batch: at least 60 s.
    """
    if value >= least:
        return passed()
    return failed(argument, value, "is below Batch's minimum of one minute", f"use {least} or more")


@rule("aws-batch-job-gpus", Severity.ERROR)
def gpus_fit(*, gpus: int, type_name: str, of_node: int | None, most: int) -> Outcome:
    """A job asks for no more GPUs than a node has; `most` is the most that any instance type has.

    of_node: GPUs of the instance type, None where no type is given or the catalog lacks it.
    Source: the catalog; https://docs.aws.amazon.com/batch/latest/userguide/gpu-jobs.html: such a job stays RUNNABLE.
    """
    if gpus < 0:
        return failed("gpus", gpus, "is below 0", "use 0 or more")
    limit, whose = (most, "any node") if of_node is None else (of_node, type_name)
    if gpus > limit:
        return failed("gpus", gpus, f"is more than the {limit} of {whose}", f"use {limit} or fewer, or several nodes")
    return passed()


@rule("aws-batch-job-vcpus", Severity.ERROR)
def vcpus_fit(*, vcpus: int, type_name: str, of_node: int) -> Outcome:
    """A job asks for no more vCPUs than its instance type has.

    Source: the catalog; https://docs.aws.amazon.com/batch/latest/userguide/troubleshooting.html#job_stuck_in_runnable
    """
    if vcpus < 1:
        return failed("vcpus", vcpus, "is below 1", "use 1 or more")
    if vcpus <= of_node:
        return passed()
    return failed("vcpus", vcpus, f"is more than the {of_node} of {type_name}", f"use {of_node} or fewer")


@rule("aws-batch-job-memory", Severity.ERROR)
def memory_fits(*, memory_gib: int, type_name: str, of_node: float) -> Outcome:
    """A job leaves some of its node's memory to the system, which registers less than the type has.

    Source: https://docs.aws.amazon.com/batch/latest/userguide/memory-management.html: the ECS agent registers what
    the kernel sees, less what it reserves; a job that asks for all of it stays RUNNABLE. How much is left out is
    measured on each type only, so between 95 and 100 % nothing is certain.
    """
    fits = int(of_node * 0.95)
    fix = f"use {fits} or less"
    if memory_gib < 1:
        return failed("memory_gib", memory_gib, "is below 1", "use 1 or more")
    if memory_gib >= of_node:
        problem = f"leaves nothing of the {of_node:g} GiB of {type_name} to the system"
        return failed("memory_gib", memory_gib, problem, fix)
    if memory_gib > fits:
        problem = f"whether {type_name} has so much beside its system is not known"
        return unverified("memory_gib", memory_gib, problem, fix)
    return passed()


@rule("aws-batch-job-shared-memory", Severity.ERROR)
def shared_memory_fits(*, shared_gib: int, memory_gib: int) -> Outcome:
    """A job's shared memory is within its memory, of which it is a part.

    Source: sharedMemorySize in LinuxParameters of botocore's model of batch (docker run --shm-size): a tmpfs, whose
    pages count towards the container's memory.
    """
    if shared_gib < 1:
        return failed("shared_memory_gib", shared_gib, "is below 1", "use 1 or more")
    if shared_gib <= memory_gib:
        return passed()
    problem = f"is more than all of the job's memory_gib={memory_gib}"
    return failed("shared_memory_gib", shared_gib, problem, f"use {memory_gib} or less, or raise memory_gib")
