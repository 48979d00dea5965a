"""Folders of jobs on the shared files: DIRECTORY/jobs/JOB has the script, the log, the outputs, and what it was.

job.sh     what runs       job.json    what was asked for    id          the back end's, when it is submitted
log.txt    the log         outputs/    $GPUFLEET_OUTPUTS     exit.txt    the exit code, when the script has ended
program/   `--script`
"""

import io
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpufleet.errors import UserError
from gpufleet.jobs.program_files import ProgramFile
from gpufleet.jobs.ssh.connection import SshConnection, SshError
from gpufleet.jobs.ssh.job_record import JOB_NAME, RECORD_BYTES, JobRecord, parse_records

LOG_FILE = "log.txt"
SCRIPT_FILE = "job.sh"
PROGRAM_FOLDER = "program"
OUTPUTS_FOLDER = "outputs"
CHUNK_BYTES = 4 * 2**20
"""Bytes of a log that are fetched at once."""

_LISTED = 200
"""Most jobs in a listing; the newest."""
_TAKEN = 73
_NO_FOLDER = 72

# Several people share the folder, each with their own jobs in it, as in /tmp.
_MAKE = f"""cd "$1" 2>/dev/null || exit {_NO_FOLDER}
[ -d jobs ] || mkdir -m 1777 jobs || exit
mkdir "jobs/$2" 2>/dev/null || {{ [ -d "jobs/$2" ] && exit {_TAKEN}; mkdir "jobs/$2" || exit; }}
tar -xf - -C "jobs/$2" --no-same-owner"""

# A line for each job, see `parse_records`. Anyone who shares the folder may have put a link, a pipe or an endless file
# in place of a file: only files are read, and no more of them than a job has there.
_SHOW = f"""LC_ALL=C; export LC_ALL; unset TIME_STYLE QUOTING_STYLE; me=$(id -u)
field() {{ [ ! -L "$1" ] && [ -f "$1" ] && head -c "$2" "$1" 2>/dev/null | tr '\\n\\t\\r' '   '; }}
kind() {{ if [ -L "$1" ]; then echo l; elif [ -f "$1" ]; then echo f; elif [ -d "$1" ]; then echo d; else echo o; fi; }}
show() {{
case $2 in "" | -* | *[!A-Za-z0-9_-]*) return 0;; esac
[ -L "$2" ] || [ -e "$2/job.json" ] || [ -L "$2/job.json" ] || return 0
id= ; [ -L "$2/id" ] || [ -e "$2/id" ] && id=$(ls -ldn "$2/id" | {{ read -r mode links owner rest; echo "$owner"; }})
printf '%s\\t' "$me" "$1" "$id" "$(kind "$2")" "$(kind "$2/job.json")" "$2"
field "$2/id" 200; printf '\\t'; field "$2/exit.txt" 200; printf '\\t'; field "$2/job.json" {RECORD_BYTES + 1}; echo
}}
rows() {{ while read -r mode links owner group size month day time name; do
show "$owner" "${{name%% -> *}}"
done; }}"""
_ONE = f'cd "$1/jobs" 2>/dev/null || exit {_NO_FOLDER}; {_SHOW}\nls -ldn -- "$2" 2>/dev/null | rows; true'
_ALL = f'cd "$1/jobs" 2>/dev/null || exit 0; {_SHOW}\nls -ltn | head -n {_LISTED + 1} | rows; true'
_READ = 'cd "$1/jobs/$2" 2>/dev/null && [ -f "$3" ] && tail -c "+$4" "$3" | head -c "$5"; true'


def outputs_variables(directory: str, name: str, after: str | None) -> dict[str, str]:
    """Where a job writes its outputs, and where those are of the job that it comes after."""
    earlier = {"GPUFLEET_AFTER_OUTPUTS": f"{directory}/jobs/{after}/{OUTPUTS_FOLDER}"} if after else {}
    return {"GPUFLEET_OUTPUTS": f"{directory}/jobs/{name}/{OUTPUTS_FOLDER}", **earlier}


@dataclass(frozen=True)
class JobFolders:
    """The jobs of one environment. directory: absolute, the same on every machine. Errors: SshUnreachable, SshError."""

    machine: SshConnection
    directory: str
    environment: str

    def path(self, name: str) -> str:
        return f"{self.directory}/jobs/{name}"

    @property
    def where(self) -> str:
        return f"{self.directory}/jobs on {self.machine.where}"

    def create(self, name: str, files: Mapping[str, str], program: Sequence[ProgramFile] = ()) -> None:
        """Create a job's folder. files: their text by name. Errors: UserError also if the name is in use."""
        result = self.machine.run(_MAKE, self.directory, name, stdin=_packed(files, program))
        if result.code == _TAKEN:
            raise UserError(
                f"{name}: the name is already used by a job in {self.where}, and its outputs; give another --name"
            )
        if result.code == _NO_FOLDER:
            raise SshError(
                f"{self.environment}: directory={self.directory}: directory not found on {self.machine.where}; "
                "make it on files that all nodes share, or change `directory`"
            )
        if result.code:
            raise SshError(f"{name}: its folder in {self.where} cannot be made: {result.error_line}")

    def remove(self, name: str) -> None:
        result = self.machine.run('rm -rf -- "$1"', self.path(name))
        if result.code:
            raise SshError(f"{name}: {self.path(name)} on {self.machine.where} cannot be removed: {result.error_line}")

    def find_or_none(self, name: str) -> JobRecord | None:
        """The job of this name, None where there is none. Errors: UserError if its folder cannot be read."""
        if not JOB_NAME.fullmatch(name):
            return None
        record = next(parse_records(self.machine.run(_ONE, self.directory, name).out), None)
        if record is not None and record.fault:
            raise UserError(f"{name}: {record.fault} ({self.where}); its owner can remove the folder")
        return record if record is not None and record.environment == self.environment else None

    def find(self, name: str) -> JobRecord:
        """Errors: UserError for a job that is not there."""
        record = self.find_or_none(name)
        if record is None:
            raise UserError(f"{name}: job not found in {self.where}; see `gpufleet jobs list {self.environment}`")
        return record

    def list_records(self) -> list[JobRecord]:
        """The environment's jobs, newest first, and then folders that cannot be read, of whichever environment."""
        records = parse_records(self.machine.run(_ALL, self.directory).out)
        ours = [each for each in records if each.fault or each.environment == self.environment]
        return sorted(ours, key=lambda each: each.created, reverse=True)

    def check_owner(self, record: JobRecord) -> None:
        """What a folder says of its job is its owner's word. Errors: UserError for another user's folder."""
        if record.owner is not None:
            result = self.machine.run('id -un "$1"', record.owner)
            owner = result.text.strip() if result.code == 0 else f"uid {record.owner}"
            raise UserError(f"{record.name}: is the job of {owner}; only {owner} can cancel it")

    def read(self, name: str, file: str, begin: int) -> bytes:
        """At most CHUNK_BYTES bytes of a file from `begin` on; nothing where there is no such file yet."""
        return self.machine.run(_READ, self.directory, name, file, str(begin + 1), str(CHUNK_BYTES)).out


def _packed(files: Mapping[str, str], program: Sequence[ProgramFile]) -> bytes:
    """All of a folder as a tar file."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for name in (OUTPUTS_FOLDER, PROGRAM_FOLDER):
            archive.addfile(_directory(name))
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            # The script has the job's variables. The record is read by all who list jobs, and has none.
            entry.size, entry.mode = len(text.encode()), 0o600 if name == SCRIPT_FILE else 0o644
            archive.addfile(entry, io.BytesIO(text.encode()))
        for each in program:
            archive.add(each.source, f"{PROGRAM_FOLDER}/{each.path}")
    return content.getvalue()


def _directory(name: str) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode = tarfile.DIRTYPE, 0o755
    return entry
