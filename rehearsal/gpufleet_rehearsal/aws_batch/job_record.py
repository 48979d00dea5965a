"""A submitted job as DescribeJobs tells it, of a request and its job definition.

Source: docs.aws.amazon.com/batch/latest/APIReference/API_SubmitJob.html (overrides: variables by name, resources by
type; of a multi-node job for a range of nodes).
"""

import copy
import uuid
from collections.abc import Mapping
from typing import Any

Data = dict[str, Any]

_KEPT = ("shareIdentifier", "dependsOn", "tags", "propagateTags", "parameters")


def job_record(arn: str, queue: str, definition: Mapping[str, Any], asked: Mapping[str, Any], created: int) -> Data:
    """The job as a whole: an array, a multi-node job, or one container.

    arn: of jobs, without the id. queue: its ARN. created: ms since 1970.
    """
    name = str(uuid.uuid4())
    job: Data = {
        "jobArn": f"{arn}/{name}",
        "jobId": name,
        "jobName": asked["jobName"],
        "jobQueue": queue,
        "jobDefinition": definition["jobDefinitionArn"],
        "status": "SUBMITTED",
        "createdAt": created,
        "attempts": [],
        "retryStrategy": asked.get("retryStrategy") or definition.get("retryStrategy") or {"attempts": 1},
        **{key: asked[key] for key in _KEPT if key in asked},
    }
    if "timeout" in asked or "timeout" in definition:
        job["timeout"] = asked.get("timeout") or definition["timeout"]
    if "nodeProperties" in definition:
        job["nodeProperties"] = _nodes(definition["nodeProperties"], asked.get("nodeOverrides") or {})
        return job
    job["container"] = _overridden(definition["containerProperties"], asked.get("containerOverrides") or {})
    if "arrayProperties" in asked:
        job["arrayProperties"] = {"size": asked["arrayProperties"]["size"], "statusSummary": {}}
    return job


def child_record(array: Data, index: int) -> Data:
    """A child of an array."""
    child = copy.deepcopy(array) | {"arrayProperties": {"index": index}}
    child.pop("dependsOn", None)
    return _part(child, f":{index}")


def node_record(job: Data, index: int) -> Data:
    """A node of a multi-node job."""
    nodes = job["nodeProperties"]
    container = next(
        each["container"] for each in nodes["nodeRangeProperties"] if _holds(str(each["targetNodes"]), index)
    )
    node = copy.deepcopy(job) | {"container": copy.deepcopy(container)}
    node["nodeDetails"] = {"nodeIndex": index, "isMainNode": index == nodes["mainNode"]}
    del node["nodeProperties"]
    return _part(node, f"#{index}")


def variables(container: Mapping[str, Any]) -> dict[str, str]:
    """The variables of a container, by name."""
    return {each["name"]: each["value"] for each in container.get("environment") or []}


def _part(job: Data, suffix: str) -> Data:
    return job | {"jobArn": f"{job['jobArn']}{suffix}", "jobId": f"{job['jobId']}{suffix}"}


def _nodes(properties: Mapping[str, Any], overrides: Mapping[str, Any]) -> Data:
    nodes = copy.deepcopy(dict(properties))
    nodes["numNodes"] = int(overrides.get("numNodes", nodes["numNodes"]))
    given = {each["targetNodes"]: each for each in overrides.get("nodePropertyOverrides") or []}
    for each in nodes["nodeRangeProperties"]:
        own = given.get(each["targetNodes"], {}).get("containerOverrides") or {}
        each["container"] = _overridden(each["container"], own)
    return nodes


def _overridden(properties: Mapping[str, Any], overrides: Mapping[str, Any]) -> Data:
    container = copy.deepcopy(dict(properties)) | {
        key: value for key, value in overrides.items() if key in ("command", "instanceType", "vcpus", "memory")
    }
    for key, name in (("environment", "name"), ("resourceRequirements", "type")):
        merged = {each[name]: each for each in [*(properties.get(key) or []), *(overrides.get(key) or [])]}
        if merged:
            container[key] = list(merged.values())
    return container


def _holds(targets: str, index: int) -> bool:
    """Whether a range of nodes such as 0:, :3, 0:3 or 2 holds a node."""
    first, colon, last = targets.partition(":")
    return int(first or 0) <= index <= (int(last or index) if colon else int(first))
