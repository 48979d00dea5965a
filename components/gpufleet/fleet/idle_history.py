"""How long GPU jobs have been idle, over several samples: a single sample may catch a job in a pause.

The history is a file of the user's. To be notified of hung jobs, run `gpufleet ps --contexts all --notify URL` every
few minutes, in cron or CI.
"""

import json
import os
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from gpufleet.atomic_file import write_atomically
from gpufleet.documents.content import DocumentError
from gpufleet.documents.json import read_json
from gpufleet.errors import UserError
from gpufleet.fleet.gpu_jobs import GpuJob

LONGEST_GAP = timedelta(minutes=15)
"""Between two samples. After a longer gap the job may have computed meanwhile: counting starts again."""


def idle_history_file() -> Path:
    """The history file: in XDG_STATE_HOME, ~/.local/state by default; in a rehearsal in its own folder."""
    home = os.environ.get("GPUFLEET_REHEARSAL") or os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(home).expanduser() / "gpufleet" / "gpu-use.json"


class IdleHistory:
    """The samples in a file. Errors: UserError if it cannot be written; losing its content does no harm."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._known = _read(file)
        self._now: dict[str, dict[str, str]] = {}
        self._updated_keys: set[str] = set()

    def update(self, server: str, jobs: Iterable[GpuJob], now: datetime) -> list[GpuJob]:
        """Add a sample of a cluster's jobs; returns the jobs with how long each has been idle."""
        return [self._update_job(f"{server} {job.namespace}/{job.name}", job, now) for job in jobs]

    def _update_job(self, key: str, job: GpuJob, now: datetime) -> GpuJob:
        self._updated_keys.add(key)
        before = self._known.get(key, {})
        idle_since = now
        if before.get("up") == job.since.isoformat() and now - _time(before, "last") <= LONGEST_GAP:
            idle_since = _time(before, "idle_since")
        if job.computes is not False:
            return job
        self._now[key] = {"up": job.since.isoformat(), "last": now.isoformat(), "idle_since": idle_since.isoformat()}
        return replace(job, idle=now - max(idle_since, job.since))

    def save(self, now: datetime) -> None:
        """Write the new samples, and recent ones of clusters that were not sampled now."""
        others = {key: each for key, each in self._known.items() if key not in self._updated_keys}
        recent = {key: each for key, each in others.items() if now - _time(each, "last") <= LONGEST_GAP}
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self._file, json.dumps(recent | self._now), mode=0o600)
        except OSError as error:
            raise UserError(f"{self._file}: {error.strerror}; choose another folder with XDG_STATE_HOME") from error


def _read(file: Path) -> dict[str, dict[str, Any]]:
    try:
        found = read_json(file)
    except DocumentError:
        return {}
    return {key: each for key, each in found.items() if isinstance(each, dict)} if isinstance(found, dict) else {}


def _time(look: dict[str, Any], key: str) -> datetime:
    """A time in a sample; the distant past if there is none."""
    try:
        return datetime.fromisoformat(look[key])
    except (KeyError, TypeError, ValueError):
        return datetime.min.replace(tzinfo=UTC)
