"""What is sent to AWS Batch for a job that a user requests. No call to AWS."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gpufleet.catalog import gpu_types
from gpufleet.catalog.interconnect import line_rate
from gpufleet.errors import UserError
from gpufleet.jobs.aws_batch.container_start import PROGRAM_FILE, BucketFile, pack_program, start_command
from gpufleet.jobs.aws_batch.definitions import (
    JobDefinition,
    container_variables,
    node_ranges,
    requested_resources,
    revision_with_image,
)
from gpufleet.jobs.aws_batch.entrypoint import OVERRIDES_LIMIT, container_command, multinode_command, overrides_length
from gpufleet.jobs.aws_batch.parameter_sweep import (
    PARAMETERS_FILE,
    ParameterTable,
    expand_grid,
    indexed_command,
    read_csv,
)
from gpufleet.jobs.aws_batch.settings import AwsBatchSettings, AwsMultinodeSettings
from gpufleet.jobs.aws_batch.status import JobDetail
from gpufleet.jobs.aws_batch.validation import requested_nodes, validate_job
from gpufleet.jobs.job_key import JOB_KEY, new_job_key
from gpufleet.jobs.program_files import ProgramFile, program_files
from gpufleet.jobs.request import JobRequest, default_job_name
from gpufleet.jobs.settings import JobSettings, ownership_tags
from gpufleet.jobs.torchrun import LAUNCHERS

_BATCHS_OWN = 1024
"""Characters of the overrides' limit that Batch's own variables take: a dozen, with ARNs and names in some."""


@dataclass(frozen=True)
class AwsBatchSubmission:
    """A job as it is sent.

    definition: the stack's. register: a revision of it to be made first, None where it will do. arguments: of
    SubmitJob, without the definition. uploads: files that its containers read. program: of these, what `--script`
    sends. advice: a line each.
    """

    name: str
    definition: JobDefinition
    register: dict[str, Any] | None
    arguments: dict[str, Any]
    uploads: list[BucketFile] = field(default_factory=list)
    program: list[ProgramFile] = field(default_factory=list)
    advice: list[str] = field(default_factory=list)

    @property
    def document(self) -> dict[str, Any]:
        """For `--dry-run`; a definition that is to be registered has its revision's number from AWS."""
        sent = {**self.arguments, "jobDefinition": str(self.definition["jobDefinitionArn"])}
        files = {"program": [each.path for each in self.program]} if self.program else {}
        if self.register is None:
            return {**files, "submitJob": sent}
        sent["jobDefinition"] = self.register["jobDefinitionName"]
        return {**files, "registerJobDefinition": self.register, "submitJob": sent}


def select_definition(settings: JobSettings, request: JobRequest) -> str:
    """Which definition of the stack a job is made of. Errors: UserError when the stack has none for it."""
    batch = _batch(settings)
    found = _multinode(settings).definition if requested_nodes(request) else batch.definition
    if not found:
        raise UserError(
            f"{settings.environment}: the stack's outputs have no definition of jobs of one node (jobs.definition); "
            "run `pulumi up`, or give --nodes"
        )
    return found


def build_submission(
    settings: JobSettings,
    request: JobRequest,
    definition: JobDefinition,
    image: str,
    after: JobDetail | None = None,
    secrets: Mapping[str, str] | None = None,
) -> AwsBatchSubmission:
    """What is sent for a request. image: its full name. after: the job that it depends on. secrets: variable to ARN.

    Errors: UserError with one line for each error that can be found without AWS.
    """
    name = request.get("name") or default_job_name(request["command"], datetime.now(UTC))
    table = _table(name, request)
    lines = validate_job(settings, name, request, table, requested_resources(definition).get("GPU", 1))
    if lines:
        raise UserError("\n".join(lines))
    batch = _batch(settings)
    environment = {**request.get("env", {}), "GPUFLEET_JOB": name}
    if requested_nodes(request):
        environment |= _line_rate(settings) | {JOB_KEY: new_job_key()}
    place = batch.outputs(name)
    if place:
        environment["GPUFLEET_OUTPUTS"] = place
    if place and after:
        # A child's id ends with its index, as does the folder of its outputs.
        child = str(after["jobId"]).partition(":")[2]
        environment["GPUFLEET_AFTER_OUTPUTS"] = "/".join(filter(None, (batch.outputs(str(after["jobName"])), child)))
    arguments: dict[str, Any] = {
        "jobName": name,
        "jobQueue": request.get("queue") or (_multinode(settings).queue if requested_nodes(request) else batch.queue),
        "propagateTags": True,
        "tags": {**ownership_tags(settings), **request.get("tags", {})},
        **_limits(request, definition),
    }
    share = request.get("share", batch.share)
    if share:
        arguments["shareIdentifier"] = share
    if after:
        arguments["dependsOn"] = [{"jobId": after["jobId"]}]
    children = request.get("array") or (len(table) if table else 0)
    if children > 1:
        arguments["arrayProperties"] = {"size": children}
    program = program_files(name, request["script"]) if "script" in request else []
    start = _Start(batch, name, len(request["command"]), table, environment)
    command = start.command(_command(settings, request, definition), program, children)
    _fits(name, command, environment)
    overrides = {
        "command": command,
        "environment": [{"name": key, "value": value} for key, value in environment.items()],
        **_resources(request, definition),
    }
    if requested_nodes(request):
        every = [{"targetNodes": each, "containerOverrides": overrides} for each in node_ranges(definition)]
        arguments["nodeOverrides"] = {"numNodes": requested_nodes(request), "nodePropertyOverrides": every}
    else:
        arguments["containerOverrides"] = overrides
    register = revision_with_image(definition, image, request.get("shared_memory_gib"), secrets)
    advice = [] if not table else _unused(name, table, request["command"])
    return AwsBatchSubmission(name, definition, register, arguments, start.uploads, program, advice)


def _table(name: str, request: JobRequest) -> ParameterTable | None:
    if "params" in request and "grid" in request:
        raise UserError(f"{name}: params and grid: give one of them; a CSV file can hold the grid's rows")
    if "params" in request:
        return read_csv(Path(request["params"]))
    return expand_grid(request["grid"]) if request.get("grid") else None


def _limits(request: JobRequest, definition: JobDefinition) -> dict[str, Any]:
    limits: dict[str, Any] = {}
    if "retries" in request:
        # When a try counts is the definition's affair: after the loss of a Spot node, not after a fault of the program.
        rules = (definition.get("retryStrategy") or {}).get("evaluateOnExit")
        limits["retryStrategy"] = {"attempts": request["retries"] + 1, **({"evaluateOnExit": rules} if rules else {})}
    if "time_limit_minutes" in request:
        limits["timeout"] = {"attemptDurationSeconds": 60 * request["time_limit_minutes"]}
    return limits


def _resources(request: JobRequest, definition: JobDefinition) -> dict[str, Any]:
    """What differs from the definition: the GPUs, and with them their part of vCPUs and memory."""
    has = requested_resources(definition)
    wanted = dict(has)
    if "gpus" in request:
        wanted["GPU"] = request["gpus"]
        for kind in ("VCPU", "MEMORY"):
            if kind in has and has.get("GPU"):
                wanted[kind] = max(1, has[kind] * request["gpus"] // has["GPU"])
    if "vcpus" in request:
        wanted["VCPU"] = request["vcpus"]
    if "memory_gib" in request:
        wanted["MEMORY"] = 1024 * request["memory_gib"]
    if wanted == has:
        return {}
    return {"resourceRequirements": [{"type": kind, "value": str(value)} for kind, value in wanted.items()]}


def _command(settings: JobSettings, request: JobRequest, definition: JobDefinition) -> list[str]:
    """What a container runs: the user's command as a rank on each GPU."""
    gpus = request.get("gpus", requested_resources(definition).get("GPU", 1))
    known = {**container_variables(definition), **request.get("env", {})}
    launcher = request.get("launcher", LAUNCHERS[0])
    if not requested_nodes(request):
        return container_command(request["command"], gpus, launcher=launcher, environment=known)
    network = _network(settings)
    return multinode_command(request["command"], gpus, launcher=launcher, network=network, environment=known)


def _network(settings: JobSettings) -> str:
    """The network of multi-node jobs: that of the pool whose nodes they run on."""
    kind = _multinode(settings).type
    efa = any(pool.network == "efa" and kind in pool.types for pool in settings.pools.values())
    return "efa" if efa else "plain"


def _line_rate(settings: JobSettings) -> dict[str, str]:
    """A node's line rate on that network, where it is known: every node has the container's variables."""
    record = gpu_types().get(_multinode(settings).type)
    speed = line_rate(record, _network(settings)) if record else None
    return {"GPUFLEET_NETWORK_GBPS": f"{speed:g}"} if speed else {}


@dataclass
class _Start:
    """What containers do before the command. own: how many of its words are the user's. uploads: what they read."""

    batch: AwsBatchSettings
    job: str
    own: int
    table: ParameterTable | None
    environment: Mapping[str, str]
    uploads: list[BucketFile] = field(default_factory=list)

    def command(self, command: Sequence[str], program: Sequence[ProgramFile], children: int) -> list[str]:
        """The command of every container. Errors: UserError."""
        archive = None
        if program:
            content, command = pack_program(program, command, self.own)
            archive = self._file(PROGRAM_FILE, content)
            if archive is None:
                raise UserError(
                    f"{self.job}: script: the environment has no bucket to send it by (jobs.bucket); run `pulumi up` "
                    "with an outputs bucket, or build an image with it"
                )
        if self.table is None:
            if archive is not None:
                return start_command(command, self.own, program=archive)
            return indexed_command(command) if children else list(command)
        # It is written in any case, for who wants to know later which child had which row.
        table_file = self._file(PARAMETERS_FILE, self.table.csv().encode())
        near = start_command(command, self.own, table=self.table, program=archive)
        if _room(near, self.environment) >= 0:
            return near
        if table_file is None:
            raise UserError(
                f"{self.job}: {len(self.table)} rows of parameters are too long for AWS Batch, and the environment has "
                "no bucket to put them in (jobs.bucket); give fewer, or run `pulumi up` with an outputs bucket"
            )
        return start_command(command, self.own, table=self.table, table_file=table_file, program=archive)

    def _file(self, name: str, content: bytes) -> BucketFile | None:
        """A file among the job's outputs; None without a bucket."""
        if self.batch.bucket is None:
            return None
        file = BucketFile(self.batch.bucket, f"{self.batch.key(self.job)}/{name}", self.batch.region, content)
        self.uploads.append(file)
        return file


def _room(command: Sequence[str], environment: Mapping[str, str]) -> int:
    return OVERRIDES_LIMIT - _BATCHS_OWN - overrides_length(command, environment)


def _fits(name: str, command: Sequence[str], environment: Mapping[str, str]) -> None:
    over = -_room(command, environment)
    if over > 0:
        raise UserError(
            f"{name}: the command and its variables are {over} characters too long for AWS Batch (with ours "
            f"at most {OVERRIDES_LIMIT}); put them into a file of the program (--script), or into parameters"
        )


def _unused(name: str, table: ParameterTable, command: Sequence[str]) -> list[str]:
    if len(table.unused(command)) < len(table.names):
        return []
    some = table.names[0]
    return [
        f"{name}: no word of the command has {{{some}}} in it: parameters reach it as variables only (${some}); "
        f"write -- python3 train.py --{some} {{{some}}}"
    ]


def _batch(settings: JobSettings) -> AwsBatchSettings:
    assert settings.batch is not None
    return settings.batch


def _multinode(settings: JobSettings) -> AwsMultinodeSettings:
    found = _batch(settings).multinode
    if found is None:
        raise UserError(
            f"{settings.environment}: the stack's outputs have no definition of multi-node jobs (jobs.multinode); add "
            "gpufleet:multinode and run `pulumi up`, or leave out --nodes"
        )
    return found
