"""What is sent to Azure Batch for a job that a user requests. No call to Azure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from gpufleet.errors import UserError
from gpufleet.jobs.azure_batch.entrypoint import (
    VaultSecrets,
    application_command,
    coordination_command,
    torchrun_commands,
)
from gpufleet.jobs.azure_batch.secrets import SECRET_NAME, no_key_vault
from gpufleet.jobs.azure_batch.settings import TASK_ID, AzureBatchPoolSettings, AzureBatchSettings
from gpufleet.jobs.azure_batch.validation import validate_job
from gpufleet.jobs.job_key import JOB_KEY, new_job_key
from gpufleet.jobs.pool_info import PoolInfo
from gpufleet.jobs.program_files import ProgramFile, program_files
from gpufleet.jobs.request import JobRequest, default_job_name, node_count, uses_torchrun
from gpufleet.jobs.settings import JobSettings, ownership_tags

LOG_FILES = ("stdout.txt", "stderr.txt")
"""What Azure Batch writes a task's output to, one folder above where the task starts."""
OUTPUTS_FOLDER = "outputs"
"""Folder of the outputs below a task's working directory, where the pool does not mount the container of results."""
TRIES_FOLDER = "tries"
"""Folder of the outputs with what each try's log was within the last minute, by the time at which the try began."""

_RUN_OPTIONS = "--user 0:0 --network host --ipc host --ulimit memlock=-1"
"""Root whatever USER the image has, as only root writes below /mnt/batch/tasks, where a task's directory and the mounts
are; the nodes' own network and shared memory, for MPI and NCCL, and memory that network adapters may pin.
Sources: learn.microsoft.com/azure/batch/batch-docker-container-workloads (containerRunOptions);
github.com/Azure/batch-shipyard/issues/245 and github.com/microsoft/haste/pull/35 (an image with a USER cannot use the
directory of an administrator's task); docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html (shared
memory, locked memory in Docker)."""
_INFINIBAND = " --device /dev/infiniband"
"""Containers see a node's GPUs by themselves, and no other device of it."""
_USER = {"autoUser": {"scope": "pool", "elevationLevel": "admin"}}
"""Mounted containers belong to root. It is the user of the task on the node, not of an image that has a USER.

Source: learn.microsoft.com/azure/batch/virtual-file-mount
"""


@dataclass(frozen=True)
class AzureBatchSubmission:
    """A job as it is sent. job, task: JSON of Batch's REST API. program: files for the container `scripts`."""

    name: str
    job: dict[str, Any]
    task: dict[str, Any]
    program: list[ProgramFile] = field(default_factory=list)
    advice: list[str] = field(default_factory=list)

    @property
    def document(self) -> dict[str, Any]:
        """For `--dry-run`."""
        files = {"program": [each.path for each in self.program]} if self.program else {}
        return {**files, "job": self.job, "task": self.task}


def build_submission(settings: JobSettings, request: JobRequest, image: str) -> AzureBatchSubmission:
    """What is sent for a request. image: its full name.

    Errors: UserError with one line for each error that can be found without Azure.
    """
    azure = _azure(settings)
    pool = settings.pool(request.get("pool"))
    batch = azure.pools[pool.name]
    name = request.get("name") or default_job_name(request["command"], datetime.now(UTC))
    lines = [*validate_job(name, request, pool, batch), *_validate_secrets(settings.environment, name, request, azure)]
    if lines:
        raise UserError("\n".join(lines))
    program = program_files(name, request["script"]) if "script" in request else []
    tags = {**ownership_tags(settings), **request.get("tags", {})}
    job = {
        "id": name,
        "poolInfo": {"poolId": batch.pool_id},
        # Batch ends a job without tasks at once, if it may; the submission changes it when the task is there.
        "onAllTasksComplete": "noaction",
        "metadata": [{"name": key, "value": str(value)} for key, value in tags.items()],
    }
    task = _Task(azure, pool, batch, name, request, image, program).content()
    return AzureBatchSubmission(name, job, task, program, _advice(name, request, batch, azure))


def _validate_secrets(environment: str, name: str, request: JobRequest, azure: AzureBatchSettings) -> list[str]:
    secrets = request.get("secrets", {})
    if secrets and not (azure.key_vault and azure.identity):
        return [f"{name}: secrets: {no_key_vault(environment)}"]
    return [
        f"{name}: secrets.{variable}: use the name of a secret of {azure.key_vault}: letters, digits and -"
        for variable, each in secrets.items()
        if not SECRET_NAME.fullmatch(each)
    ]


@dataclass(frozen=True)
class _Task:
    azure: AzureBatchSettings
    pool: PoolInfo
    batch: AzureBatchPoolSettings
    name: str
    request: JobRequest
    image: str
    program: Sequence[ProgramFile]

    def content(self) -> dict[str, Any]:
        nodes = node_count(self.request)
        processes = self.request.get("gpus") or self.pool.gpus or 1
        environment = {**self.request.get("env", {}), "GPUFLEET_JOB": self.name}
        if nodes > 1:
            environment[JOB_KEY] = new_job_key()
        constraints: dict[str, Any] = {"maxTaskRetryCount": self.request.get("retries", 0)}
        if "time_limit_minutes" in self.request:
            constraints["maxWallClockTime"] = f"PT{self.request['time_limit_minutes']}M"
        files = self._program_files()
        told: dict[str, Any] = {
            # All ranks find the program at the same path, and of a task's folders only this one has it on every node.
            "directory": "$AZ_BATCH_TASK_SHARED_DIR" if files and nodes > 1 else "",
            "environment": environment,
            "secrets": self._secrets(),
            "folders": {"GPUFLEET_OUTPUTS": self._outputs(self.name), **self._after_outputs()},
            "log_copies": f"{self._outputs(self.name)}/{TRIES_FOLDER}" if self._is_mounted else "",
        }
        words = self.request["command"], processes, self.pool.network
        if uses_torchrun(self.request):
            coordination, command = torchrun_commands(*words, **told)
        else:
            coordination, command = coordination_command(processes), application_command(*words, **told)
        task: dict[str, Any] = {
            "id": TASK_ID,
            "commandLine": command,
            "containerSettings": self._container("taskWorkingDirectory" if files else "containerImageDefault"),
            "outputFiles": self._output_files(),
            "environmentSettings": [{"name": key, "value": value} for key, value in environment.items()],
            "constraints": constraints,
            "userIdentity": _USER,
        }
        if nodes > 1:
            task["multiInstanceSettings"] = {
                "numberOfInstances": nodes,
                "coordinationCommandLine": coordination,
                **({"commonResourceFiles": files} if files else {}),
            }
        elif files:
            task["resourceFiles"] = files
        return task

    def _container(self, directory: str) -> dict[str, Any]:
        """directory: the task's, where its files are, or the image's WORKDIR, where its programs are.

        Source: learn.microsoft.com/rest/api/batchservice/task/add (workingDirectory).
        """
        infiniband = _INFINIBAND if self.pool.network == "infiniband" else ""
        container: dict[str, Any] = {
            "imageName": self.image,
            "containerRunOptions": f"{_RUN_OPTIONS}{infiniband}",
            "workingDirectory": directory,
        }
        host = self.image.partition("/")[0]
        if self.azure.identity and host.endswith(".azurecr.io"):
            container["registry"] = {"registryServer": host, **self._identity()}
        return container

    def _secrets(self) -> VaultSecrets | None:
        names = self.request.get("secrets")
        if not names or not self.azure.key_vault or not self.azure.identity:
            return None
        return VaultSecrets(names, self.azure.key_vault, self.azure.identity)

    def _identity(self) -> dict[str, Any]:
        return {"identityReference": {"resourceId": self.azure.identity}} if self.azure.identity else {}

    def _program_files(self) -> list[dict[str, Any]]:
        place = f"{self.azure.blobs}/{self.azure.scripts}/{self.azure.folder(self.name)}"
        return [{"httpUrl": f"{place}/{each.path}", "filePath": each.path, **self._identity()} for each in self.program]

    @property
    def _is_mounted(self) -> bool:
        return self.azure.result in self.batch.mounts

    def _outputs(self, job: str) -> str:
        if self._is_mounted:
            return f"$AZ_BATCH_NODE_MOUNTS_DIR/{self.azure.result}/{self.azure.folder(job)}"
        return f"$AZ_BATCH_TASK_WORKING_DIR/{OUTPUTS_FOLDER}"

    def _after_outputs(self) -> dict[str, str]:
        """The folder of the job that it comes after, where the pool mounts the container of results."""
        after = self.request.get("after")
        return {"GPUFLEET_AFTER_OUTPUTS": self._outputs(after)} if after and self._is_mounted else {}

    def _output_files(self) -> list[dict[str, Any]]:
        """What the node copies to the container of results when a try has ended: the log, and outputs that no mount
        has written there already."""
        folder = self.azure.folder(self.name)
        copies = {f"../{stream}": f"{folder}/{stream}" for stream in LOG_FILES}
        if not self._is_mounted:
            copies[f"{OUTPUTS_FOLDER}/**/*"] = folder
        return [
            {
                "filePattern": pattern,
                "destination": {
                    "container": {
                        "containerUrl": f"{self.azure.blobs}/{self.azure.result}",
                        "path": path,
                        **self._identity(),
                    }
                },
                "uploadOptions": {"uploadCondition": "taskcompletion"},
            }
            for pattern, path in copies.items()
        ]


def _advice(name: str, request: JobRequest, batch: AzureBatchPoolSettings, azure: AzureBatchSettings) -> list[str]:
    if not batch.spot:
        return []
    lines = []
    if node_count(request) > 1 and not request.get("retries"):
        lines.append(
            f"{name}: retries=0: pool {batch.name} is of Spot nodes; when one of several is taken, the try fails, and "
            "there is no other; give --retries 10"
        )
    if azure.result not in batch.mounts:
        lines.append(
            f"{name}: pool {batch.name} does not mount {azure.result}: what a try writes to $GPUFLEET_OUTPUTS is lost "
            "with its Spot node, checkpoints and log too; add the mount and run `pulumi up`"
        )
    return lines


def _azure(settings: JobSettings) -> AzureBatchSettings:
    assert settings.azure_batch is not None
    return settings.azure_batch
