"""A file of all observed allocations: pods, and with them their times, are deleted soon after they end."""

import fcntl
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from gpufleet.atomic_file import write_atomically
from gpufleet.documents.content import MIB, read_content
from gpufleet.documents.json import parse_json
from gpufleet.errors import UserError
from gpufleet.usage.allocation import NODE_FIELDS, GpuAllocation

_FIX = "correct or remove the line"
_MOST_BYTES = 512 * MIB
"""A million records."""


def read_ledger(file: Path) -> list[GpuAllocation]:
    """Every record; none where there is no file yet. Errors: UserError, with the invalid line."""
    if not file.exists():
        return []
    lines = read_content(file, _FIX, _MOST_BYTES).splitlines()
    return [parse_json(line, str(file), _FIX, shape=GpuAllocation, line=number) for number, line in enumerate(lines, 1)]


def merge_allocations(
    before: Iterable[GpuAllocation], now: Iterable[GpuAllocation], ends: Mapping[str, datetime], environment: str
) -> list[GpuAllocation]:
    """Earlier records with what is seen now, oldest first: one for each pod, so that nothing counts twice.

    A pod of the environment that is gone without an end has ended with its job, if that tells when, else when it was
    seen last: too early by no more than the time between two looks. A job's own record gives way to those of its pods.
    ends: of jobs by their uid.
    """
    found = {each.uid: each for each in before}
    current = {each.uid: each for each in now}
    for uid, each in found.items():
        if uid in current or each.end is not None or each.environment != environment:
            continue
        end = ends.get(each.job_uid)
        found[uid] = each.until(max(end, each.seen) if end else each.seen, exact=end is not None)
    found |= {uid: _on_its_node(each, found.get(uid)) for uid, each in current.items()}
    with_pods = {each.job_uid for uid, each in found.items() if not uid.startswith("job/")}
    kept = [each for uid, each in found.items() if not (uid.startswith("job/") and each.job_uid in with_pods)]
    return sorted(kept, key=lambda each: (each.start, each.uid))


def _on_its_node(now: GpuAllocation, before: GpuAllocation | None) -> GpuAllocation:
    """A record whose node is gone meanwhile keeps what was known of it."""
    if before is None or now.node_gpus is not None or before.node_gpus is None:
        return now
    return replace(now, **{key: getattr(before, key) for key in NODE_FIELDS})


def write_ledger(file: Path, records: Iterable[GpuAllocation]) -> None:
    """Replace the file as a whole: a reader sees the old one or the new. Errors: UserError."""
    lines = "".join(json.dumps(each.as_json(), sort_keys=True) + "\n" for each in records)
    try:
        write_atomically(file, lines, mode=0o644, sync=True)
    except OSError as error:
        raise UserError(f"{file}: cannot be written: {error.strerror}") from error


@contextmanager
def lock_ledger(file: Path) -> Iterator[None]:
    """Hold an exclusive lock on the ledger. Errors: UserError."""
    try:
        lock = file.with_name(f".{file.name}.lock").open("w")
    except OSError as error:
        raise UserError(
            f"{file}: cannot be locked: {error.strerror}; give a file in a directory that you own"
        ) from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
