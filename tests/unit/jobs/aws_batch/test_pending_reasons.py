"""Why a job stays RUNNABLE. Batch's answers are a thin fake: moto knows no INVALID environments and starts nothing."""

from typing import Any

import pytest

from gpufleet.jobs.aws_batch.jobs import AwsBatchJobs
from gpufleet.jobs.aws_batch.pending_reasons import pending_reasons
from gpufleet.jobs.settings import JobSettings
from tests.tools.fake_account import JOB_ID, Account

EC2 = {"type": "EC2", "instanceTypes": ["p4d.24xlarge"], "maxvCpus": 384, "desiredvCpus": 0}


def environment(name: str = "trainers", resources: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    given = {**EC2, **(resources or {})}
    names = {"computeEnvironmentName": name, "computeEnvironmentArn": f"arn:{name}"}
    return {**names, "state": "ENABLED", "status": "VALID", "computeResources": given, **more}


def job(gpus: int = 8, vcpus: int = 96, memory: int = 1000, **more: Any) -> dict[str, Any]:
    asked = {"GPU": gpus, "VCPU": vcpus, "MEMORY": memory}
    needs = [{"type": kind, "value": str(value)} for kind, value in asked.items() if value]
    told = {"jobId": JOB_ID, "jobName": "train", "status": "RUNNABLE", "jobQueue": "arn:q/dev-queue"}
    return {**told, "container": {"resourceRequirements": needs}, **more}


def multinode(count: int) -> dict[str, Any]:
    container = job()["container"]
    return job(
        container={},
        nodeProperties={"numNodes": count, "nodeRangeProperties": [{"targetNodes": "0:", "container": container}]},
    )


def lines(settings: JobSettings, waiting: dict[str, Any], *environments: dict[str, Any], **queue: Any) -> list[str]:
    order = [{"order": at, "computeEnvironment": each["computeEnvironmentArn"]} for at, each in enumerate(environments)]
    told = {
        "jobQueueName": "dev-queue",
        "state": "ENABLED",
        "status": "VALID",
        "computeEnvironmentOrder": order,
        **queue,
    }

    def answers(call: str, arguments: dict[str, Any]) -> Any:
        # In another order than the queue's, as AWS may.
        return [told] if call == "describe_job_queues" else list(environments)[::-1]

    assert settings.batch
    return pending_reasons(AwsBatchJobs(Account(answers), settings.batch, "dev"), waiting)


CASES = [
    (
        "nothing wrong yet",
        (job(), environment()),
        "environment trainers: 0 of at most 384 vCPUs wanted: Batch has not asked for instances yet; it looks every "
        "few minutes",
    ),
    (
        "instances wanted",
        (job(), environment(resources={"desiredvCpus": 96})),
        "environment trainers: 96 of at most 384 vCPUs wanted: its instances are starting, or AWS has no capacity "
        "(see the Auto Scaling group's activity)",
    ),
    (
        "full, one node",
        (job(), environment(resources={"desiredvCpus": 289})),
        "environment trainers: full: 289 of at most 384 vCPUs are in use or on their way; the job starts when others "
        "end",
    ),
    (
        "room for just one more",
        (job(), environment(resources={"desiredvCpus": 288})),
        "environment trainers: 288 of at most 384 vCPUs wanted: its instances are starting, or AWS has no capacity "
        "(see the Auto Scaling group's activity)",
    ),
    (
        "too small for ever",
        (multinode(5), environment()),
        "environment trainers: at most 384 vCPUs, and the job asks for 480; raise its max nodes and run `pulumi up`",
    ),
    (
        "no whole node fits",
        (job(gpus=1, vcpus=8), environment(resources={"maxvCpus": 64})),
        "environment trainers: at most 64 vCPUs, and its smallest instance has 96; raise its max nodes",
    ),
    (
        "too few GPUs",
        (job(gpus=8, vcpus=8), environment(resources={"instanceTypes": ["g5.xlarge", "g5.12xlarge"]})),
        "environment trainers: its types (g5.xlarge, g5.12xlarge) have 4 GPUs, and the job asks for 8",
    ),
    (
        "too little memory",
        (job(memory=2**21), environment()),
        "environment trainers: its types (p4d.24xlarge) have 1179648 MiB of memory, and the job asks for 2097152",
    ),
    (
        "type without GPU",
        (job(), environment(resources={"instanceTypes": ["m5.24xlarge"]})),
        "environment trainers: m5.24xlarge is no GPU type of the catalog, and the job asks for GPUs",
    ),
    (
        "multi-node on Spot",
        (multinode(2), environment(resources={"type": "SPOT"})),
        "environment trainers: is of type SPOT, which multi-node jobs never run on; give the queue an environment of "
        "type EC2",
    ),
    (
        "somebody else's instances",
        (job(), {**environment(type="UNMANAGED"), "computeResources": {}}),
        "environment trainers: is UNMANAGED: Batch starts no instance in it, who made it does",
    ),
    (
        "disabled",
        (job(), environment(state="DISABLED")),
        "environment trainers: is DISABLED; enable it, or take it out of the queue",
    ),
    (
        "invalid",
        (job(), environment(status="INVALID", statusReason="CLIENT_ERROR - no such role")),
        "environment trainers: is INVALID: CLIENT_ERROR - no such role",
    ),
]


@pytest.mark.parametrize(("waiting", "line"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_environment(settings: JobSettings, waiting: tuple[dict[str, Any], dict[str, Any]], line: str) -> None:
    assert lines(settings, *waiting) == [line]


def test_environments_of_a_chain_are_told_in_its_order(settings: JobSettings) -> None:
    full = environment("reserved", {"desiredvCpus": 384})
    assert [line.partition(":")[0] for line in lines(settings, job(), full, environment("spot"))] == [
        "environment reserved",
        "environment spot",
    ]


def test_queue_and_batchs_own_words_come_first(settings: JobSettings) -> None:
    reason = "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - All compute environments have insufficient capacity."
    found = lines(
        settings, job(statusReason=reason), environment(), state="DISABLED", status="INVALID", statusReason="x"
    )
    assert found[:3] == [
        f"Batch says: {reason}",
        "queue dev-queue is DISABLED: it takes jobs and starts none; enable it",
        "queue dev-queue is INVALID: x",
    ]
    assert lines(settings, job(), environment(), computeEnvironmentOrder=[]) == [
        "queue dev-queue has no compute environment; `pulumi up` gives it one"
    ]
