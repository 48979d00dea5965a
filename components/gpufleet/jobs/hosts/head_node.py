"""The machine that jobs on plain hosts are started from: start a job's script, see whether it runs, end it."""

from dataclasses import dataclass

from gpufleet.jobs.hosts.status import HostJob
from gpufleet.jobs.ssh.connection import SshConnection, SshError
from gpufleet.jobs.ssh.job_folders import JobFolders
from gpufleet.jobs.ssh.job_record import JobRecord

# Process and boot: a number alone may be another process's after a restart. A session of its own is also a process
# separate group, which is ended as one.
_START = """cd "$1" || exit
[ "$2" != host ] || command -v mpirun >/dev/null || { echo "mpirun: program not found; install OpenMPI" >&2; exit 1; }
[ -z "$2" ] || [ "$(id -u)" != 0 ] || [ -n "${OMPI_ALLOW_RUN_AS_ROOT-}" ] ||
    { echo "is root there; log in as a user" >&2; exit 1; }
setsid bash job.sh >log.txt 2>&1 </dev/null &
echo "$! $(cut -d ' ' -f 22 "/proc/$!/stat") $(cat /proc/sys/kernel/random/boot_id)" | tee id"""
_ALIVE = """{ [ "$(cat /proc/sys/kernel/random/boot_id)" = "$3" ] &&
[ "$(cut -d ' ' -f 22 "/proc/$1/stat" 2>/dev/null)" = "$2" ]; }"""
_LOOK = f"""if {_ALIVE}; then echo alive; else echo gone; fi
[ ! -L "$4/state" ] && [ -f "$4/state" ] && head -c 4096 "$4/state" || echo waiting"""
_SECONDS = 30
_END = f"""{_ALIVE} || exit 0
# First the script, so that it tries nothing again; then mpirun, which ends the ranks on all hosts as long as it has its
# ssh, so that these are left alone.
kill -TERM "$1"
pkill -TERM -g "$1" -x mpirun
for second in $(seq {_SECONDS}); do
    if ! kill -0 -- "-$1" 2>/dev/null; then break; fi
    [ "$second" != {_SECONDS} ] || kill -KILL -- "-$1"
    sleep 1
done
echo cancelled >"$4/state\""""


@dataclass(frozen=True)
class HeadNode:
    """Errors of all methods: SshUnreachable, SshError."""

    machine: SshConnection
    folders: JobFolders

    def start(self, name: str, mpirun: str | None) -> str:
        """Start a job's script, which continues by itself; its id. mpirun: whose, one of MPIRUN; None: none."""
        result = self.machine.run(_START, self.folders.path(name), mpirun or "")
        if result.code:
            raise SshError(f"{name}: {self.machine.where}: {result.error_line}")
        return result.text.strip()

    def find(self, name: str) -> HostJob:
        """The job of this name. Errors: UserError where there is none."""
        return self.job_of(self.folders.find(name))

    def list_jobs(self) -> list[HostJob]:
        """The environment's jobs, newest first."""
        return [self.job_of(each) for each in self.folders.list_records()]

    def job_of(self, record: JobRecord) -> HostJob:
        if record.fault or (record.exit_code is not None and not record.id):
            return HostJob(record, "", alive=False)
        told = self._run(_LOOK, record).splitlines()
        alive = told[:1] == ["alive"]
        state = "".join(filter(str.isprintable, told[1])) if len(told) > 1 else ""
        if record.exit_code is None and not alive:
            # It may have ended between the two looks.
            record = self.folders.find_or_none(record.name) or record
        return HostJob(record, state, alive)

    def cancel(self, record: JobRecord) -> None:
        """End a job's processes, here and by mpirun on its hosts."""
        self._run(_END, record)

    def _run(self, script: str, record: JobRecord) -> str:
        words = [*record.id.split(), "", "", ""][:3]
        result = self.machine.run(script, *words, self.folders.path(record.name))
        if result.code:
            raise SshError(f"{record.name}: {self.machine.where}: {result.error_line}")
        return result.text
