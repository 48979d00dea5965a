"""What earlier looks have found: one look sees a moment, and a job may rest for one.

Kept in a file of the user's own, from look to look; whoever wants to hear of hung jobs looks every few minutes
(`gpufleet ps --contexts all --notify URL` in cron or CI).
"""

import json
import os
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from gpufleet.errors import UserError
from gpufleet.fleet.gpu_jobs import GpuJob

LONGEST_GAP = timedelta(minutes=15)
"""Between two looks. After a longer one, nobody knows what a job did meanwhile: counting begins anew."""


def idle_history_file() -> Path:
    """Where looks are kept: in XDG_STATE_HOME, ~/.local/state by default."""
    home = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(home).expanduser() / "gpufleet" / "gpu-use.json"


class IdleHistory:
    """The looks in a file. Errors: UserError when it cannot be written; what it holds may be lost without harm."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._known = _read(file)
        self._now: dict[str, dict[str, str]] = {}
        self._judged_now: set[str] = set()

    def judge(self, server: str, jobs: Iterable[GpuJob], now: datetime) -> list[GpuJob]:
        """The jobs of a cluster, each with how long it has been idle at every look; this look is remembered."""
        return [self._judged(f"{server} {job.namespace}/{job.name}", job, now) for job in jobs]

    def _judged(self, key: str, job: GpuJob, now: datetime) -> GpuJob:
        self._judged_now.add(key)
        before = self._known.get(key, {})
        idle_since = now
        if before.get("up") == job.since.isoformat() and now - _time(before, "last") <= LONGEST_GAP:
            idle_since = _time(before, "idle_since")
        if job.percent != 0:
            return job
        self._now[key] = {"up": job.since.isoformat(), "last": now.isoformat(), "idle_since": idle_since.isoformat()}
        return replace(job, idle=now - max(idle_since, job.since))

    def keep(self, now: datetime) -> None:
        """Write the looks of now, and those of clusters that were not looked at while they still count."""
        others = {key: each for key, each in self._known.items() if key not in self._judged_now}
        recent = {key: each for key, each in others.items() if now - _time(each, "last") <= LONGEST_GAP}
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=self._file.parent, delete=False) as new:
                json.dump(recent | self._now, new)
            Path(new.name).replace(self._file)
        except OSError as error:
            raise UserError(f"{self._file}: {error.strerror}; give another place with XDG_STATE_HOME") from error


def _read(file: Path) -> dict[str, dict[str, Any]]:
    try:
        found = json.loads(file.read_text())
    except (OSError, ValueError):
        return {}
    return {key: each for key, each in found.items() if isinstance(each, dict)} if isinstance(found, dict) else {}


def _time(look: dict[str, Any], key: str) -> datetime:
    """A moment of a look; long ago where there is none."""
    try:
        return datetime.fromisoformat(look[key])
    except (KeyError, TypeError, ValueError):
        return datetime.min.replace(tzinfo=UTC)
