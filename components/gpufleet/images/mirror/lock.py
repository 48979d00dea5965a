"""The lock file beside the list: which digest of a source was copied, and what was pushed for it."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from gpufleet.atomic_file import write_atomically
from gpufleet.documents.json import check_shape, read_json
from gpufleet.errors import UserError
from gpufleet.rules.messages import format_value

VERSION = 1
_RESTORE = "restore it from version control"


@dataclass(frozen=True)
class LockEntry:
    """One image as it was pushed last.

    digest: of the source, of its index where it is one for many platforms. inputs: of all that decided what was
    pushed. pushed: digest in the target, under `tag`. scans: format, counts by severity and what was allowed, for each
    report. sbom: file beside the lock, and its sha256.
    """

    source: str
    digest: str
    platform: str
    inputs: str
    tag: str
    pushed: str
    scans: list[dict[str, Any]] = field(default_factory=list)
    sbom: dict[str, str] | None = None


class _Lock(msgspec.Struct):
    images: dict[str, LockEntry]


def lock_file(file: Path) -> Path:
    """The lock file of a list: images.yaml -> images.lock.json."""
    return file.with_name(f"{file.stem}.lock.json")


def read_lock(file: Path) -> dict[str, LockEntry]:
    """Image by its name; nothing where there is no lock yet. Errors: UserError."""
    if not file.exists():
        return {}
    content = read_json(file, _RESTORE, shape=dict[str, object])
    if content.get("version") != VERSION:
        said = format_value(content.get("version"))
        raise UserError(f"{file}: version={said}: is of another gpufleet; this one writes {VERSION}")
    return check_shape(content, _Lock, str(file), _RESTORE).images


def write_lock(file: Path, images: Mapping[str, LockEntry]) -> None:
    """Write it as a whole, or not at all. Errors: UserError."""
    content = {"version": VERSION, "images": {name: asdict(images[name]) for name in sorted(images)}}
    try:
        write_atomically(file, json.dumps(content, indent=2) + "\n")
    except OSError as error:
        raise UserError(f"{file}: cannot be written: {error.strerror}") from error
