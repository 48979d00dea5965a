"""A change rehearsed: what was there before it is brought up on stand-ins, and the change previewed against that."""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from gpufleet.affected.previews import with_path
from gpufleet.errors import UserError
from gpufleet.pulumi_cli import PulumiCli
from gpufleet_rehearsal.rehearse import RehearsalPlan, prepare
from gpufleet_rehearsal.workspace import Home

T = TypeVar("T")


def rehearsed(
    program: Path, before: Path | None, environment: str, look: Callable[[PulumiCli, Path], T]
) -> tuple[T, bool, str]:
    """What `look` finds at an engine whose stack is as the base makes it, on stand-ins; whether it is, and why not.

    program: the change. before: the base, None without one. look: given the engine and a folder that is thrown away.
    Errors: UserError as `prepare`.
    """
    with tempfile.TemporaryDirectory(prefix="gpufleet-change-") as folder:
        root = Path(folder) / "rehearsal"
        reason = "there is no base" if before is None else _bring_up(before, root, environment)
        engine = prepare(Home.of(program, root), _plan(environment))
        return look(engine, Path(folder)), not reason, reason


def _bring_up(before: Path, root: Path, environment: str) -> str:
    """Bring the base up, and return why that cannot be, nothing where it is up."""
    home = Home.of(before, root)
    try:
        if environment not in home.stacks():
            return "it is new"
        engine = prepare(home, _plan(environment))
        # By the base's own components where they lie beside it, as in this repository.
        engine = with_path(engine, [before / "components"])
        with (root / "up.log").open("w+", encoding="utf-8") as log:
            code = replace(engine, output=log).up(environment)
            log.seek(0)
            return "" if code == 0 else f"the base itself does not come up: {_last_error(log.read())}"
    except UserError as error:
        return f"the base itself does not come up: {error}"


def _last_error(text: str) -> str:
    errors = [line.split("error:", 1)[1] for line in text.splitlines() if "error:" in line]
    return " ".join((errors or [text[-200:]])[0].split())


def _plan(environment: str) -> RehearsalPlan:
    return RehearsalPlan(environment, latency_scale=0, control_plane=False)
