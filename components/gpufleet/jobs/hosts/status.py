"""The state of a job on plain hosts, from what its folder says and whether its script still runs."""

from dataclasses import dataclass

from gpufleet.jobs.ssh.job_record import UNREADABLE, JobRecord

_TIMED_OUT = 124
"""What timeout(1) ends with at the limit; 137 when the job had to be killed."""


@dataclass(frozen=True)
class HostJob:
    """state_file: what the script last wrote to its file `state`. alive: whether it runs."""

    record: JobRecord
    state_file: str
    alive: bool

    @property
    def name(self) -> str:
        return self.record.name

    @property
    def state(self) -> str:
        """waiting, running, succeeded, failed, cancelled, or lost when its script is gone without a word."""
        if self.record.fault:
            return UNREADABLE.lower()
        if self.state_file == "cancelled":
            return "cancelled"
        if self.record.exit_code is not None:
            return "failed" if self.record.exit_code else "succeeded"
        if not self.alive:
            return "lost"
        return "running" if self.state_file.startswith("running") else "waiting"

    @property
    def ended(self) -> bool:
        return self.state not in ("waiting", "running")

    @property
    def is_pending(self) -> bool:
        return self.state == "waiting"

    @property
    def succeeded(self) -> bool:
        return self.state == "succeeded"

    @property
    def exit_code(self) -> int | None:
        return self.record.exit_code if self.state in ("succeeded", "failed") else None

    @property
    def end_reason(self) -> str:
        if self.record.fault:
            return self.record.fault
        if self.state == "lost":
            if not self.record.id:
                return "it was never started; submit it again under another name"
            return (
                "its script ended without a word: the machine that it was started from was restarted, or it was killed"
            )
        if self.exit_code == _TIMED_OUT and self.record.time_limit_minutes:
            return "its time limit was reached; give a longer --time-limit"
        return ""

    @property
    def state_text(self) -> str:
        on = f" on {self.state_file.partition(' ')[2]}" if self.state == "running" else ""
        return self.state + on + (f" ({self.end_reason})" if self.end_reason else "")

    @property
    def duration_seconds(self) -> float | None:
        return None

    def summary(self) -> dict[str, object]:
        """The JSON summary. Its keys do not change: scripts depend on them."""
        return {
            "name": self.name,
            "id": self.record.id,
            "state": self.state,
            "reason": "",
            "message": self.end_reason,
            "nodes": self.record.nodes,
            "created": self.record.created,
            "exitCode": self.exit_code,
        }
