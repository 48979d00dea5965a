"""The stacks of a file backend, read from its files.

The layout is the engine's (github.com/pulumi/pulumi, pkg/backend/diy): `.pulumi/stacks/<project>/<stack>.json`, since
version 1 with the project; `.pulumi/history/<project>/<stack>/<stack>-<nanoseconds>.history.json`;
`.pulumi/locks/organization/<project>/<stack>/<id>.json` while somebody works on a stack. Through the engine each stack
takes half a second; this takes milliseconds.
"""

import gzip
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from gpufleet.documents.content import MIB
from gpufleet.documents.json import parse_json
from gpufleet.errors import UserError
from gpufleet.fleet.stack_lock import StackLock, lock_of
from gpufleet.fleet.stack_state import StackState, or_fault, state_from_deployment

_ENDINGS = (".json", ".json.gz")
_MOST_BYTES = 512 * MIB
"""Of a state, unpacked: a few kilobytes may be packed gigabytes."""


def is_file_backend(url: str) -> bool:
    return url.startswith("file://")


def folder_of(url: str) -> Path:
    """The folder of a file backend's URL: file:///shared/states, file://~ or file://./states."""
    parts = urlsplit(url)
    return Path(unquote(parts.netloc + parts.path)).expanduser()


def stacks_of_files(url: str) -> list[StackState]:
    """Every stack of a file backend, by project and name. Errors: UserError when there is no such folder."""
    folder = folder_of(url)
    if not folder.is_dir():
        raise UserError(
            f"{url}: folder not found; give the backend's URL with --backend, as shown by `pulumi whoami -v`"
        )
    root = folder / ".pulumi"
    found = [(project, _stack(root, project, name, file)) for project, name, file in sorted(_files(root))]
    # A file backend has one organization, of this name; in the old layout there is not even that.
    return [
        replace(each, full_name=f"organization/{project}/{each.name}" if project else each.name)
        for project, each in found
    ]


def _files(root: Path) -> Iterator[tuple[str, str, Path]]:
    """Project, name and file of each stack. Where one is there packed and unpacked, the one written last counts."""
    found: dict[tuple[str, str], Path] = {}
    try:
        stacks = root / "stacks"
        for file in [*stacks.glob("*.json*"), *stacks.glob("*/*.json*")]:
            ending = next((each for each in _ENDINGS if file.name.endswith(each)), None)
            if ending is None or not file.is_file():
                continue
            key = ("" if file.parent == stacks else file.parent.name, file.name.removesuffix(ending))
            if key not in found or file.stat().st_mtime > found[key].stat().st_mtime:
                found[key] = file
    except OSError as error:
        raise UserError(f"{error.filename}: {error.strerror}; the backend's files must be readable") from error
    yield from ((project, name, file) for (project, name), file in found.items())


def _stack(root: Path, project: str, name: str, file: Path) -> StackState:
    def read() -> StackState:
        checkpoint = _json(file).get("checkpoint")
        if not isinstance(checkpoint, Mapping):
            raise ValueError("holds no checkpoint")
        config, lock = _config(root, project, name), _lock(root / "locks" / "organization" / project / name)
        state = state_from_deployment(name, project, checkpoint.get("latest"), config, lock is not None)
        return replace(state, lock=lock)

    def fault(reason: str) -> StackState:
        return StackState(name, project, fault=f"{file}: its state cannot be read: {reason}; see {file.name}.bak")

    return or_fault(read, fault)


def _lock(folder: Path) -> StackLock | None:
    """The oldest lock in the folder of a stack's locks. Errors: OSError."""
    locks = []
    for file in folder.glob("*") if folder.is_dir() else ():
        try:
            content, written = file.read_bytes(), datetime.fromtimestamp(file.stat().st_mtime, UTC)
        except FileNotFoundError:
            # It was just let go.
            continue
        try:
            locks.append(lock_of(parse_json(content, ""), written))
        except ValueError:
            locks.append(StackLock(written))
    return min(locks, default=None)


def _config(root: Path, project: str, name: str) -> Mapping[str, object]:
    """The configuration of the last update; empty where its history is not there. Errors: OSError, ValueError."""
    folder = root / "history" / project / name
    entries = [each.name for each in folder.glob(f"{name}-*.history.json*")] if folder.is_dir() else []
    if not entries:
        return {}
    config = _json(folder / max(entries)).get("config")
    return config if isinstance(config, Mapping) else {}


def _json(file: Path) -> dict[str, Any]:
    packed = file.name.endswith(".gz")
    with gzip.open(file) if packed else file.open("rb") as stream:
        content = stream.read(_MOST_BYTES + 1)
    return parse_json(content, "", shape=dict[str, Any], most=_MOST_BYTES)
