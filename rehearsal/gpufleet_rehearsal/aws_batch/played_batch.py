"""AWS Batch in one account and region over simulated time, for the calls that `gpufleet` makes.

No container runs: it takes a minute, its log says so, and it ends with 0, or as the job's tag
`rehearsal.gpufleet.dev/exit-code` says (gpufleet_rehearsal.played_jobs). A job whose variables name a place for its
outputs leaves the line of its log there. Jobs of a queue start in the order in which they came, and one that finds no
instance blocks those behind it. Not played: shares, time limits of a job, pulls of images, roles, the health of
instances; SEQUENTIAL and N_TO_N dependencies and jobs on ECS tasks, EKS or Fargate are rejected.

Sources: docs.aws.amazon.com/batch/latest/userguide/job_states.html, array_jobs.html, job_retries.html (the rules of
evaluateOnExit), job_stuck_in_runnable_time_limit_actions.html; botocore's model of batch. The codes of rejections are
the model's; their words, and those of what depends on a failed job, are assumed.
"""

import re
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from gpufleet_rehearsal.aws_batch.instances import Instances, Needs
from gpufleet_rehearsal.aws_batch.job_record import child_record, job_record, node_record, variables
from gpufleet_rehearsal.aws_batch.rejection import AwsRejection
from gpufleet_rehearsal.played_jobs import EXIT_CODE, RUN_SECONDS, exit_code, log_line

Data = dict[str, Any]

SCHEDULE_SECONDS = 1.0
"""In SUBMITTED; assumed."""
START_SECONDS = 20.0
"""In STARTING, with the pull of the image; assumed."""
EXITED = "Essential container in task exited"
OUTPUT = "rehearsed.txt"
"""What a job leaves at its outputs' place."""
DEFAULT_GROUP = "/aws/batch/job"
_TERMINATED = 143
"""Exit code of what SIGTERM ends; that a terminated job has it is assumed."""
_ENDED = ("SUCCEEDED", "FAILED")
_MOST_LISTED = 100
_MOST_CHILDREN = 10_000
_OF_AN_ATTEMPT = ("exitCode", "logStreamName", "containerInstanceArn")
"""What each attempt's container has for itself."""
_NAME = re.compile(r"[A-Za-z0-9][\w-]{0,127}")


@dataclass
class PlayedAwsBatch:
    """queues, environments: by ARN, as Batch describes them. declared: job definitions of the simulated cloud.

    arn: the beginning of ARNs, arn:aws:batch:REGION:ACCOUNT. at: simulated seconds that it is played until. jobs: by
    id, with children and nodes. due: when a job continues. begun: when its containers began. streams: of logs, each
    event with ms since 1970, by GROUP and stream. put: writes an object to a bucket.
    """

    arn: str
    queues: Mapping[str, Data]
    environments: Mapping[str, Data]
    declared: list[Data]
    at: float = 0.0
    jobs: dict[str, Data] = field(default_factory=dict)
    due: dict[str, float] = field(default_factory=dict)
    begun: dict[str, float] = field(default_factory=dict)
    registered: list[Data] = field(default_factory=list)
    streams: dict[str, dict[str, list[list[Any]]]] = field(default_factory=dict)
    instances: Instances = field(default_factory=Instances)
    put: Callable[[str, str, bytes], None] = lambda bucket, key, content: None
    readable: set[str] = field(default_factory=set)
    """ARNs of the secrets that containers can have."""

    # Calls, named and with arguments as botocore has them.

    def submit_job(self, **asked: Any) -> Data:  # noqa: ANN401
        """SubmitJob."""
        definition, queue = self._definition(asked["jobDefinition"]), self._queue(asked["jobQueue"])
        self._check(asked, definition, queue)
        job = job_record(f"{self.arn}:job", queue["jobQueueArn"], definition, asked, _now())
        self._add(job)
        size = (job.get("arrayProperties") or {}).get("size", 0)
        for child in [child_record(job, index) for index in range(size)]:
            self._add(child)
        for index in range((job.get("nodeProperties") or {}).get("numNodes", 0)):
            node = node_record(job, index)
            self.jobs[node["jobId"]] = node
        return {key: job[key] for key in ("jobArn", "jobName", "jobId")}

    def describe_jobs(self, jobs: list[str]) -> Data:
        """DescribeJobs; what is not there is left out."""
        return {"jobs": [_with_state(self.jobs[each], self.jobs) for each in jobs if each in self.jobs]}

    def list_jobs(self, **asked: Any) -> Data:  # noqa: ANN401
        """ListJobs of a queue, an array or a multi-node job, newest first."""
        found = self._listed(asked)
        if not asked.get("filters"):
            state = asked.get("jobStatus", "RUNNING")
            found = [each for each in found if each["status"] == state]
        for each in asked.get("filters") or []:
            found = [job for job in found if _meets(job, each)]
        begin = int(asked.get("nextToken") or 0)
        end = begin + min(asked.get("maxResults") or _MOST_LISTED, _MOST_LISTED)
        more = {"nextToken": str(end)} if end < len(found) else {}
        return {"jobSummaryList": [_summary(each) for each in found[begin:end]], **more}

    def terminate_job(self, jobId: str, reason: str) -> Data:
        """TerminateJob, also of an array's children."""
        for job in self._parts(jobId):
            self._terminate(job, reason)
        return {}

    def cancel_job(self, jobId: str, reason: str) -> Data:
        """CancelJob: what has begun to start continues."""
        for job in self._parts(jobId):
            if job["status"] not in ("STARTING", "RUNNING"):
                self._terminate(job, reason)
        return {}

    def register_job_definition(self, **asked: Any) -> Data:  # noqa: ANN401
        """RegisterJobDefinition: the next revision of a name."""
        if asked["type"] not in ("container", "multinode"):
            raise AwsRejection("ClientException", f"type {asked['type']} is not supported")
        if ("nodeProperties" in asked) != (asked["type"] == "multinode"):
            raise AwsRejection("ClientException", "Node properties are required for multinode jobs, and only for them")
        if asked["type"] == "container" and "containerProperties" not in asked:
            raise AwsRejection(
                "ClientException", "Error executing request, Exception : Container properties should not be empty"
            )
        for container in _containers_of(asked):
            if container.get("secrets") and not container.get("executionRoleArn"):
                words = (
                    "When you are specifying container secrets, you must also specify a value for 'executionRoleArn'."
                )
                raise AwsRejection("ClientException", f"Error executing request, Exception : {words}")
        name = asked["jobDefinitionName"]
        revision = (
            max((each["revision"] for each in self._definitions() if each["jobDefinitionName"] == name), default=0) + 1
        )
        arn = f"{self.arn}:job-definition/{name}:{revision}"
        self.registered.append(asked | {"jobDefinitionArn": arn, "revision": revision, "status": "ACTIVE"})
        return {"jobDefinitionName": name, "jobDefinitionArn": arn, "revision": revision}

    def describe_job_definitions(self, **asked: Any) -> Data:  # noqa: ANN401
        """DescribeJobDefinitions: by ARN or NAME:REVISION, or all revisions of a name."""
        found = list(self._definitions())
        if "jobDefinitions" in asked:
            found = [each for each in found if _is_one_of(each, asked["jobDefinitions"])]
        if "jobDefinitionName" in asked:
            found = [each for each in found if each["jobDefinitionName"] == asked["jobDefinitionName"]]
        if "status" in asked:
            found = [each for each in found if each["status"] == asked["status"]]
        return {"jobDefinitions": sorted(found, key=lambda each: -each["revision"])}

    def describe_job_queues(self, jobQueues: list[str] | None = None) -> Data:
        """DescribeJobQueues by ARN or name."""
        return {"jobQueues": [each for each in self.queues.values() if _is_named(each, "jobQueue", jobQueues)]}

    def describe_compute_environments(self, computeEnvironments: list[str] | None = None) -> Data:
        """DescribeComputeEnvironments by ARN or name, with the vCPUs that are there."""
        found = []
        for name, each in self.environments.items():
            if _is_named(each, "computeEnvironment", computeEnvironments):
                desired = {"desiredvCpus": self.instances.vcpus(name)}
                has = each.get("computeResources")
                found.append(each | ({"computeResources": has | desired} if has else {}))
        return {"computeEnvironments": found}

    def container_instances(self) -> dict[str, tuple[str, str]]:
        """Id and type of each instance by the ARN that ECS has for it."""
        arns = {name: self._container_instance(name) for name in self.instances.running}
        return {arn: (name, str(self.instances.running[name]["type"])) for name, arn in arns.items() if arn}

    # Time.

    def advance(self, until: float) -> None:
        """Play until a simulated moment."""
        while True:
            self._schedule()
            moment = min(self.due.values(), default=until + 1)
            if moment > until:
                break
            self.at = max(self.at, moment)
            for name in [name for name, due in self.due.items() if due <= self.at]:
                self._go_on(self.jobs[name])
        self.at = max(self.at, until)

    def _schedule(self) -> None:
        """Start what waits and can start, and count the children of arrays."""
        for job in self._in_state("PENDING"):
            if "size" not in (job.get("arrayProperties") or {}):
                self._look_at_dependencies(job)
        for queue in sorted(self.queues.values(), key=lambda each: -int(each["priority"])):
            self._start_from(queue)
        for job in self._in_state("PENDING"):
            if "size" in (job.get("arrayProperties") or {}):
                self._count(job)

    def _look_at_dependencies(self, job: Data) -> None:
        states = {self.jobs[each["jobId"]]["status"] for each in self._dependencies(job) if each["jobId"] in self.jobs}
        if "FAILED" in states:
            self._finish(job, "FAILED", "Dependent Job failed")
        elif states <= {"SUCCEEDED"}:
            job["status"] = "RUNNABLE"

    def _dependencies(self, job: Data) -> list[Data]:
        array = self.jobs[job["jobId"].partition(":")[0]]
        return list(array.get("dependsOn") or [])

    def _start_from(self, queue: Data) -> None:
        order = sorted(queue["computeEnvironmentOrder"], key=lambda each: int(each["order"]))
        environments = [
            self.environments[arn] for each in order if (arn := each["computeEnvironment"]) in self.environments
        ]
        for job in self._in_state("RUNNABLE"):
            if job["jobQueue"] != queue["jobQueueArn"] or self.instances.ready(job["jobId"]) is not None:
                continue
            nodes, container = job.get("nodeProperties") or {}, job.get("container") or {}
            if nodes:
                container = self.jobs[f"{job['jobId']}#{nodes['mainNode']}"]["container"]
            needs = Needs.of(container, int(nodes.get("numNodes", 1)))
            reason = self.instances.place(
                job["jobId"], needs, environments, self.at, str(container.get("instanceType") or "")
            )
            if reason is not None:
                self._block(job, queue, reason)
                return
            job.pop("statusReason", None)
            self.due[job["jobId"]] = max(self.at, self.instances.ready(job["jobId"]) or 0.0)

    def _block(self, job: Data, queue: Data, reason: str) -> None:
        """The head of a queue that finds no instance: it says why, and may be cancelled after a while."""
        name = job["jobId"]
        if reason == job.get("statusReason", ""):
            return
        job["statusReason"] = reason
        self.due.pop(name, None)
        for action in queue.get("jobStateTimeLimitActions") or []:
            if reason.startswith(action["reason"]):
                self.due[name] = self.at + int(action["maxTimeSeconds"])

    def _go_on(self, job: Data) -> None:
        """What a job's own time brings."""
        name = job["jobId"]
        del self.due[name]
        if job["status"] == "SUBMITTED":
            waits = "size" in (job.get("arrayProperties") or {}) or self._dependencies(job)
            job["status"] = "PENDING" if waits else "RUNNABLE"
        elif job["status"] == "RUNNABLE" and self.instances.ready(name) is None:
            code = job["statusReason"].partition(" - ")[0]
            self._finish(job, "FAILED", f"Canceled by JobStateTimeLimit action due to reason: {code}")
        elif job["status"] == "RUNNABLE":
            job["status"] = "STARTING"
            self.due[name] = self.at + START_SECONDS
        elif job["status"] == "STARTING":
            self._begin(job)
        else:
            self._end(job, exit_code((job.get("tags") or {}).get(EXIT_CODE)) or 0, EXITED)

    def _begin(self, job: Data) -> None:
        missing = [
            each["valueFrom"] for one in self._containers(job) for each in self._unreadable(one.get("container") or {})
        ]
        if missing:
            why = "unable to pull secrets or registry auth: execution resource retrieval failed"
            self._finish(job, "FAILED", f"ResourceInitializationError: {why}: {missing[0]}")
            return
        job |= {"status": "RUNNING", "startedAt": _now()}
        self.begun[job["jobId"]] = self.at
        pool = self.environments.get(self.instances.environment(job["jobId"]), {}).get("computeEnvironmentName", "")
        for each, instance in zip(self._containers(job), self._container_instances(job), strict=True):
            container = each["container"]
            if instance:
                container["containerInstanceArn"] = instance
            options = (container.get("logConfiguration") or {}).get("options") or {}
            definition = job["jobDefinition"].rpartition("/")[2].partition(":")[0]
            stream = f"{options.get('awslogs-stream-prefix', definition)}/default/{uuid.uuid4().hex}"
            container["logStreamName"] = stream
            count = int((job.get("nodeProperties") or {}).get("numNodes", 1))
            events = [[_now(), log_line(container["image"], count, pool)]]
            self.streams.setdefault(options.get("awslogs-group", DEFAULT_GROUP), {})[stream] = events
        if exit_code((job.get("tags") or {}).get(EXIT_CODE)) is not None:
            self.due[job["jobId"]] = self.at + RUN_SECONDS

    def _end(self, job: Data, code: int, reason: str) -> None:
        """The containers of a job have ended."""
        self._write_outputs(job)
        # It ran for as long as the cloud's clock says, however little of it this machine has waited.
        now, lasted = _now(), int(1000 * (self.at - self.begun.pop(job["jobId"], self.at)))
        job["startedAt"] = min(job["startedAt"], now - lasted)
        ran = {"startedAt": job["startedAt"], "stoppedAt": now, "statusReason": reason}
        for each in self._containers(job):
            each["container"]["exitCode"] = code
            shown = {key: each["container"][key] for key in _OF_AN_ATTEMPT if key in each["container"]}
            each["attempts"] = [*each["attempts"], ran | {"container": shown}]
        if "nodeProperties" in job:
            job["attempts"] = [*job["attempts"], ran | {"container": {}}]
        if reason == EXITED and code and self._is_retried(job, code):
            self.instances.free(job["jobId"])
            for each in self._containers(job):
                each["container"] = {
                    key: value for key, value in each["container"].items() if key not in _OF_AN_ATTEMPT
                }
            job["status"] = "RUNNABLE"
            return
        self._finish(job, "FAILED" if code else "SUCCEEDED", reason)

    def _is_retried(self, job: Data, code: int) -> bool:
        strategy = job["retryStrategy"]
        if len(job["attempts"]) >= int(strategy.get("attempts", 1)):
            return False
        facts = {"onExitCode": str(code), "onReason": "", "onStatusReason": EXITED}
        for rule in strategy.get("evaluateOnExit") or []:
            if all(_fits(rule[key], value) for key, value in facts.items() if key in rule):
                return str(rule["action"]).upper() == "RETRY"
        return True

    def _finish(self, job: Data, state: str, reason: str) -> None:
        job |= {"status": state, "statusReason": reason, "stoppedAt": _now()}
        self.due.pop(job["jobId"], None)
        self.instances.free(job["jobId"])

    def _terminate(self, job: Data, reason: str) -> None:
        if job["status"] in _ENDED or "size" in (job.get("arrayProperties") or {}):
            return
        if job["status"] == "RUNNING":
            self._end(job, _TERMINATED, reason)
        else:
            self._finish(job, "FAILED", reason)

    def _count(self, array: Data) -> None:
        states = [job["status"] for job in self._children(array["jobId"])]
        array["arrayProperties"]["statusSummary"] = {state: states.count(state) for state in dict.fromkeys(states)}
        if all(state in _ENDED for state in states):
            begun = [job["startedAt"] for job in self._children(array["jobId"]) if "startedAt" in job]
            array |= {"startedAt": min(begun)} if begun else {}
            failed = "FAILED" in states
            self._finish(array, "FAILED" if failed else "SUCCEEDED", "Array Child Job failed" if failed else "")

    def _unreadable(self, container: Data) -> list[Data]:
        """Secrets of Secrets Manager that are not there: ECS reads them before a container starts.

        Source: docs.aws.amazon.com/AmazonECS/latest/developerguide/resource-initialization-error.html
        """
        named = [each for each in container.get("secrets") or [] if ":secretsmanager:" in each["valueFrom"]]
        return [each for each in named if ":".join(each["valueFrom"].split(":")[:7]) not in self.readable]

    def _container_instances(self, job: Data) -> list[str]:
        """The instance of each of its containers, as ECS names it; empty in an environment without a cluster of ECS."""
        return [self._container_instance(name) for name in self.instances.of(job["jobId"])]

    def _container_instance(self, name: str) -> str:
        environment = self.environments.get(str(self.instances.running[name]["environment"]), {})
        cluster = str(environment.get("ecsClusterArn") or "").rpartition("/")[2]
        there = self.arn.replace(":batch:", ":ecs:")
        return cluster and f"{there}:container-instance/{cluster}/{name.removeprefix('i-'):0>32}"

    def _write_outputs(self, job: Data) -> None:
        main = self._containers(job)[int((job.get("nodeProperties") or {}).get("mainNode", 0))]
        place = urlsplit(variables(main["container"]).get("GPUFLEET_OUTPUTS", ""))
        index = (job.get("arrayProperties") or {}).get("index")
        if place.scheme == "s3" and place.netloc:
            folder = place.path.strip("/") + ("" if index is None else f"/{index}")
            group = ((main["container"].get("logConfiguration") or {}).get("options") or {}).get("awslogs-group")
            [[_, line]] = self.streams[group or DEFAULT_GROUP][main["container"]["logStreamName"]]
            self.put(place.netloc, f"{folder}/{OUTPUT}", f"{line}\n".encode())

    # Looking things up.

    def _add(self, job: Data) -> None:
        self.jobs[job["jobId"]] = job
        self.due[job["jobId"]] = self.at + SCHEDULE_SECONDS

    def _in_state(self, state: str) -> list[Data]:
        """Jobs and children of a state, the oldest first; nodes have their job's."""
        return [each for each in self.jobs.values() if each["status"] == state and "#" not in each["jobId"]]

    def _children(self, array: str) -> list[Data]:
        return [each for name, each in self.jobs.items() if name.startswith(f"{array}:")]

    def _containers(self, job: Data) -> list[Data]:
        """The records that hold a job's containers: itself, or its nodes in their order."""
        return [each for name, each in self.jobs.items() if name.startswith(f"{job['jobId']}#")] or [job]

    def _parts(self, name: str) -> list[Data]:
        if name not in self.jobs:
            raise AwsRejection("ClientException", f"Job {name} does not exist")
        return [*self._children(name), self.jobs[name.partition("#")[0]]]

    def _listed(self, asked: Mapping[str, Any]) -> list[Data]:
        given = [key for key in ("jobQueue", "arrayJobId", "multiNodeJobId") if key in asked]
        if len(given) != 1:
            raise AwsRejection("ClientException", "Exactly one of jobQueue, arrayJobId, multiNodeJobId is required")
        if given == ["jobQueue"]:
            arn = self._queue(asked["jobQueue"])["jobQueueArn"]
            found = [
                each for name, each in self.jobs.items() if each["jobQueue"] == arn and not re.search("[:#]", name)
            ]
        else:
            parent = asked[given[0]] + (":" if given == ["arrayJobId"] else "#")
            found = [_with_state(each, self.jobs) for name, each in self.jobs.items() if name.startswith(parent)]
        return found[::-1]

    def _queue(self, name: str) -> Data:
        found = [each for each in self.queues.values() if _is_named(each, "jobQueue", [name])]
        if not found:
            raise AwsRejection("ClientException", f"JobQueue {name} does not exist")
        return found[0]

    def _definitions(self) -> Iterator[Data]:
        """The simulated cloud's, and what was registered; an `up` may have taken a revision's number since."""
        own = {each["jobDefinitionArn"] for each in self.declared}
        yield from self.declared
        yield from (each for each in self.registered if each["jobDefinitionArn"] not in own)

    def _definition(self, name: str) -> Data:
        found = [each for each in self._definitions() if _is_one_of(each, [name]) or each["jobDefinitionName"] == name]
        if not found:
            raise AwsRejection("ClientException", f"JobDefinition {name} does not exist")
        return max(found, key=lambda each: int(each["revision"]))

    def _check(self, asked: Mapping[str, Any], definition: Data, queue: Data) -> None:
        """Errors: AwsRejection."""
        size, nodes = (asked.get("arrayProperties") or {}).get("size"), "nodeProperties" in definition
        most = (asked.get("nodeOverrides") or {}).get("numNodes", 1)
        gone = [each["jobId"] for each in asked.get("dependsOn") or [] if each.get("jobId") not in self.jobs]
        kinds = [each["type"] for each in asked.get("dependsOn") or [] if "type" in each]
        faults = {
            "jobName must be 1 to 128 letters, digits, - and _, a letter or digit first": not _NAME.fullmatch(
                asked["jobName"]
            ),
            f"JobQueue {queue['jobQueueName']} is DISABLED": queue["state"] != "ENABLED",
            "A queue with a scheduling policy needs a shareIdentifier": "schedulingPolicyArn" in queue
            and "shareIdentifier" not in asked,
            "A queue without a scheduling policy takes no shareIdentifier": "schedulingPolicyArn" not in queue
            and "shareIdentifier" in asked,
            f"Array size must be between 2 and {_MOST_CHILDREN}": size is not None and not 2 <= size <= _MOST_CHILDREN,
            "Array jobs of multi-node parallel jobs are not supported": nodes and size is not None,
            "containerOverrides do not apply to a multi-node parallel job": nodes and "containerOverrides" in asked,
            "nodeOverrides apply to multi-node parallel jobs only": not nodes and "nodeOverrides" in asked,
            "numNodes must be at least 1": most < 1,
            f"Job {', '.join(map(str, gone))} does not exist": bool(gone),
        }
        for words, is_so in faults.items():
            if is_so:
                raise AwsRejection("ClientException", words)
        if kinds or "ecsPropertiesOverride" in asked or "eksPropertiesOverride" in asked:
            raise AwsRejection(
                "NotImplemented", "a rehearsal plays neither typed dependencies nor jobs of ECS or EKS", 501
            )


def _with_state(part: Data, jobs: Mapping[str, Data]) -> Data:
    """A job as it is; a node has its job's state."""
    job = jobs[part["jobId"].partition("#")[0]]
    return part | {key: job[key] for key in ("status", "statusReason", "startedAt", "stoppedAt") if key in job}


def _containers_of(definition: Data) -> list[Data]:
    ranges = (definition.get("nodeProperties") or {}).get("nodeRangeProperties") or []
    return [definition.get("containerProperties") or {}, *(each.get("container") or {} for each in ranges)]


def _summary(job: Data) -> Data:
    keys = (
        "jobArn",
        "jobId",
        "jobName",
        "createdAt",
        "startedAt",
        "stoppedAt",
        "status",
        "statusReason",
        "jobDefinition",
    )
    told = {key: job[key] for key in keys if key in job}
    container = {key: job["container"][key] for key in ("exitCode", "reason") if key in (job.get("container") or {})}
    array = {key: value for key, value in (job.get("arrayProperties") or {}).items() if key != "statusSummary"}
    nodes = {"numNodes": job["nodeProperties"]["numNodes"]} if "nodeProperties" in job else job.get("nodeDetails", {})
    for key, value in (("container", container), ("arrayProperties", array), ("nodeProperties", nodes)):
        told |= {key: value} if value else {}
    return told


def _meets(job: Data, asked: Mapping[str, Any]) -> bool:
    """One filter of ListJobs, of whose values any will do."""
    kind, values = asked["name"], asked["values"]
    if kind == "JOB_NAME":
        return any(_fits(each.lower(), job["jobName"].lower()) for each in values)
    if kind == "AFTER_CREATED_AT":
        return any(job["createdAt"] > int(each) for each in values)
    if kind == "BEFORE_CREATED_AT":
        return any(job["createdAt"] < int(each) for each in values)
    raise AwsRejection("NotImplemented", f"a rehearsal does not play the filter {kind} of ListJobs", 501)


def _fits(pattern: str, text: str) -> bool:
    """Whether a text is a pattern, which may end with a star."""
    return text.startswith(pattern[:-1]) if pattern.endswith("*") else text == pattern


def _is_named(each: Data, kind: str, names: list[str] | None) -> bool:
    return not names or each[f"{kind}Name"] in names or each[f"{kind}Arn"] in names


def _is_one_of(definition: Data, names: list[str]) -> bool:
    return any(
        definition["jobDefinitionArn"] == each or definition["jobDefinitionArn"].endswith(f"/{each}") for each in names
    )


def _now() -> int:
    """ms since 1970, by the clock of this machine."""
    return int(1000 * time.time())
