"""Checkpoints on the shared volume: written whole or not at all, the newest whole one is read."""

import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from ranks import TrainingError

KEPT = 2
"""Newest checkpoints that stay: one may turn out to be damaged."""


def save(folder: Path, state: dict[str, Any]) -> Path:
    """Write ``state`` (its "step" gives the name) and delete all but the newest checkpoints. One rank calls it.

    A reclaim in the middle leaves the old checkpoints and a .part file, which the next save replaces or deletes.

    Raises:
        TrainingError: the folder cannot be written.
    """
    final = folder / f"step-{state['step']:09d}.pt"
    part = final.with_suffix(".part")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            torch.save(state, file)
            file.flush()
            os.fsync(file.fileno())
        part.replace(final)
        _sync_folder(folder)
        for old in [*_by_age(folder)[KEPT:], *folder.glob("step-*.part")]:
            old.unlink()
    except OSError as failure:
        raise TrainingError(f"{final}: cannot be written: {failure.strerror}; give --checkpoints") from failure
    return final


def newest(folder: Path, say: Callable[[str], None]) -> dict[str, Any] | None:
    """The newest checkpoint that can be read, None where there is none; damaged ones are named.

    Raises:
        TrainingError: there are checkpoints, and none can be read. To start anew in silence would lose the work.
    """
    found = _by_age(folder)
    for path in found:
        try:
            state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        except (OSError, RuntimeError, EOFError, ValueError, KeyError, pickle.UnpicklingError) as failure:
            reason = (str(failure) or "it is cut off").splitlines()[0]
            say(f"{path}: cannot be read, taking the one before: {reason}")
        else:
            return state
    if found:
        raise TrainingError(f"{folder}: no checkpoint in it can be read; repair it, or give --checkpoints")
    return None


def _by_age(folder: Path) -> list[Path]:
    return sorted(folder.glob("step-*.pt"), reverse=True)


def _sync_folder(folder: Path) -> None:
    """Make the new name last: the file's own fsync does not."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
