"""How long following waits, for what, and what it says then. AWS is a thin fake, and time passes only in pauses."""

from collections.abc import Callable
from typing import Any

import pytest

from gpufleet.errors import UserError
from gpufleet.jobs.aws_batch.client import AwsBusy
from gpufleet.jobs.aws_batch.follow import AwsBatchJobFollower
from gpufleet.jobs.aws_batch.jobs import AwsBatchJobs
from gpufleet.jobs.backoff import Backoff
from gpufleet.jobs.events import Event, EventKind
from gpufleet.jobs.settings import JobSettings
from tests.tools.fake_account import JOB_ID, Account, Clock


def followed(settings: JobSettings, clock: Clock, answers: Callable[[str, dict[str, Any]], Any]) -> list[Event]:
    assert settings.batch
    jobs = AwsBatchJobs(Account(answers), settings.batch, "dev")
    backoff = Backoff(clock=clock, sleep=clock.sleep)
    return list(AwsBatchJobFollower(jobs, JOB_ID, "come back", backoff=backoff, clock=clock).events())


def told(state: str, **more: object) -> dict[str, Any]:
    job = {"jobId": JOB_ID, "jobName": "train", "jobQueue": "dev-queue", "status": state, "container": {}, **more}
    return {"jobs": [job]}


def test_log_that_is_later_than_the_end_is_awaited(settings: JobSettings) -> None:
    clock = Clock()

    def answers(call: str, arguments: dict[str, Any]) -> Any:
        if call == "describe_jobs":
            return told("SUCCEEDED", container={"logStreamName": "s", "exitCode": 0})
        late = {0: 0.0, 1: 5.0, 2: 11.0}
        token = int(arguments.get("nextToken", 0))
        if clock.now >= late.get(token, 1e9):
            line = {"timestamp": token + 1, "message": f"line {token}"}
            return {"events": [line], "nextForwardToken": str(token + 1)}
        return {"events": [], "nextForwardToken": str(token)}

    events = followed(settings, clock, answers)
    assert [each.text for each in events if each.kind is EventKind.LINE] == ["line 0", "line 1", "line 2"]
    assert events[-1].code == 0
    assert clock.now < 25


def test_aws_that_does_not_answer_is_given_up_after_ten_minutes(settings: JobSettings) -> None:
    clock = Clock()

    def answers(call: str, arguments: dict[str, Any]) -> Any:
        raise AwsBusy("batch:DescribeJobs: ThrottlingException: Rate exceeded")

    with pytest.raises(UserError) as error:
        followed(settings, clock, answers)
    assert str(error.value) == (
        "batch:DescribeJobs: ThrottlingException: Rate exceeded; gave up after 10 min, the job is not touched; "
        "continue with `come back`"
    )
    assert 600 <= clock.now < 660


def test_log_that_cannot_be_read_does_not_end_the_following(settings: JobSettings) -> None:
    clock = Clock()

    def answers(call: str, arguments: dict[str, Any]) -> Any:
        if call == "describe_jobs":
            return told("RUNNING" if clock.now < 2000 else "SUCCEEDED", container={"logStreamName": "s"})
        raise AwsBusy("logs:GetLogEvents: ThrottlingException: Rate exceeded")

    events = followed(settings, clock, answers)
    assert [(each.kind.value, each.text) for each in events] == [
        ("state", f"{JOB_ID}: RUNNING"),
        ("note", "logs:GetLogEvents: ThrottlingException: Rate exceeded; asking again"),
        ("note", "logs:GetLogEvents: ThrottlingException: Rate exceeded; the log is given up, see it with `come back`"),
        ("state", f"{JOB_ID}: SUCCEEDED"),
        ("end", f"{JOB_ID}: succeeded"),
    ]


def test_runnable_for_ten_minutes_says_why_once(settings: JobSettings) -> None:
    clock = Clock()
    environment = {
        "computeEnvironmentName": "dev-trainers",
        "computeEnvironmentArn": "arn:e",
        "state": "ENABLED",
        "status": "VALID",
        "computeResources": {"type": "EC2", "instanceTypes": ["p4d.24xlarge"], "maxvCpus": 192, "desiredvCpus": 192},
    }
    asked = []

    def answers(call: str, arguments: dict[str, Any]) -> Any:
        if call == "describe_jobs":
            needs = {"resourceRequirements": [{"type": "GPU", "value": "8"}, {"type": "VCPU", "value": "96"}]}
            # It has been tried already: how long it waits now only the following knows.
            return told("RUNNABLE" if clock.now < 1200 else "SUCCEEDED", container=needs, attempts=[{"container": {}}])
        asked.append(clock.now)
        if call == "describe_job_queues":
            order = [{"order": 1, "computeEnvironment": "arn:e"}]
            return [
                {"jobQueueName": "dev-queue", "state": "ENABLED", "status": "VALID", "computeEnvironmentOrder": order}
            ]
        return [environment]

    events = followed(settings, clock, answers)
    waits = [each.text for each in events if each.kind is EventKind.WAITING]
    assert waits == [
        f"{JOB_ID}: waits: environment dev-trainers: full: 192 of at most 192 vCPUs are in use or on their way; the "
        "job starts when others end"
    ]
    assert 600 <= asked[0] < 610
