"""The state of a job on Slurm, from what the controller, the accounting and the job's own folder know of it.

Sources: slurm.schedmd.com/squeue.html (JOB STATE CODES), sacct.html (ExitCode).
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from gpufleet.jobs.ssh.job_record import UNREADABLE, JobRecord

_ENDED = {
    "BOOT_FAIL": "a node did not boot",
    "CANCELLED": "",
    "COMPLETED": "",
    "DEADLINE": "it could not end before its deadline",
    "FAILED": "",
    "NODE_FAIL": "a node failed",
    "OUT_OF_MEMORY": "it needed more memory than it had; give --memory",
    "PREEMPTED": "a job of higher priority took its nodes",
    "REVOKED": "another cluster took it",
    "TIMEOUT": "its time limit was reached; give a longer --time-limit",
}
"""States that are not left again, and why a job is in one, where the state does not say it."""
LOST = "UNKNOWN"
"""Of a job that neither the controller nor the accounting know any more, and that left no exit code."""
_NO_NEWS = ("", "None", "NonZeroExitCode", "TimeLimit", "OutOfMemory", "RaisedSignal")
"""Reasons that say no more than state and exit code."""


@dataclass(frozen=True)
class SacctRow:
    """What Slurm says of a job. started, ended: UTC, or words such as N/A. exit_code: None where it has none."""

    state: str
    reason: str
    exit_code: int | None
    nodes: str
    started: str
    ended: str
    restarts: int


@dataclass(frozen=True)
class SlurmJob:
    """row: None where neither controller nor accounting know it."""

    record: JobRecord
    row: SacctRow | None

    @property
    def name(self) -> str:
        return self.record.name

    @property
    def state(self) -> str:
        """As Slurm says it; of a job that it has forgotten, as its own exit code says it."""
        if self.record.fault:
            return UNREADABLE
        if self.row is not None:
            return self.row.state
        if not self.record.id:
            return "UNSUBMITTED"
        if self.record.exit_code is None:
            return LOST
        return "COMPLETED" if self.record.exit_code == 0 else "FAILED"

    @property
    def ended(self) -> bool:
        return self.state in _ENDED or self.row is None

    @property
    def is_pending(self) -> bool:
        return self.state == "PENDING"

    @property
    def succeeded(self) -> bool:
        return self.state == "COMPLETED"

    @property
    def exit_code(self) -> int | None:
        """None while it runs, and where its script was ended before it had one."""
        if not self.ended or self.state == "CANCELLED":
            return None
        if self.record.exit_code is not None and self.state in ("COMPLETED", "FAILED"):
            return self.record.exit_code
        return self.row.exit_code if self.row is not None and self.state in ("COMPLETED", "FAILED") else None

    @property
    def reason(self) -> str:
        """Slurm's own word."""
        reason = self.row.reason if self.row is not None else ""
        return "" if reason in _NO_NEWS or self.state == "RUNNING" else reason

    @property
    def message(self) -> str:
        if self.record.fault:
            return self.record.fault
        if self.state == LOST:
            return "neither squeue nor sacct know it any more, and it left no exit code"
        if self.state == "UNSUBMITTED":
            return "its submission broke off; cancel it, and submit it again"
        return _ENDED.get(self.state, "")

    @property
    def end_reason(self) -> str:
        return ": ".join(each for each in (self.reason, self.message) if each)

    @property
    def state_text(self) -> str:
        where = f" on {self.row.nodes}" if self.row is not None and self.row.nodes and not self.ended else ""
        return self.state + where + (f" ({self.end_reason})" if self.end_reason else "")

    @property
    def duration_seconds(self) -> float | None:
        if self.row is None or not self.ended:
            return None
        started, ended = _time(self.row.started), _time(self.row.ended)
        return (ended - started).total_seconds() if started and ended and ended >= started else None

    def summary(self) -> dict[str, object]:
        """The JSON summary. Its keys do not change: scripts depend on them."""
        return {
            "name": self.name,
            "id": self.record.id,
            "state": self.state,
            "reason": self.reason,
            "message": self.message,
            "nodes": self.record.nodes,
            "restarts": self.row.restarts if self.row is not None else 0,
            "created": self.record.created,
            "exitCode": self.exit_code,
        }


def exit_code_from_squeue(status: str) -> int | None:
    """squeue's exit_code: a wait status, as wait(2) has it."""
    if not status.isdigit():
        return None
    signal, code = int(status) & 0x7F, int(status) >> 8
    return 128 + signal if signal else code


def exit_code_from_sacct(text: str) -> int | None:
    """sacct's ExitCode: CODE:SIGNAL."""
    code, _, signal = text.partition(":")
    if not code.isdigit() or not signal.isdigit():
        return None
    return 128 + int(signal) if int(signal) else int(code)


def _time(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        return None
