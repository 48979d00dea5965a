"""Folders of jobs on the shared files: DIRECTORY/jobs/JOB has the script, the log, the outputs, and what it was.

job.sh     what runs       job.json    what was asked for    id          the back end's, when it is submitted
log.txt    the log         outputs/    $GPUFLEET_OUTPUTS     exit.txt    the exit code, when the script has ended
program/   `--script`
"""

import io
import json
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpufleet.errors import UserError
from gpufleet.jobs.program_files import ProgramFile
from gpufleet.jobs.ssh.connection import SshConnection, SshError

LOG_FILE = "log.txt"
PROGRAM_FOLDER = "program"
OUTPUTS_FOLDER = "outputs"
CHUNK_BYTES = 4 * 2**20
"""Bytes of a log that are fetched at once."""

_LISTED = 200
"""Most jobs in a listing; the newest."""
_TAKEN = 73
_NO_FOLDER = 72

# Several people share the folder, each with jobs of their own in it, as in /tmp.
_MAKE = f"""cd "$1" 2>/dev/null || exit {_NO_FOLDER}
[ -d jobs ] || mkdir -m 1777 jobs || exit
mkdir "jobs/$2" 2>/dev/null || {{ [ -d "jobs/$2" ] && exit {_TAKEN}; mkdir "jobs/$2" || exit; }}
tar -xf - -C "jobs/$2" --no-same-owner"""

# Of each job: what it was, the back end's id and the exit code, a line each.
_SHOW = """[ -f "$n/job.json" ] && {
cat "$n/job.json"; echo
{ cat "$n/id" 2>/dev/null || echo; } | head -n 1
{ cat "$n/exit.txt" 2>/dev/null || echo; } | head -n 1
}"""
_ONE = f'cd "$1/jobs" 2>/dev/null || exit {_NO_FOLDER}; n=$2; {_SHOW}; true'
_ALL = f'cd "$1/jobs" 2>/dev/null || exit 0; ls -1t | head -n {_LISTED} | while read -r n; do {_SHOW}; done; true'
_READ = 'cd "$1/jobs/$2" 2>/dev/null && [ -f "$3" ] && tail -c "+$4" "$3" | head -c "$5"; true'


def outputs_variables(directory: str, name: str, after: str | None) -> dict[str, str]:
    """Where a job writes its outputs, and where those are of the job that it comes after."""
    earlier = {"GPUFLEET_AFTER_OUTPUTS": f"{directory}/jobs/{after}/{OUTPUTS_FOLDER}"} if after else {}
    return {"GPUFLEET_OUTPUTS": f"{directory}/jobs/{name}/{OUTPUTS_FOLDER}", **earlier}


@dataclass(frozen=True)
class JobRecord:
    """A job as recorded in its folder. fields: its job.json. id: empty before it is submitted. exit_code: None while
    its script has not ended."""

    fields: Mapping[str, Any]
    id: str
    exit_code: int | None

    @property
    def name(self) -> str:
        return str(self.fields["name"])

    @property
    def created(self) -> str:
        return str(self.fields.get("created") or "")

    @property
    def nodes(self) -> int:
        return int(self.fields.get("nodes") or 1)

    @property
    def pool(self) -> str:
        return str(self.fields.get("pool") or "")


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
        """The job of this name, None where there is none."""
        if "/" in name:
            return None
        result = self.machine.run(_ONE, self.directory, name)
        return next(self._records(result.text), None)

    def find(self, name: str) -> JobRecord:
        """Errors: UserError for a job that is not there."""
        record = self.find_or_none(name)
        if record is None:
            raise UserError(f"{name}: job not found in {self.where}; see `gpufleet jobs list {self.environment}`")
        return record

    def list_records(self) -> list[JobRecord]:
        """The environment's jobs, newest first."""
        result = self.machine.run(_ALL, self.directory)
        return sorted(self._records(result.text), key=lambda each: each.created, reverse=True)

    def read(self, name: str, file: str, begin: int) -> bytes:
        """At most PIECE bytes of a file from `begin` on; nothing where there is no such file yet."""
        return self.machine.run(_READ, self.directory, name, file, str(begin + 1), str(CHUNK_BYTES)).out

    def _records(self, text: str) -> Iterator[JobRecord]:
        lines = text.splitlines()
        for at in range(0, len(lines) - 2, 3):
            result = json.loads(lines[at])
            if result.get("environment") == self.environment:
                code = lines[at + 2].strip()
                yield JobRecord(result, lines[at + 1].strip(), int(code) if code else None)


def _packed(files: Mapping[str, str], program: Sequence[ProgramFile]) -> bytes:
    """All of a folder as a tar file."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for name in (OUTPUTS_FOLDER, PROGRAM_FOLDER):
            archive.addfile(_directory(name))
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(text.encode()), 0o644
            archive.addfile(entry, io.BytesIO(text.encode()))
        for each in program:
            archive.add(each.source, f"{PROGRAM_FOLDER}/{each.path}")
    return content.getvalue()


def _directory(name: str) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode = tarfile.DIRTYPE, 0o755
    return entry
