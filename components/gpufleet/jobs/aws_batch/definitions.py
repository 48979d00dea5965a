"""Job definitions of AWS Batch: the stack's own, and revisions of them that differ in the image.

A submission can override a job's command, variables and resources, but not its image; for another image there is
another revision. It is made once: a later submission of the same finds it. A tag marks these revisions.
"""

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from gpufleet.errors import UserError
from gpufleet.jobs.aws_batch.client import AwsBatchClient, error_code, error_message
from gpufleet.jobs.aws_batch.secrets import with_secrets

JobDefinition = Mapping[str, Any]
REVISION_TAG = "gpufleet:revision-of"
"""The tag of a revision that a submission has made: its value is the ARN of the stack's."""

_REGISTERED_KEYS = (
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


def find_definition(aws: AwsBatchClient, name: str, environment: str) -> JobDefinition:
    """The definition as the stack made it, from its ARN, from NAME:REVISION, or the stack's newest of this NAME.

    Errors: UserError when there is none that is active.
    """
    last = name.rpartition("/")[2]
    if ":" in last:
        wanted = name if name.startswith("arn:") else last
        found = aws.ask("batch", "describe_job_definitions", "jobDefinitions[]", jobDefinitions=[wanted])
    else:
        found = [each for each in _active(aws, last) if REVISION_TAG not in (each.get("tags") or {})]
    active = [each for each in found if each.get("status", "ACTIVE") == "ACTIVE"]
    if not active:
        raise UserError(
            f"{environment}: definition={name}: no active job definition with this name in {aws.region} of the account "
            "in use; `pulumi up` makes it"
        )
    newest: JobDefinition = max(active, key=lambda each: int(each["revision"]))
    return newest


def containers(definition: JobDefinition) -> list[dict[str, Any]]:
    """The properties of its container; of a multi-node definition one for each range of nodes."""
    if definition["type"] == "multinode":
        ranges = (definition.get("nodeProperties") or {}).get("nodeRangeProperties") or []
        return [each.get("container") or {} for each in ranges]
    return [definition.get("containerProperties") or {}]


def node_ranges(definition: JobDefinition) -> list[str]:
    """The ranges of nodes of a multi-node definition, such as 0:."""
    return [str(each["targetNodes"]) for each in (definition.get("nodeProperties") or {})["nodeRangeProperties"]]


def requested_resources(definition: JobDefinition) -> dict[str, int]:
    """GPU, VCPU and MEMORY (MiB) of a container, as far as the definition says."""
    container = (containers(definition) or [{}])[0]
    older = {"VCPU": container.get("vcpus"), "MEMORY": container.get("memory")}
    told = {kind: int(value) for kind, value in older.items() if value}
    return told | {each["type"]: int(float(each["value"])) for each in container.get("resourceRequirements") or []}


def container_variables(definition: JobDefinition) -> dict[str, str]:
    """The variables that it gives its containers."""
    return {each["name"]: each["value"] for one in containers(definition) for each in one.get("environment") or []}


def revision_with_image(
    definition: JobDefinition,
    image: str,
    shared_memory_gib: int | None = None,
    secrets: Mapping[str, str] | None = None,
) -> dict[str, Any] | None:
    """What to register for a job with this image, shared memory and secrets (variable to ARN); None when the definition
    has them already."""
    other = copy.deepcopy(
        {key: definition[key] for key in _REGISTERED_KEYS if definition.get(key) not in (None, {}, [])}
    )
    for container in containers(other):
        container["image"] = image
        if secrets:
            container.update(with_secrets(container, secrets))
        if shared_memory_gib is not None:
            container["linuxParameters"] = dict(container.get("linuxParameters") or {})
            container["linuxParameters"]["sharedMemorySize"] = 1024 * shared_memory_gib
    if is_equivalent(other, definition):
        return None
    tags = {**(definition.get("tags") or {}), REVISION_TAG: str(definition["jobDefinitionArn"])}
    return {"jobDefinitionName": str(definition["jobDefinitionName"]), **other, "tags": tags}


def register_revision(aws: AwsBatchClient, wanted: dict[str, Any]) -> str:
    """The ARN of an active revision that is as wanted: one that is there, or else a new one. Errors: UserError."""
    name = wanted["jobDefinitionName"]
    alike = [each for each in _active(aws, name) if is_equivalent(each, wanted)]
    if alike:
        return str(max(alike, key=lambda each: int(each["revision"]))["jobDefinitionArn"])
    try:
        return str(aws.call("batch", "register_job_definition", **wanted)["jobDefinitionArn"])
    except UserError as error:
        if error_code(error) == "ClientException":
            raise UserError(f"{name}: AWS Batch rejects the job definition: {error_message(error)}") from error
        raise


def is_equivalent(one: JobDefinition, other: JobDefinition) -> bool:
    """Whether two definitions make the same jobs; nothing and an empty list are the same."""
    return all((one.get(key) or None) == (other.get(key) or None) for key in _REGISTERED_KEYS)


def _active(aws: AwsBatchClient, name: str) -> Iterator[JobDefinition]:
    answer = "jobDefinitions[]"
    yield from aws.ask("batch", "describe_job_definitions", answer, jobDefinitionName=name, status="ACTIVE")
