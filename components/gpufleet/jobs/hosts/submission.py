"""The script that runs a job over plain hosts. No connection is made here.

It runs on the machine that jobs are started from, takes as many hosts as it needs as soon as they are free, looks at
each, and starts mpirun over them, or torchrun on each. A host that a job has taken is locked by a file on the shared
files; the kernel lets it go when the job's last process on that machine has ended, however it ended. Who waits longest
is not first: for a queue there is Slurm.
"""

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from gpufleet.errors import UserError
from gpufleet.jobs.hosts.settings import HostsSettings
from gpufleet.jobs.hosts.torchrun_nodes import RUN_NODES, node_words, torchrun_lines
from gpufleet.jobs.mpi_run import MASTER_PORT
from gpufleet.jobs.program_files import ProgramFile, program_files
from gpufleet.jobs.request import JobRequest, default_job_name, node_count, uses_torchrun
from gpufleet.jobs.ssh.apptainer import PROGRAM, ApptainerContainer, select_container
from gpufleet.jobs.ssh.job_folders import PROGRAM_FOLDER, outputs_variables
from gpufleet.jobs.ssh.job_script import end_function, exports, mpirun_exports, rank_network, retry_loop
from gpufleet.jobs.ssh.secrets import secret_lines
from gpufleet.jobs.ssh.validation import validate_fields

_SSH = ("-o", "BatchMode=yes", "-o", "ConnectTimeout=15", "-o", "ServerAliveInterval=15")
_GRACE = "30s"
"""From the time limit's SIGTERM to SIGKILL."""
_TORCHRUN_GRACE = "60s"
"""The same for torchrun, which itself waits 30 s for its ranks."""

_TAKE = """take() {
    local host taken=()
    hosts=()
    for host in "${candidates[@]}"; do
        exec {lock}>>"$locks/$host" || end 1
        if flock --nonblock "$lock"; then
            hosts+=("$host") taken+=("$lock")
        else
            exec {lock}>&-
        fi
        [ "${#hosts[@]}" = "$nodes" ] && return 0
    done
    for lock in "${taken[@]}"; do exec {lock}>&-; done
    return 1
}
( umask 0; mkdir -p "$locks"; for host in "${candidates[@]}"; do : >>"$locks/$host"; done ) 2>/dev/null
echo waiting >"$folder/state"
until take; do sleep $((1 + RANDOM % 3)); done
echo "running ${hosts[*]}" >"$folder/state\""""

# What a host has to have, each with one line when it has not. Its own name needs no ssh.
_LOOK = """look() {
    local run=(ssh "${ssh[@]}" -- "$1")
    case $1 in "$(hostname)"|"$(hostname -s)"|localhost) run=(eval) ;; esac
    told=$("${run[@]}" "$check" </dev/null 2>&1) && return
    echo "gpufleet: host $1: ${told##*$'\\n'}" >&2
    return 1
}
looks=()
for host in "${hosts[@]}"; do look "$host" & looks+=($!); done
for look in "${looks[@]}"; do wait "$look" || wrong=1; done
[ -z "${wrong-}" ] || end 1"""


@dataclass(frozen=True)
class HostsSubmission:
    """A job as it is started. record: what its folder remembers of it. mpirun: whose, one of MPIRUN; None: torchrun
    starts the ranks."""

    name: str
    script: str
    record: Mapping[str, object]
    mpirun: str | None = "host"
    program: list[ProgramFile] = field(default_factory=list)

    @property
    def document(self) -> dict[str, object]:
        """For `--dry-run`."""
        files = {"program": [each.path for each in self.program]} if self.program else {}
        return {"name": self.name, **files, "job.sh": self.script.splitlines()}

    @property
    def recorded(self) -> str:
        return json.dumps(self.record)


def build_submission(settings: HostsSettings, environment: str, request: JobRequest) -> HostsSubmission:
    """Errors: UserError with one line for each error that can be found without the hosts."""
    name = request.get("name") or default_job_name(request["command"], datetime.now(UTC))
    container = select_container(settings.target, request.get("image"), name)
    lines = validate_fields(name, request, container)
    nodes, slots = node_count(request), request.get("gpus")
    if slots is not None and slots < 1:
        lines.append(f"{name}: gpus={slots}: use 1 or more")
    fitting = [host for host, has in settings.slots.items() if slots is None or has >= slots]
    if not fitting:
        most = max(settings.slots.values())
        lines.append(f"{name}: gpus={slots}: no host has so many slots; use {most} or fewer")
    elif nodes > len(fitting):
        which = f"of {slots} slots or more " if slots is not None else ""
        lines.append(f"{name}: nodes={nodes}: there are {len(fitting)} hosts {which}in jobs.hosts; use fewer --nodes")
    if lines:
        raise UserError("\n".join(lines))
    program = program_files(name, request["script"]) if "script" in request else []
    # Alike on all hosts, so that ranks are N for each host wherever it runs.
    per_host = slots or sorted((settings.slots[host] for host in fitting), reverse=True)[nodes - 1]
    candidates = [host for host in fitting if settings.slots[host] >= per_host]
    mpirun = None if uses_torchrun(request) else settings.mpirun if container else "host"
    script = _Script(settings, environment, name, request, container, candidates, per_host, mpirun).text()
    record = {
        "name": name,
        "environment": environment,
        "created": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "nodes": nodes,
        "time_limit_minutes": request.get("time_limit_minutes"),
        "command": list(request["command"]),
    }
    return HostsSubmission(name, script, record, mpirun, program)


@dataclass(frozen=True)
class _Script:
    settings: HostsSettings
    environment: str
    name: str
    request: JobRequest
    container: ApptainerContainer | None
    candidates: list[str]
    slots: int
    mpirun: str | None

    def text(self) -> str:
        target = self.settings.target
        folder = f"{target.directory}/jobs/{self.name}"
        start = f"{folder}/{PROGRAM_FOLDER}" if "script" in self.request else target.directory
        environment = {
            "MASTER_PORT": str(MASTER_PORT),
            **rank_network(self.settings.network, self.settings.interface),
            **self.request.get("env", {}),
            "GPUFLEET_JOB": self.name,
            **outputs_variables(target.directory, self.name, self.request.get("after")),
        }
        secrets = self.request.get("secrets", {})
        names = [*environment, *sorted(secrets), "MASTER_ADDR", "GPUFLEET_TRY"]
        lines = [
            "#!/bin/bash",
            f"folder={folder} locks={target.directory}/jobs/.hosts nodes={node_count(self.request)}",
            f"candidates=({' '.join(map(shlex.quote, self.candidates))})",
            f"ssh=({' '.join(map(shlex.quote, self._ssh))})",
            *end_function(folder),
            *target.setup,
            _TAKE,
            *(self.container.script_lines() if self.container else []),
            f"check={self._check(folder)}",
            _LOOK,
            *exports(environment),
            *([] if "MASTER_ADDR" in environment else ['export MASTER_ADDR="${hosts[0]}"']),
            *secret_lines(self.environment, secrets),
            f"cd {start} || end 1",
            f'over=$(printf ",%s:{self.slots}" "${{hosts[@]}}") over=${{over:1}}',
            *(self._torchrun(names, start) if self.mpirun is None else []),
            *retry_loop(self.name, [RUN_NODES] if self.mpirun is None else self._mpirun(names, start), self._retries),
        ]
        return "\n".join(lines) + "\n"

    @property
    def _retries(self) -> int:
        return self.request.get("retries", 0)

    @property
    def _ssh(self) -> list[str]:
        return [*_SSH, *self.settings.ssh]

    def _check(self, folder: str) -> str:
        """What each host runs before the ranks do, as bash reads it."""
        unmounted = shlex.quote(f"{folder} is not there; mount the shared files")
        lines = [f"[ -d {folder} ] || {{ echo {unmounted}; exit 1; }}"]
        if self.mpirun == "host":
            lines.append(
                'command -v orted >/dev/null || { echo \'OpenMPI (orted) is not in PATH of "ssh HOST"; install it '
                "there, at the same target everywhere'; exit 1; }"
            )
        if self.container is None:
            return shlex.quote("\n".join(lines))
        gone = shlex.quote(f"image {self.container.file} cannot be read there")
        lines.append(f"[ -r {shlex.quote(self.container.file)} ] || {{ echo {gone}; exit 1; }}")
        missing = "is not there; install it, or submit without an image"
        # Under the name that it has where the job is started: ranks on all hosts are started by the same words.
        return f"""{shlex.quote(chr(10).join(lines) + chr(10))}"command -v $container >/dev/null || """ + (
            f"""{{ echo '$container {missing}'; exit 1; }}\""""
        )

    def _limit(self, grace: str) -> list[str]:
        """Not in its own process group: the job is ended as one group."""
        minutes = self.request.get("time_limit_minutes")
        return ["timeout", "--foreground", f"--kill-after={grace}", f"{minutes}m"] if minutes else []

    def _contained(self, start: str) -> list[str]:
        """What stands before a command that runs in the job's image."""
        binds = [self.settings.target.directory]
        return [PROGRAM, *self.container.arguments(binds=binds, gpus=True, start=start)] if self.container else []

    def _torchrun(self, names: list[str], start: str) -> list[str]:
        command = [shlex.quote(word) for word in self.request["command"]]
        words = [*self._contained(start), *node_words(command, node_count(self.request), self.slots)]
        passed_on = [*names, *(["container"] if self.container else [])]
        return torchrun_lines(self.settings.target.setup, start, passed_on, words, self._limit(_TORCHRUN_GRACE))

    def _mpirun(self, names: list[str], start: str) -> list[str]:
        """mpirun's words, as bash reads them."""
        limit, container = self._limit(_GRACE), self._contained(start)
        ranks = node_count(self.request) * self.slots
        options = [
            *("-np", str(ranks), "--map-by", f"ppr:{self.slots}:node", "--bind-to", "none"),
            # All ssh from here, where the user's key is: OpenMPI would have hosts start others from 65 on.
            *("--mca", "plm_rsh_agent", "ssh", "--mca", "plm_rsh_args", " ".join(self._ssh)),
            *("--mca", "plm_rsh_no_tree_spawn", "1"),
            *mpirun_exports(names),
        ]
        mpirun = ["mpirun", "--host", '"$over"', *map(shlex.quote, options)]
        command = [shlex.quote(word) for word in self.request["command"]]
        if self.mpirun == "host":
            return [*limit, *mpirun, *container, *command]
        # The daemon on each other host is the image's too; the shell that ssh starts there reads these words once more.
        # It must not detach: a container, and with it the mounted image, ends with its first process. Source:
        # open-mpi/ompi v4.1.x, orte/mca/plm/rsh/plm_rsh_module.c (setup_launch); hpc/charliecloud#134 is without.
        daemon = PROGRAM + shlex.quote(" ".join(["", *container[1:], "orted"]))
        inside = ["--mca", "orte_leave_session_attached", "1", "--mca", "orte_launch_agent", daemon]
        return [*limit, *container, *mpirun, *inside, *command]
