"""BatchQueue: exact inputs, and the pause between its move and the end of what it left."""

import asyncio
from typing import cast

import pulumi
import pytest

from gpufleet.aws import queue_drain
from gpufleet.aws.batch_queue import BatchQueue, BatchQueueArgs, weight_factors
from tests.components.recorder import MARK, UNKNOWN, Recording, construct, refusal
from tests.components.samples import BATCH_ARN

QUEUE = "aws:batch/jobQueue:JobQueue"
POLICY = "aws:batch/schedulingPolicy:SchedulingPolicy"
ENVIRONMENT = "aws:batch/computeEnvironment:ComputeEnvironment"
FIRST, SECOND = f"{BATCH_ARN}compute-environment/first", f"{BATCH_ARN}compute-environment/second"
TAGS = {"owner": "ml", **MARK}


def build(preview: bool, /, **changes: object) -> Recording[BatchQueue]:
    args = cast(BatchQueueArgs, {"environments": [FIRST, SECOND], "tags": TAGS, **changes})
    return construct(lambda: BatchQueue("jobs", args), preview)


def orders(*environments: str) -> list[dict[str, object]]:
    return [{"order": place, "computeEnvironment": arn} for place, arn in enumerate(environments, start=1)]


def test_plain_queue(preview: bool) -> None:
    recording = build(preview)
    assert recording.inputs(QUEUE) == {
        "jobs-queue": {
            "state": "ENABLED",
            "priority": 1,
            "computeEnvironmentOrders": orders(FIRST, SECOND),
            "tags": {**TAGS, "Name": "jobs-queue"},
        }
    }
    assert recording.names(POLICY) == []


def test_priority_and_limit_on_waiting(preview: bool) -> None:
    inputs = build(preview, priority=7.0, runnable_minutes=45.0).one(QUEUE).inputs
    assert inputs["priority"] == 7
    reasons = ["CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"]
    reasons += [f"MISCONFIGURATION:{each}" for each in ("COMPUTE_ENVIRONMENT_MAX_RESOURCE", "JOB_RESOURCE_REQUIREMENT")]
    assert inputs["jobStateTimeLimitActions"] == [
        {"state": "RUNNABLE", "action": "CANCEL", "maxTimeSeconds": 2700, "reason": reason} for reason in reasons
    ]


def test_shares_become_a_policy_of_inverse_weights(preview: bool) -> None:
    recording = build(preview, shares={"vision": 4, "speech": 0.5})
    weights = {"speech": 2, "vision": 0.25}
    assert recording.inputs(POLICY) == {
        "jobs-shares": {
            "fairSharePolicy": {
                "shareDistributions": [
                    {"shareIdentifier": team, "weightFactor": weight} for team, weight in weights.items()
                ]
            },
            "tags": {**TAGS, "Name": "jobs-shares"},
        }
    }
    arn = UNKNOWN if preview else "arn:aws:mock::000000000000:jobs-shares"
    assert recording.one(QUEUE).inputs["schedulingPolicyArn"] == arn


@pytest.mark.parametrize(("share", "weight"), [(1, 1.0), (3, 0.3333), (0.01, 100.0), (1000, 0.001)])
def test_weights_are_of_the_precision_that_batch_has(share: float, weight: float) -> None:
    assert weight_factors({"team": share}) == {"team": weight}


def test_queue_goes_before_its_environments(preview: bool) -> None:
    def both() -> BatchQueue:
        from pulumi_aws import batch

        environment = batch.ComputeEnvironment("trainers", type="UNMANAGED")
        return BatchQueue("jobs", {"environments": [environment.arn]})

    queue = construct(both, preview).one(QUEUE)
    assert queue.property_dependencies["computeEnvironmentOrders"] == {"trainers"}


def moved(old: list[str], new: list[str]) -> pulumi.ResourceHookArgs:
    """What the engine tells the hook after the queue has moved."""
    inputs = {"old_inputs": {"computeEnvironmentOrders": orders(*old)}}
    inputs["new_inputs"] = {"computeEnvironmentOrders": orders(*new)}
    return pulumi.ResourceHookArgs(urn="urn", id="id", name="jobs-queue", type=QUEUE, **inputs)


@pytest.mark.parametrize(
    ("old", "new", "pauses"),
    [
        ([FIRST], [SECOND], [45.0]),
        ([FIRST, SECOND], [SECOND], [45.0]),
        ([FIRST], [FIRST, SECOND], []),
        ([FIRST, SECOND], [SECOND, FIRST], []),
        ([FIRST], [FIRST], []),
    ],
    ids=["replaced", "left-out", "added", "other-order", "the-same"],
)
def test_pauses_when_it_has_left_an_environment(
    old: list[str], new: list[str], pauses: list[float], preview: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUFLEET_PAUSE_SCALE", "0.5")
    recording = build(preview)
    assert recording.one(QUEUE).after_update == ("jobs-queue-pause",)
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(queue_drain.asyncio, "sleep", sleep)
    asyncio.run(recording.hooks["jobs-queue-pause"](moved(old, new)))  # type: ignore[arg-type]
    assert slept == pauses


@pytest.mark.parametrize("text", ["fast", "-1", "11", "nan", ""])
def test_a_scale_that_is_none_is_refused(text: str, preview: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUFLEET_PAUSE_SCALE", text)
    assert refusal(lambda: BatchQueue("jobs", {"environments": [FIRST]}), preview) == [
        f"GPUFLEET_PAUSE_SCALE={text}: must be a number from 0 to 10; change it or leave it out"
    ]


def test_refuses_with_every_fault_at_once(preview: bool) -> None:
    args = {"environments": [FIRST, FIRST, "third", SECOND], "runnable_minutes": 5, "shares": {"vision-lab": 0}}
    assert refusal(lambda: BatchQueue("jobs", cast(BatchQueueArgs, args)), preview) == [
        "jobs: environments=[2]: repeats earlier entries at position 2; name each environment once "
        "[aws-batch-queue-twice]",
        "jobs: environments=third: is not the ARN of a compute environment; give environment_arn of a "
        "BatchEnvironment, or an ARN as aws batch describe-compute-environments shows it [aws-batch-queue-arn]",
        "jobs: shares=vision-lab: is not a valid share identifier; use letters and digits only, such as visionlab "
        "[aws-batch-share-name]",
        "jobs: shares.vision-lab=0.0: is not a valid Batch share weight; use 0.01 to 1000, such as 1 "
        "[aws-batch-share-weight]",
        "jobs: environments=4: Batch allows 1 to 3 compute environments in a queue; make another queue, or one "
        "environment [aws-batch-queue-environments]",
        "jobs: runnable_minutes=5: Batch cancels after 10 minutes to 24 hours, or not at all; use 10 to 1440, or leave "
        "it out [aws-batch-time-limit]",
    ]
