"""Job definitions of AWS Batch: the stack's own, and revisions of them that differ in the image.

A submission can override a job's command, variables and resources, but not its image; for another image there is
another revision. It is made once: a later submission of the same finds it. What a revision of ours is, its tag says.
"""

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from gpufleet.errors import UserError
from gpufleet.jobs.aws_batch.client import AwsBatchClient, code_of, words_of

Definition = Mapping[str, Any]
OURS = "gpufleet:revision-of"
"""The tag of a revision that a submission has made: its value is the ARN of the stack's."""

_SENT = (
    "type",
    "parameters",
    "schedulingPriority",
    "containerProperties",
    "nodeProperties",
    "retryStrategy",
    "propagateTags",
    "timeout",
    "platformCapabilities",
    "consumableResourceProperties",
)
"""What DescribeJobDefinitions tells and RegisterJobDefinition takes, besides name and tags; not Kubernetes' own."""


def found_definition(aws: AwsBatchClient, name: str, environment: str) -> Definition:
    """The definition as the stack made it, from its ARN, from NAME:REVISION, or the stack's newest of this NAME.

    Errors: UserError when there is none that is active.
    """
    last = name.rpartition("/")[2]
    if ":" in last:
        wanted = name if name.startswith("arn:") else last
        found = aws.ask("batch", "describe_job_definitions", "jobDefinitions[]", jobDefinitions=[wanted])
    else:
        found = [each for each in _active(aws, last) if OURS not in (each.get("tags") or {})]
    active = [each for each in found if each.get("status", "ACTIVE") == "ACTIVE"]
    if not active:
        raise UserError(
            f"{environment}: definition={name}: there is no such active job definition in {aws.region} of the account "
            "in use; `pulumi up` makes it"
        )
    newest: Definition = max(active, key=lambda each: int(each["revision"]))
    return newest


def containers(definition: Definition) -> list[dict[str, Any]]:
    """The properties of its container; of a multi-node definition one for each range of nodes."""
    if definition["type"] == "multinode":
        ranges = (definition.get("nodeProperties") or {}).get("nodeRangeProperties") or []
        return [each.get("container") or {} for each in ranges]
    return [definition.get("containerProperties") or {}]


def ranges(definition: Definition) -> list[str]:
    """The ranges of nodes of a multi-node definition, such as 0:."""
    return [str(each["targetNodes"]) for each in (definition.get("nodeProperties") or {})["nodeRangeProperties"]]


def asked(definition: Definition) -> dict[str, int]:
    """GPU, VCPU and MEMORY (MiB) of a container, as far as the definition says."""
    container = (containers(definition) or [{}])[0]
    older = {"VCPU": container.get("vcpus"), "MEMORY": container.get("memory")}
    told = {kind: int(value) for kind, value in older.items() if value}
    return told | {each["type"]: int(float(each["value"])) for each in container.get("resourceRequirements") or []}


def variables(definition: Definition) -> dict[str, str]:
    """The variables that it gives its containers."""
    return {each["name"]: each["value"] for one in containers(definition) for each in one.get("environment") or []}


def with_image(definition: Definition, image: str, shared_memory_gib: int | None = None) -> dict[str, Any] | None:
    """What to register for a job with this image and shared memory; None when the definition has them already."""
    other = copy.deepcopy({key: definition[key] for key in _SENT if definition.get(key) not in (None, {}, [])})
    for container in containers(other):
        container["image"] = image
        if shared_memory_gib is not None:
            container["linuxParameters"] = dict(container.get("linuxParameters") or {})
            container["linuxParameters"]["sharedMemorySize"] = 1024 * shared_memory_gib
    if same(other, definition):
        return None
    tags = {**(definition.get("tags") or {}), OURS: str(definition["jobDefinitionArn"])}
    return {"jobDefinitionName": str(definition["jobDefinitionName"]), **other, "tags": tags}


def registered(aws: AwsBatchClient, wanted: dict[str, Any]) -> str:
    """The ARN of an active revision that is as wanted: one that is there, or else a new one. Errors: UserError."""
    name = wanted["jobDefinitionName"]
    alike = [each for each in _active(aws, name) if same(each, wanted)]
    if alike:
        return str(max(alike, key=lambda each: int(each["revision"]))["jobDefinitionArn"])
    try:
        return str(aws.do("batch", "register_job_definition", **wanted)["jobDefinitionArn"])
    except UserError as error:
        if code_of(error) == "ClientException":
            raise UserError(f"{name}: AWS Batch refuses the job definition: {words_of(error)}") from error
        raise


def same(one: Definition, other: Definition) -> bool:
    """Whether two definitions make the same jobs; nothing and an empty list are the same."""
    return all((one.get(key) or None) == (other.get(key) or None) for key in _SENT)


def _active(aws: AwsBatchClient, name: str) -> Iterator[Definition]:
    answer = "jobDefinitions[]"
    yield from aws.ask("batch", "describe_job_definitions", answer, jobDefinitionName=name, status="ACTIVE")
