"""Instances of compute environments: which of them hold the containers of a job, and what keeps them away.

An instance goes as soon as nothing runs on it. Sources: docs.aws.amazon.com/batch/latest/userguide/
job_stuck_in_runnable_capacity.html (the reason and its words), job_stuck_in_runnable_time_limit_actions.html (the other
reasons; their words are assumed), multi-node-parallel-jobs.html (a separate node for each container, never on Spot).
Not played: shares, Fargate, `optimal`, types that the catalog does not have, evictions, quotas of Spot.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gpufleet.catalog import AwsGpuType, aws

Data = dict[str, Any]

INSTANCE_SECONDS = 180.0
"""From the request of an instance until it takes a container; assumed."""
NO_CAPACITY = "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"
TOO_LARGE = "MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE"
NO_FIT = "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT"
_WORDS = {
    NO_CAPACITY: "Service cannot fulfill the capacity requested for instance type [{type}]",
    TOO_LARGE: "The job needs more vCPUs than its compute environment may have",
    NO_FIT: "No instance type of the compute environment has the resources that the job needs",
}
_MIB = 1024


class Needs(NamedTuple):
    """What one container asks for. memory: MiB. nodes: instances, each with such a container; one may be shared."""

    gpus: int
    vcpus: int
    memory: int
    nodes: int

    @classmethod
    def of(cls, container: Mapping[str, Any], nodes: int) -> "Needs":
        asked = {each["type"]: int(float(each["value"])) for each in container.get("resourceRequirements") or []}
        vcpus, memory = int(container.get("vcpus") or 0), int(container.get("memory") or 0)
        return cls(asked.get("GPU", 0), asked.get("VCPU", vcpus), asked.get("MEMORY", memory), nodes)


@dataclass
class Instances:
    """The instances of one account and region.

    running: by id, each with environment (ARN), type, vcpus, spot, ready (simulated seconds) and the needs of the jobs
    on it by id. quota: vCPUs of a family that may run on demand, None: no limit. has_capacity: whether AWS has
    instances of a type in one of these subnets.
    """

    running: dict[str, Data] = field(default_factory=dict)
    started: int = 0
    family: Callable[[str], str | None] = lambda type_: None
    quota: Callable[[str], int | None] = lambda family: None
    has_capacity: Callable[[str, list[str]], bool] = lambda type_, subnets: True

    def place(self, job: str, needs: Needs, environments: list[Data], at: float, wanted: str = "") -> str | None:
        """Give a job its instances, in the first environment that has room; None, or why none can ever have.

        The answer is empty where the job waits for others to end. wanted: the type that a node's container names.
        """
        reasons = []
        for each in environments:
            reason = self._place_in(each, job, needs, at, wanted)
            if reason is None:
                return None
            reasons.append(reason)
        return reasons[0] if reasons and all(reasons) else ""

    def ready(self, job: str) -> float | None:
        """When the last of a job's instances takes containers; None where it has none."""
        own = [each["ready"] for each in self.running.values() if job in each["jobs"]]
        return max(own, default=None)

    def of(self, job: str) -> list[str]:
        """The ids of a job's instances, in the order in which they were requested."""
        return [name for name, each in self.running.items() if job in each["jobs"]]

    def environment(self, job: str) -> str:
        """The ARN of the environment that a job runs in."""
        return next(str(each["environment"]) for each in self.running.values() if job in each["jobs"])

    def free(self, job: str) -> None:
        """Take a job off its instances; those that are empty go."""
        for each in self.running.values():
            each["jobs"].pop(job, None)
        self.running = {name: each for name, each in self.running.items() if each["jobs"]}

    def vcpus(self, environment: str) -> int:
        """vCPUs of the instances of an environment."""
        return sum(each["vcpus"] for each in self.running.values() if each["environment"] == environment)

    def _place_in(self, environment: Data, job: str, needs: Needs, at: float, wanted: str) -> str | None:
        """None where the job has its instances now."""
        resources = environment.get("computeResources") or {}
        spot, types = resources.get("type") == "SPOT", list(resources.get("instanceTypes") or [])
        fitting = [each for each in _records(types, wanted) if _holds(each, needs)]
        if environment["state"] != "ENABLED" or environment["status"] != "VALID" or not resources:
            return ""
        if not fitting or (needs.nodes > 1 and spot):
            return _reason(NO_FIT)
        name, smallest = str(environment["computeEnvironmentArn"]), fitting[0]
        if needs.nodes == 1 and (near := self._with_room(name, needs)):
            near["jobs"][job] = list(needs)
            return None
        more = needs.nodes * smallest.vcpus
        if more > int(resources["maxvCpus"]):
            return _reason(TOO_LARGE)
        if self.vcpus(name) + more > int(resources["maxvCpus"]):
            return ""
        no_quota = not spot and self._over_quota(smallest.type, more)
        if no_quota or not self.has_capacity(smallest.type, list(resources.get("subnets") or [])):
            return _reason(NO_CAPACITY, smallest.type)
        for _ in range(needs.nodes):
            self.started += 1
            self.running[f"i-{self.started:017x}"] = {
                "environment": name,
                "type": smallest.type,
                "vcpus": smallest.vcpus,
                "spot": spot,
                "ready": at + INSTANCE_SECONDS,
                "jobs": {job: list(needs)},
            }
        return None

    def _with_room(self, environment: str, needs: Needs) -> Data | None:
        for each in self.running.values():
            taken = [Needs(*there) for there in each["jobs"].values()]
            if each["environment"] != environment or any(there.nodes > 1 for there in taken):
                continue
            record = aws().types[each["type"]]
            whole = Needs(
                needs.gpus + sum(there.gpus for there in taken),
                needs.vcpus + sum(there.vcpus for there in taken),
                needs.memory + sum(there.memory for there in taken),
                1,
            )
            if _holds(record, whole):
                return each
        return None

    def _over_quota(self, type_: str, more: int) -> bool:
        family = self.family(type_)
        limit = None if family is None else self.quota(family)
        if limit is None:
            return False
        own = [each for each in self.running.values() if not each["spot"] and self.family(each["type"]) == family]
        return sum(int(each["vcpus"]) for each in own) + more > limit


def _records(types: list[str], wanted: str) -> Iterator[AwsGpuType]:
    """The types of the catalog that are meant by types or families such as g5, the smallest first."""
    known = aws().types
    meant = [name for name in known if name in types or name.partition(".")[0] in types]
    yield from sorted((known[name] for name in meant if not wanted or name == wanted), key=lambda each: each.vcpus)


def _holds(record: AwsGpuType, needs: Needs) -> bool:
    return bool(
        needs.gpus <= record.gpus and needs.vcpus <= record.vcpus and needs.memory <= int(record.memory_gib * _MIB)
    )


def _reason(code: str, type_: str = "") -> str:
    return f"{code} - {_WORDS[code].format(type=type_)}"
