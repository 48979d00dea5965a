"""The batch script that Slurm is given for a job that a user requests. No call to Slurm.

Source of options and variables: slurm.schedmd.com/sbatch.html, srun.html (version 22.05, of Debian 12, and newer).
"""

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from gpufleet.errors import UserError
from gpufleet.jobs.program_files import ProgramFile, program_files
from gpufleet.jobs.request import JobRequest, default_job_name, node_count, uses_torchrun
from gpufleet.jobs.slurm.settings import SlurmPool, SlurmSettings
from gpufleet.jobs.ssh.apptainer import PROGRAM, ApptainerContainer, select_container
from gpufleet.jobs.ssh.job_folders import LOG_FILE, PROGRAM_FOLDER, outputs_variables
from gpufleet.jobs.ssh.job_script import end_function, exports, mpirun_exports, rank_network, retry_loop
from gpufleet.jobs.ssh.secrets import secret_lines
from gpufleet.jobs.ssh.validation import validate_fields, validate_gpus
from gpufleet.jobs.torchrun import torchrun_command

_KEPT = "HOME,LANG,LOGNAME,MODULEPATH,PATH,SHELL,USER"
"""What a job keeps of the shell that submits it. All else, secrets too, would lie in the controller's files."""

_VARIABLES = """export RANK=$SLURM_PROCID WORLD_SIZE=$SLURM_NTASKS LOCAL_RANK=$SLURM_LOCALID
export OMPI_COMM_WORLD_RANK=$RANK OMPI_COMM_WORLD_SIZE=$WORLD_SIZE OMPI_COMM_WORLD_LOCAL_RANK=$LOCAL_RANK
export OMPI_COMM_WORLD_LOCAL_SIZE=${GPUFLEET_SLOTS:?}"""
"""What mpirun tells its ranks and srun does not: programs find their rank in the same variables on all back ends."""

_RANK = f"""{_VARIABLES}
exec "$@\""""

_CONTAINER_RANK = f"""{_VARIABLES}
program=$1 verb=$2
shift 2
exec "$program" "$verb" ${{PMIX_SERVER_TMPDIR:+--bind "$PMIX_SERVER_TMPDIR"}} "$@\""""
"""The same for a rank in a container, which reaches the PMIx server of its node by files in SlurmdSpoolDir.

Sources: apptainer/singularity#5195 (what happens without); NVIDIA/enroot, conf/hooks/extra/50-slurm-pmi.sh.
"""


_NODE_RANK = "GPUFLEET_NODE_RANK"
"""Stands in torchrun's words for the number of the node, which only the node knows."""

_NODE = shlex.quote(
    f"""for word; do
shift
[ "$word" != {_NODE_RANK} ] || word=$SLURM_NODEID
set -- "$@" "$word"
done
exec "$@\""""
)


@dataclass(frozen=True)
class SlurmSubmission:
    """A job as it is submitted. record: what its folder remembers of it. after: the job that has to succeed first."""

    name: str
    script: str
    record: Mapping[str, object]
    after: str | None = None
    program: list[ProgramFile] = field(default_factory=list)

    @property
    def document(self) -> dict[str, object]:
        """For `--dry-run`."""
        files = {"program": [each.path for each in self.program]} if self.program else {}
        after = {"after": self.after} if self.after else {}
        return {"name": self.name, **after, **files, "job.sh": self.script.splitlines()}


def build_submission(settings: SlurmSettings, environment: str, request: JobRequest) -> SlurmSubmission:
    """Errors: UserError with one line for each error that can be found without Slurm."""
    name = request.get("name") or default_job_name(request["command"], datetime.now(UTC))
    pool = settings.pool(environment, request.get("pool"), request.get("gpu"))
    container = select_container(settings.target, request.get("image"), name)
    lines = [*validate_fields(name, request, container), *_misfits(name, request, pool)]
    if lines:
        raise UserError("\n".join(lines))
    program = program_files(name, request["script"]) if "script" in request else []
    script = _Script(settings, environment, pool, name, request, container)
    record = {
        "name": name,
        "environment": environment,
        "created": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "nodes": node_count(request),
        "pool": pool.name,
        "command": list(request["command"]),
    }
    return SlurmSubmission(name, script.text(), record, request.get("after"), program)


def job_json(plan: SlurmSubmission) -> str:
    """The record as its folder has it: one line."""
    return json.dumps(plan.record)


def _misfits(name: str, request: JobRequest, pool: SlurmPool) -> list[str]:
    nodes, limit = node_count(request), pool.max
    lines = []
    if limit is not None and nodes > limit:
        lines.append(f"{name}: nodes={nodes}: pool {pool.name} gives at most {limit}; use {limit} or fewer")
    if pool.gpus == 0 and "gpus" in request:
        return [*lines, f"{name}: gpus={request['gpus']}: nodes of pool {pool.name} have none; use another --pool"]
    lines += validate_gpus(name, request.get("gpus"), pool.gpus, f"a node of pool {pool.name}")
    if request.get("gpu") and pool.gpu and str(request["gpu"]).lower() != pool.gpu.lower():
        lines.append(f"{name}: gpu={request['gpu']}: pool {pool.name} has {pool.gpu}; leave out --gpu or --pool")
    slots = request.get("gpus") or pool.gpus or 1
    if request.get("vcpus", slots) < slots:
        lines.append(f"{name}: vcpus={request['vcpus']}: each of {slots} processes needs one; use {slots} or more")
    if request.get("memory_gib", 1) < 1:
        lines.append(f"{name}: memory_gib={request['memory_gib']}: use 1 or more")
    share = request.get("share")
    if share is not None and not str(share).replace("-", "_").replace(".", "_").isidentifier():
        lines.append(f"{name}: share={share}: is not a valid account name; use letters, digits, -, . and _")
    return lines


@dataclass(frozen=True)
class _Script:
    settings: SlurmSettings
    environment: str
    pool: SlurmPool
    name: str
    request: JobRequest
    container: ApptainerContainer | None

    def text(self) -> str:
        target = self.settings.target
        environment = {
            **rank_network(self.pool.network, self.pool.interface),
            **self.request.get("env", {}),
            "GPUFLEET_JOB": self.name,
            **outputs_variables(target.directory, self.name, self.request.get("after")),
            "GPUFLEET_SLOTS": str(self._slots),
        }
        # Jobs share nodes, so that one port for all would be taken.
        meeting = {"MASTER_ADDR": "$(hostname)", "MASTER_PORT": "$((20000 + SLURM_JOB_ID % 20000))"}
        meeting = {key: value for key, value in meeting.items() if key not in environment}
        secrets = self.request.get("secrets", {})
        names = [*meeting, *environment, *sorted(secrets), "GPUFLEET_TRY"]
        lines = [
            "#!/bin/bash -l",
            *(f"#SBATCH {option}" for option in self._options()),
            # What srun, also mpirun's own, hands on to the nodes: all that is set here, not only what sbatch kept.
            "export SLURM_EXPORT_ENV=ALL",
            f"rm -f {self._folder}/exit.txt",
            *end_function(self._folder),
            *target.setup,
            *exports(environment),
            *(f'export {key}="{value}"' for key, value in meeting.items()),
            *secret_lines(self.environment, secrets),
            f"cd {self._start} || end 1",
            *(self.container.script_lines() if self.container else []),
            *retry_loop(self.name, [*self._starter(names), *self._command()], self.request.get("retries", 0)),
        ]
        return "\n".join(lines) + "\n"

    @property
    def _folder(self) -> str:
        return f"{self.settings.target.directory}/jobs/{self.name}"

    @property
    def _start(self) -> str:
        return f"{self._folder}/{PROGRAM_FOLDER}" if "script" in self.request else self.settings.target.directory

    @property
    def _slots(self) -> int:
        return self.request.get("gpus") or self.pool.gpus or 1

    @property
    def _gpus(self) -> int:
        return 0 if self.pool.gpus == 0 else self._slots

    def _options(self) -> list[str]:
        nodes, pool = node_count(self.request), self.pool
        minutes = self.request.get("time_limit_minutes") or pool.time_limit_minutes
        account = self.request.get("share") or pool.account
        gres = f"gpu:{pool.gpu}:{self._gpus}" if pool.gpu else f"gpu:{self._gpus}"
        memory = self.request.get("memory_gib")
        told = {
            "job-name": self.name,
            "partition": pool.partition,
            "nodes": nodes,
            "ntasks-per-node": 1 if uses_torchrun(self.request) else self._slots,
            "gres": gres if self._gpus else None,
            "cpus-per-task": self._task_cpus,
            "mem": f"{memory}G" if memory else None,
            "time": minutes,
            "account": account,
            "qos": pool.qos,
            "output": f"{self._folder}/{LOG_FILE}",
            # A job whose node fails is started again, and continues in the same log.
            "open-mode": "append",
            "export": _KEPT,
        }
        options = [f"--{name}={value}" for name, value in told.items() if value is not None]
        return [*options, "--requeue", *pool.options]

    @property
    def _task_cpus(self) -> int | None:
        """CPUs of a task: a rank, or torchrun, which has those of all ranks on its node."""
        if uses_torchrun(self.request):
            return self.request.get("vcpus", self._slots)
        return self.request["vcpus"] // self._slots if "vcpus" in self.request else None

    def _starter(self, names: list[str]) -> list[str]:
        nodes = node_count(self.request)
        # From version 22.05 on srun takes the CPUs of a task from its own options only.
        cpus = [] if self._task_cpus is None else [f"--cpus-per-task={self._task_cpus}"]
        if uses_torchrun(self.request):
            counts = [f"--ntasks={nodes}", f"--nodes={nodes}", "--ntasks-per-node=1"]
            # The node's number is known to the shell that Slurm starts there.
            return ["srun", *counts, *cpus, "--cpu-bind=none", "--kill-on-bad-exit=1", "sh", "-c", _NODE, "node"]
        ranks = nodes * self._slots
        if self.settings.start == "srun":
            counts = [f"--ntasks={ranks}", f"--nodes={nodes}", f"--ntasks-per-node={self._slots}"]
            mpi = shlex.quote(f"--mpi={self.settings.mpi}")
            rank = shlex.quote(_CONTAINER_RANK if self.container else _RANK)
            return ["srun", mpi, *counts, *cpus, "--kill-on-bad-exit=1", "sh", "-c", rank, "rank"]
        return [
            *("mpirun", "-np", str(ranks), "--map-by", f"ppr:{self._slots}:node", "--bind-to", "none"),
            *mpirun_exports(names),
        ]

    def _command(self) -> list[str]:
        """As bash reads it."""
        command = [shlex.quote(word) for word in self.request["command"]]
        if uses_torchrun(self.request):
            meeting = {"address": '"$MASTER_ADDR"', "port": '"$MASTER_PORT"', "node_rank": _NODE_RANK}
            command = torchrun_command(command, nodes=node_count(self.request), ranks=self._slots, **meeting)
        if self.container is None:
            return command
        binds = [self.settings.target.directory]
        return [PROGRAM, *self.container.arguments(binds=binds, gpus=self._gpus > 0, start=self._start), *command]
