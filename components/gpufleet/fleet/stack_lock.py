"""The engine's lock on a stack: since when, and whose.

A file backend has a file for each engine that works on a stack, {pid, username, hostname, timestamp}, and its errors
quote them. Source: github.com/pulumi/pulumi, pkg/backend/diy/lock.go.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from gpufleet.fleet.stack_state import parse_time
from gpufleet.rules.messages import one_line

LONGEST_UPDATE = timedelta(hours=12)
"""An older lock is a dead engine's: the credentials of a role last 12 hours at most, and a job on GitHub's machines 6.

Sources: docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html (DurationSeconds: 43200);
docs.github.com/actions/reference/limits (job execution time).
"""
_QUOTED = re.compile(r"created by (.+?) \(pid (\d+)\) at (\S+)")


@dataclass(frozen=True, order=True)
class StackLock:
    """since: in UTC. by: `user@host (pid 1)`, empty if unknown."""

    since: datetime
    by: str = ""

    def is_old(self, now: datetime) -> bool:
        """Whether no engine can be at work any more."""
        return now - self.since > LONGEST_UPDATE

    @property
    def words(self) -> str:
        return f"locked since {self.since:%Y-%m-%d %H:%M} UTC{f' by {self.by}' if self.by else ''}"


def lock_of(content: object, written: datetime) -> StackLock:
    """The lock in the content of its file. written: when the file was, which counts for one that cannot be read."""
    if not isinstance(content, Mapping):
        return StackLock(written)
    since = parse_time(content.get("timestamp"))
    user, host, pid = (content.get(key) for key in ("username", "hostname", "pid"))
    by = one_line(f"{user}@{host} (pid {pid})") if user and host else ""
    return StackLock(since.astimezone(UTC) if since else written, by)


def lock_in_message(text: str) -> StackLock | None:
    """The oldest lock that an error message of the engine names; None if it names none."""
    locks = [StackLock(since.astimezone(UTC), one_line(f"{by} (pid {pid})"))
             for by, pid, at in _QUOTED.findall(text) if (since := parse_time(at))]  # fmt: skip
    return min(locks, default=None)
