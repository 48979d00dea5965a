"""What an environment is about to be, seen without a cloud: a preview of the whole of it on stand-in providers."""

import tempfile
from pathlib import Path
from typing import Any

from gpufleet.plan.preview import plan_of
from gpufleet.plan.resource import Plan
from gpufleet_rehearsal.rehearse import RehearsalPlan, prepare
from gpufleet_rehearsal.workspace import Home


def planned(program: Path, environment: str) -> Plan:
    """Every resource of an environment, as its program would make it from nothing.

    Needs no credentials and no backend, and leaves nothing behind: the state is empty and thrown away.
    Errors: HomeError for an unknown environment, EngineError with what the program or the stand-in refuses.
    """
    return plan_of(previewed(program, environment), environment)


def previewed(program: Path, environment: str) -> dict[str, Any]:
    """The same as `pulumi preview --json` says it: {"config", "steps", ...}. Errors: as `planned`."""
    with tempfile.TemporaryDirectory(prefix="gpufleet-plan-") as folder:
        home = Home.of(program, Path(folder))
        engine = prepare(home, RehearsalPlan(environment, latency_scale=0))
        return engine.previewed(environment)
