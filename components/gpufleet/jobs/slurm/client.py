"""Slurm's own programs on the machine that one logs in to, and their answers: lines of fields with | between.

Not their JSON, which looks different in each version of Slurm and needs plugins that many clusters lack.
Sources: slurm.schedmd.com/{squeue,sacct,sinfo,sbatch,scancel}.html.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from gpufleet.jobs.slurm.status import SacctRow, exit_code_from_sacct, exit_code_from_squeue
from gpufleet.jobs.ssh.connection import COMMAND_NOT_FOUND, CommandResult, SshConnection, SshError, SshUnreachable

_QUEUE = ("jobid", "state", "reason", "exit_code", "numnodes", "nodelist", "starttime", "endtime", "restartcnt")
_TRANSIENT = (
    "Unable to contact slurm controller",
    "Socket timed out",
    "Zero Bytes were transmitted",
    "Connection refused",
)
"""Slurm's messages for a controller that does not answer now."""
_NO_ACCOUNTING = ("accounting storage is disabled", "accounting_storage/none", "Slurm accounting storage is disabled")


@dataclass(frozen=True)
class UnavailableNode:
    """A node that takes no jobs. state, reason: as Slurm reports them."""

    name: str
    state: str
    reason: str


@dataclass(frozen=True)
class SlurmClient:
    """Errors of all methods: SshUnreachable, SshError."""

    machine: SshConnection

    def submit(self, folder: str, options: Sequence[str]) -> str:
        """Submit job.sh of a folder; its id, which the folder keeps too."""
        script = 'cd "$1" || exit; shift; id=$(sbatch --parsable "$@" job.sh) || exit; echo "$id" >id; echo "$id"'
        return self._ask(script, folder, *options).text.strip().partition(";")[0]

    def queue_rows(self, names: Sequence[str]) -> dict[str, SacctRow]:
        """What the controller knows of jobs of these names, by id: those not ended, or ended minutes ago."""
        fields = ",".join(f"{each}:|" for each in _QUEUE)
        script = 'TZ=UTC0 SLURM_TIME_FORMAT=standard squeue --all --states=all --noheader --name="$1" --Format="$2"'
        rows = self._rows(self._ask(script, ",".join(names), fields), len(_QUEUE)) if names else []
        return {
            row[0]: SacctRow(
                row[1],
                row[2],
                exit_code_from_squeue(row[3]),
                row[5],
                row[6],
                row[7],
                int(row[8]) if row[8].isdecimal() else 0,
            )
            for row in rows
        }

    def accounting_rows(self, ids: Sequence[str]) -> dict[str, SacctRow]:
        """What the accounting knows of jobs, by id; nothing on a cluster without accounting."""
        if not ids:
            return {}
        script = (
            'TZ=UTC0 SLURM_TIME_FORMAT=standard sacct --allusers --allocations --noheader --parsable2 --jobs="$1" '
            "--format=JobIDRaw,State,ExitCode,NodeList,Start,End"
        )
        result = self.machine.run(script, ",".join(ids))
        if result.code and any(words in result.err for words in _NO_ACCOUNTING):
            return {}
        self._check(result, "sacct")
        return {
            row[0]: SacctRow(row[1].partition(" ")[0], "", exit_code_from_sacct(row[2]), row[3], row[4], row[5], 0)
            for row in self._rows(result, 6)
        }

    def accounting_since(
        self, since: datetime, partitions: Sequence[str], fields: Sequence[str]
    ) -> list[list[str]] | None:
        """These fields of every job of the partitions that was there from a time on; None without accounting."""
        script = (
            'TZ=UTC0 SLURM_TIME_FORMAT=standard sacct --allusers --allocations --noheader --parsable2 --starttime="$1" '
            '--partition="$2" --format="$3"'
        )
        begin = since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")
        result = self.machine.run(script, begin, ",".join(partitions), ",".join(fields))
        if result.code and any(words in result.err for words in _NO_ACCOUNTING):
            return None
        self._check(result, "sacct")
        return list(self._rows(result, len(fields)))

    def unavailable_nodes(self, partition: str) -> list[UnavailableNode]:
        """Nodes of a partition that take no jobs now."""
        script = (
            'sinfo --noheader --Node --partition="$1" --states=down,drain,fail,maint,no_respond '
            '--Format="nodelist:|,statelong:|,reason:|"'
        )
        return [UnavailableNode(*row) for row in self._rows(self._ask(script, partition), 3)]

    def cancel(self, job: str) -> None:
        self._ask('scancel -- "$1"', job)

    def _ask(self, script: str, *words: str) -> CommandResult:
        result = self.machine.run(script, *words)
        program = next(word for word in ("sbatch", "squeue", "sinfo", "scancel") if word in script)
        self._check(result, program)
        return result

    def _check(self, result: CommandResult, program: str) -> None:
        where = self.machine.where
        if result.code == COMMAND_NOT_FOUND:
            raise SshError(
                f"{program}: program not found on {where}; name a machine with Slurm's clients as jobs.slurm.login"
            )
        if result.code:
            kind = SshUnreachable if any(words in result.err for words in _TRANSIENT) else SshError
            raise kind(_error_text(result, program, where))

    def _rows(self, result: CommandResult, fields: int) -> Iterator[list[str]]:
        for line in result.text.splitlines():
            row = [each.strip() for each in line.split("|")]
            if len(row) >= fields:
                yield row[:fields]


def _error_text(result: CommandResult, program: str, where: str) -> str:
    """Slurm's complaint without the program's name in front, which it has itself."""
    lines = [line.strip() for line in result.err.splitlines() if "error:" in line or "fatal:" in line]
    said = lines[-1].partition(": ")[2].removeprefix("error: ").removeprefix("fatal: ") if lines else result.error_line
    return f"{program} on {where}: {said}"
