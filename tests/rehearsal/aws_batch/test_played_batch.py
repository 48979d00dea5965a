"""Jobs of a played AWS Batch over simulated time: states, queues, instances, arrays, nodes, retries, rejections."""

import copy
import time
from typing import Any

import pytest

from gpufleet_rehearsal.aws_batch.container_instances import PlayedContainerInstances
from gpufleet_rehearsal.aws_batch.instances import INSTANCE_SECONDS, Instances
from gpufleet_rehearsal.aws_batch.played_batch import EXITED, START_SECONDS, PlayedAwsBatch
from gpufleet_rehearsal.aws_batch.rejection import AwsRejection
from gpufleet_rehearsal.played_jobs import EXIT_CODE, RUN_SECONDS

ARN, ECS = "arn:aws:batch:us-east-1:000000000000", "arn:aws:ecs:us-east-1:000000000000"
ONDEMAND, SPOT = f"{ARN}:compute-environment/ondemand", f"{ARN}:compute-environment/spot"
CONTAINER = {
    "image": "training@sha256:0",
    "logConfiguration": {"logDriver": "awslogs", "options": {"awslogs-group": "jobs", "awslogs-stream-prefix": "dev"}},
    "resourceRequirements": [
        {"type": "GPU", "value": "1"},
        {"type": "VCPU", "value": "4"},
        {"type": "MEMORY", "value": "12288"},
    ],
}
NODES = {"mainNode": 0, "numNodes": 2, "nodeRangeProperties": [{"targetNodes": "0:", "container": CONTAINER}]}
SPOT_ONLY = [{"onStatusReason": "Host EC2*", "action": "RETRY"}, {"onReason": "*", "action": "EXIT"}]
NO_CAPACITY = (
    "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - Service cannot fulfill the capacity requested for instance type "
    "[g5.xlarge]"
)


def environment(name: str, kind: str, most: int) -> dict[str, Any]:
    resources = {"type": kind, "instanceTypes": ["g5.xlarge"], "maxvCpus": most, "subnets": ["subnet-1"]}
    told = {"computeEnvironmentName": name, "computeEnvironmentArn": f"{ARN}:compute-environment/{name}"}
    told["ecsClusterArn"] = f"{ECS}:cluster/{name}-cluster"
    return {**told, "type": "MANAGED", "state": "ENABLED", "status": "VALID", "computeResources": resources}


def definition(name: str, **properties: Any) -> dict[str, Any]:
    told = {"jobDefinitionName": name, "jobDefinitionArn": f"{ARN}:job-definition/{name}:1", "revision": 1}
    return {**told, "status": "ACTIVE", **properties}


@pytest.fixture
def batch() -> PlayedAwsBatch:
    """A queue of an environment with room for two instances, and one on Spot with room for one."""
    order = [{"order": 2, "computeEnvironment": SPOT}, {"order": 1, "computeEnvironment": ONDEMAND}]
    queue = {"jobQueueName": "dev", "jobQueueArn": f"{ARN}:job-queue/dev", "state": "ENABLED", "status": "VALID"}
    return PlayedAwsBatch(
        ARN,
        queues={f"{ARN}:job-queue/dev": {**queue, "priority": 1, "computeEnvironmentOrder": order}},
        environments={ONDEMAND: environment("ondemand", "EC2", 8), SPOT: environment("spot", "SPOT", 4)},
        declared=[
            definition("train", type="container", containerProperties=CONTAINER),
            definition("nodes", type="multinode", nodeProperties=NODES),
        ],
    )


def submit(batch: PlayedAwsBatch, name: str = "job", definition: str = "train", **asked: Any) -> str:
    return str(batch.submit_job(jobName=name, jobQueue="dev", jobDefinition=definition, **asked)["jobId"])


def job(batch: PlayedAwsBatch, name: str) -> dict[str, Any]:
    [found] = batch.describe_jobs([name])["jobs"]
    return dict(found)


def lines(batch: PlayedAwsBatch, container: dict[str, Any]) -> list[str]:
    return [line for _, line in batch.streams["jobs"][container["logStreamName"]]]


def mark(code: str) -> dict[str, str]:
    return {EXIT_CODE: code}


def test_states_come_in_their_order(batch: PlayedAwsBatch) -> None:
    name = submit(batch)
    states = {}
    running = 1 + INSTANCE_SECONDS + START_SECONDS
    for moment in (0, 1, 1 + INSTANCE_SECONDS, running, running + RUN_SECONDS - 1, running + RUN_SECONDS):
        batch.advance(moment)
        states[moment] = job(batch, name)["status"]
    assert list(states.values()) == ["SUBMITTED", "RUNNABLE", "STARTING", "RUNNING", "RUNNING", "SUCCEEDED"]
    ended = job(batch, name)
    assert (ended["statusReason"], ended["container"]["exitCode"]) == (EXITED, 0)
    assert lines(batch, ended["container"]) == ["rehearsed: no container ran; training@sha256:0 on 1 node of ondemand"]
    assert batch.describe_compute_environments()["computeEnvironments"][0]["computeResources"]["desiredvCpus"] == 0


def test_overrides_and_what_a_job_leaves(batch: PlayedAwsBatch) -> None:
    written: dict[tuple[str, str], bytes] = {}
    batch.put = lambda bucket, key, content: written.update({(bucket, key): content})
    place = {"name": "GPUFLEET_OUTPUTS", "value": "s3://files/jobs/job"}
    asked = {"command": ["x"], "environment": [place], "resourceRequirements": [{"type": "VCPU", "value": "2"}]}
    name = submit(batch, containerOverrides=asked, tags=mark("3"))
    batch.advance(1000)
    container = job(batch, name)["container"]
    assert (container["command"], container["exitCode"]) == (["x"], 3)
    assert {each["type"]: each["value"] for each in container["resourceRequirements"]} == {
        "GPU": "1",
        "VCPU": "2",
        "MEMORY": "12288",
    }
    line = b"rehearsed: no container ran; training@sha256:0 on 1 node of ondemand\n"
    assert written == {("files", "jobs/job/rehearsed.txt"): line}


@pytest.mark.parametrize(
    ("code", "state", "reason"), [("0", "SUCCEEDED", ""), ("3", "FAILED", "Array Child Job failed")]
)
def test_array_ends_with_its_children(batch: PlayedAwsBatch, code: str, state: str, reason: str) -> None:
    name = submit(batch, arrayProperties={"size": 3}, tags=mark(code))
    batch.advance(1 + INSTANCE_SECONDS)
    assert job(batch, name)["status"] == "PENDING"
    batch.advance(1000)
    array = job(batch, name)
    assert (array["status"], array["statusReason"]) == (state, reason)
    assert array["arrayProperties"] == {"size": 3, "statusSummary": {state: 3}}
    found = batch.list_jobs(arrayJobId=name, jobStatus=state)["jobSummaryList"]
    assert sorted(each["arrayProperties"]["index"] for each in found) == [0, 1, 2]
    assert job(batch, f"{name}:2")["container"]["exitCode"] == int(code)


def test_nodes_have_instances_and_logs_of_their_own(batch: PlayedAwsBatch) -> None:
    name = submit(batch, definition="nodes")
    batch.advance(1 + INSTANCE_SECONDS)
    assert batch.instances.vcpus(ONDEMAND) == 8
    batch.advance(1000)
    nodes = [job(batch, f"{name}#{index}") for index in range(2)]
    assert [each["status"] for each in [job(batch, name), *nodes]] == ["SUCCEEDED"] * 3
    assert [each["nodeDetails"] for each in nodes] == [
        {"nodeIndex": 0, "isMainNode": True},
        {"nodeIndex": 1, "isMainNode": False},
    ]
    assert len({each["container"]["logStreamName"] for each in nodes}) == 2
    for each in nodes:
        assert lines(batch, each["container"]) == [
            "rehearsed: no container ran; training@sha256:0 on 2 nodes of ondemand"
        ]
    # Nodes are never on Spot: three do not fit, though the queue has an environment of one more.
    three = submit(batch, definition="nodes", nodeOverrides={"numNodes": 3})
    batch.advance(2000)
    assert job(batch, three)["status"] == "RUNNABLE"
    assert job(batch, three)["statusReason"].startswith("MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE - ")


@pytest.mark.parametrize(
    ("strategy", "attempts"),
    [
        ({"attempts": 1}, 1),
        ({"attempts": 3}, 3),
        ({"attempts": 3, "evaluateOnExit": SPOT_ONLY}, 1),
        ({"attempts": 3, "evaluateOnExit": [{"onExitCode": "3", "action": "retry"}]}, 3),
        ({"attempts": 3, "evaluateOnExit": [{"onExitCode": "4", "action": "EXIT"}]}, 3),
        ({"attempts": 3, "evaluateOnExit": [{"onExitCode": "3*", "onStatusReason": "Ess*", "action": "EXIT"}]}, 1),
    ],
)
def test_failed_container_is_tried_again(batch: PlayedAwsBatch, strategy: dict[str, Any], attempts: int) -> None:
    name = submit(batch, retryStrategy=strategy, tags=mark("3"))
    batch.advance(5000)
    ended = job(batch, name)
    assert (ended["status"], len(ended["attempts"])) == ("FAILED", attempts)
    streams = [each["container"]["logStreamName"] for each in ended["attempts"]]
    assert len(set(streams)) == attempts
    assert streams[-1] == ended["container"]["logStreamName"]


@pytest.mark.parametrize(
    ("code", "state", "reason"), [("0", "SUCCEEDED", EXITED), ("1", "FAILED", "Dependent Job failed")]
)
def test_job_that_comes_after_another(batch: PlayedAwsBatch, code: str, state: str, reason: str) -> None:
    first = submit(batch, tags=mark(code))
    name = submit(batch, "second", dependsOn=[{"jobId": first}])
    batch.advance(INSTANCE_SECONDS)
    assert job(batch, name)["status"] == "PENDING"
    batch.advance(2000)
    assert (job(batch, name)["status"], job(batch, name)["statusReason"]) == (state, reason)


def test_container_tells_its_instance_while_that_is_there(batch: PlayedAwsBatch) -> None:
    name = submit(batch, definition="nodes", tags=mark("none"))
    batch.advance(1000)
    arns = [job(batch, f"{name}#{index}")["container"]["containerInstanceArn"] for index in range(2)]
    first, second = (f"{ECS}:container-instance/ondemand-cluster/{number:032x}" for number in (1, 2))
    assert arns == [first, second]
    clusters = [each["ecsClusterArn"] for each in batch.environments.values()]
    ecs = PlayedContainerInstances(clusters, batch.container_instances())
    told = ecs.describe_container_instances([first, "gone"], "ondemand-cluster")
    [found] = told["containerInstances"]
    assert (found["containerInstanceArn"], found["ec2InstanceId"]) == (first, f"i-{1:017x}")
    assert found["attributes"] == [{"name": "ecs.instance-type", "value": "g5.xlarge"}]
    assert told["failures"] == [{"arn": "gone", "reason": "MISSING"}]
    # Another cluster does not have it, and one that is not there is refused.
    other = ecs.describe_container_instances([first], clusters[1])
    assert (other["containerInstances"], other["failures"]) == ([], [{"arn": first, "reason": "MISSING"}])
    with pytest.raises(AwsRejection, match=r"^Cluster not found\.$"):
        ecs.describe_container_instances([first])
    batch.terminate_job(name, "enough")
    assert batch.container_instances() == {}
    assert job(batch, f"{name}#0")["attempts"][0]["container"]["containerInstanceArn"] == first


@pytest.mark.parametrize(("code", "seconds"), [("0", RUN_SECONDS), ("3", RUN_SECONDS), ("none", 500.0)])
def test_container_ran_for_as_long_as_the_clouds_clock_says(batch: PlayedAwsBatch, code: str, seconds: float) -> None:
    """However little of it this machine has waited: GPU-hours are counted by these times."""
    name = submit(batch, tags=mark(code))
    batch.advance(1 + INSTANCE_SECONDS + START_SECONDS + 500)
    if code == "none":
        batch.terminate_job(name, "enough")
    ended = job(batch, name)
    assert ended["attempts"][0]["stoppedAt"] - ended["attempts"][0]["startedAt"] == 1000 * seconds
    assert abs(ended["stoppedAt"] - ended["startedAt"] - 1000 * seconds) < 1000
    assert ended["stoppedAt"] <= 1000 * time.time()


def test_environments_of_a_queue_fill_in_their_order(batch: PlayedAwsBatch) -> None:
    names = [submit(batch, f"job{index}", tags=mark("none")) for index in range(4)]
    batch.advance(1000)
    assert [job(batch, name)["status"] for name in names] == ["RUNNING"] * 3 + ["RUNNABLE"]
    assert [batch.instances.environment(name) for name in names[:3]] == [ONDEMAND, ONDEMAND, SPOT]
    # It waits for room, which is no fault of anything.
    assert "statusReason" not in job(batch, names[3])
    batch.terminate_job(names[0], "enough")
    batch.advance(2000)
    assert job(batch, names[3])["status"] == "RUNNING"
    assert (job(batch, names[0])["statusReason"], job(batch, names[0])["container"]["exitCode"]) == ("enough", 143)


def test_small_jobs_share_an_instance(batch: PlayedAwsBatch) -> None:
    for each in batch.environments.values():
        each["computeResources"] |= {"instanceTypes": ["g5.12xlarge"], "maxvCpus": 48}
    for index in range(5):
        submit(batch, f"job{index}", tags=mark("none"))
    batch.advance(1000)
    # It has four GPUs; the fifth job is on Spot.
    assert [(each["type"], len(each["jobs"])) for each in batch.instances.running.values()] == [
        ("g5.12xlarge", 4),
        ("g5.12xlarge", 1),
    ]


@pytest.mark.parametrize(
    ("change", "asked", "reason"),
    [
        ("quota", {}, NO_CAPACITY),
        ("capacity", {}, NO_CAPACITY),
        ("none", {"GPU": "2"}, "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT - "),
        ("small", {}, "MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE - "),
    ],
)
def test_head_of_a_queue_says_why_it_waits(
    batch: PlayedAwsBatch, change: str, asked: dict[str, str], reason: str
) -> None:
    for each in batch.environments.values():
        each["computeResources"] |= {"type": "EC2"} | ({"maxvCpus": 3} if change == "small" else {})
    limits = {"quota": Instances(family=lambda type_: "G", quota=lambda family: 3)}
    limits["capacity"] = Instances(has_capacity=lambda type_, subnets: False)
    whole, batch.instances = batch.instances, limits.get(change, batch.instances)
    needs = [{"type": key, "value": value} for key, value in asked.items()]
    name = submit(batch, containerOverrides={"resourceRequirements": needs})
    behind = submit(batch, "behind")
    batch.advance(1000)
    head = job(batch, name)
    assert (head["status"], head["statusReason"].startswith(reason)) == ("RUNNABLE", True)
    # It blocks the queue, and does not say so of the one behind it.
    assert (job(batch, behind)["status"], "statusReason" in job(batch, behind)) == ("RUNNABLE", False)
    # With what it lacks it goes on, and its reason goes.
    batch.instances = whole
    for each in batch.environments.values():
        each["computeResources"] |= {"maxvCpus": 48, "instanceTypes": ["g5.12xlarge"]}
    batch.advance(3000)
    assert (job(batch, name)["status"], job(batch, name)["statusReason"]) == ("SUCCEEDED", EXITED)
    assert job(batch, behind)["status"] == "SUCCEEDED"


def test_queue_cancels_what_blocks_it_for_too_long(batch: PlayedAwsBatch) -> None:
    [queue] = batch.queues.values()
    action = {"state": "RUNNABLE", "action": "CANCEL", "maxTimeSeconds": 7200}
    queue["jobStateTimeLimitActions"] = [action | {"reason": "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"}]
    batch.instances = Instances(has_capacity=lambda type_, subnets: False)
    name = submit(batch)
    batch.advance(7200)
    assert job(batch, name)["status"] == "RUNNABLE"
    batch.advance(7201)
    assert (job(batch, name)["status"], job(batch, name)["statusReason"]) == (
        "FAILED",
        "Canceled by JobStateTimeLimit action due to reason: CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY",
    )


def test_cancel_leaves_what_runs(batch: PlayedAwsBatch) -> None:
    array = submit(batch, arrayProperties={"size": 4}, tags=mark("none"))
    batch.advance(1000)
    batch.cancel_job(array, "enough")
    batch.advance(1001)
    states = [job(batch, f"{array}:{index}")["status"] for index in range(4)]
    assert states == ["RUNNING", "RUNNING", "RUNNING", "FAILED"]
    batch.terminate_job(array, "enough")
    batch.advance(1002)
    assert job(batch, array)["status"] == "FAILED"
    assert batch.instances.running == {}


def test_lists_have_pages_and_filters(batch: PlayedAwsBatch) -> None:
    for index in range(3):
        submit(batch, f"job{index}")
    submit(batch, "Other", arrayProperties={"size": 2})
    assert batch.list_jobs(jobQueue="dev") == {"jobSummaryList": []}
    named = {"filters": [{"name": "JOB_NAME", "values": ["JOB*"]}]}
    first = batch.list_jobs(jobQueue="dev", maxResults=2, **named)
    second = batch.list_jobs(jobQueue="dev", maxResults=2, nextToken=first["nextToken"], **named)
    names = [each["jobName"] for page in (first, second) for each in page["jobSummaryList"]]
    assert (names, "nextToken" in second) == (["job2", "job1", "job0"], False)
    assert batch.list_jobs(jobQueue="dev", filters=[{"name": "BEFORE_CREATED_AT", "values": ["1"]}]) == {
        "jobSummaryList": []
    }
    assert len(batch.list_jobs(jobQueue="dev", jobStatus="SUBMITTED")["jobSummaryList"]) == 4


def test_revisions_of_a_definition(batch: PlayedAwsBatch) -> None:
    other = copy.deepcopy(CONTAINER) | {"image": "training@sha256:1"}
    wanted: dict[str, Any] = {"jobDefinitionName": "train", "type": "container", "containerProperties": other}
    assert batch.register_job_definition(**wanted)["revision"] == 2
    found = batch.describe_job_definitions(jobDefinitionName="train", status="ACTIVE")["jobDefinitions"]
    assert [each["revision"] for each in found] == [2, 1]
    assert [
        job(batch, submit(batch, f"{index}", definition=each))["container"]["image"]
        for index, each in enumerate(("train", "train:1", f"{ARN}:job-definition/train:2"))
    ] == ["training@sha256:1", "training@sha256:0", "training@sha256:1"]


QUEUED: dict[str, Any] = {"jobName": "job", "jobQueue": "dev", "jobDefinition": "train"}


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"jobQueue": "none"}, "JobQueue none does not exist"),
        ({"jobDefinition": "none"}, "JobDefinition none does not exist"),
        ({"jobName": "a job"}, "jobName must be 1 to 128 letters, digits, - and _, a letter or digit first"),
        ({"arrayProperties": {"size": 1}}, "Array size must be between 2 and 10000"),
        ({"arrayProperties": {"size": 10_001}}, "Array size must be between 2 and 10000"),
        (
            {"arrayProperties": {"size": 2}, "jobDefinition": "nodes"},
            "Array jobs of multi-node parallel jobs are not supported",
        ),
        ({"nodeOverrides": {"numNodes": 2}}, "nodeOverrides apply to multi-node parallel jobs only"),
        (
            {"containerOverrides": {}, "jobDefinition": "nodes"},
            "containerOverrides do not apply to a multi-node parallel job",
        ),
        ({"nodeOverrides": {"numNodes": 0}, "jobDefinition": "nodes"}, "numNodes must be at least 1"),
        ({"dependsOn": [{"jobId": "gone"}]}, "Job gone does not exist"),
        ({"shareIdentifier": "vision"}, "A queue without a scheduling policy takes no shareIdentifier"),
    ],
)
def test_submissions_that_are_rejected(batch: PlayedAwsBatch, asked: dict[str, Any], words: str) -> None:
    with pytest.raises(AwsRejection) as told:
        batch.submit_job(**QUEUED | asked)
    assert (told.value.code, told.value.words, batch.jobs) == ("ClientException", words, {})


def test_submissions_to_a_queue_that_is_closed_or_shared(batch: PlayedAwsBatch) -> None:
    [queue] = batch.queues.values()
    queue["schedulingPolicyArn"] = f"{ARN}:scheduling-policy/shares"
    with pytest.raises(AwsRejection, match="A queue with a scheduling policy needs a shareIdentifier"):
        submit(batch)
    submit(batch, shareIdentifier="vision")
    queue["state"] = "DISABLED"
    with pytest.raises(AwsRejection, match="JobQueue dev is DISABLED"):
        submit(batch, shareIdentifier="vision")
