"""Preview a change against its base: the base is deployed on simulated providers first."""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from gpufleet.affected.previews import with_python_path
from gpufleet.errors import UserError
from gpufleet.pulumi_cli import PulumiCli
from gpufleet_rehearsal.rehearse import RehearsalPlan, prepare
from gpufleet_rehearsal.workspace import Workspace

T = TypeVar("T")


def preview_against_base(
    program: Path, before: Path | None, environment: str, look: Callable[[PulumiCli, Path], T]
) -> tuple[T, tuple[str, ...] | None, str]:
    """The result of `look` on a stack that the base has deployed, what the engine printed then, and why not, if not.

    program: the change. before: the base, None without one. look: called with the engine and a temporary folder.
    Errors: UserError as `prepare`.
    """
    with tempfile.TemporaryDirectory(prefix="gpufleet-change-") as folder:
        root = Path(folder) / "rehearsal"
        log, reason = (None, "there is no base") if before is None else _bring_up(before, root, environment)
        engine = prepare(Workspace.of(program, root), _plan(environment))
        return look(engine, Path(folder)), log, reason


def _bring_up(before: Path, root: Path, environment: str) -> tuple[tuple[str, ...] | None, str]:
    """Deploy the base; return the lines that the engine printed, or why it cannot be deployed."""
    home = Workspace.of(before, root)
    try:
        if environment not in home.stacks():
            return None, "it is new"
        engine = prepare(home, _plan(environment))
        # By the base's own components where they lie beside it, as in this repository.
        engine = with_python_path(engine, [before / "components"])
        with (root / "up.log").open("w+", encoding="utf-8") as log:
            code = replace(engine, output=log).up(environment)
            log.seek(0)
            said = log.read()
        if code:
            return None, f"the base itself cannot be deployed: {_last_error(said)}"
        return tuple(said.splitlines()), ""
    except UserError as error:
        return None, f"the base itself cannot be deployed: {error}"


def _last_error(text: str) -> str:
    errors = [line.split("error:", 1)[1] for line in text.splitlines() if "error:" in line]
    return " ".join((errors or [text[-200:]])[0].split())


def _plan(environment: str) -> RehearsalPlan:
    return RehearsalPlan(environment, latency_scale=0, control_plane=False)
