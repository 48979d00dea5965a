"""Preview a whole environment without a cloud, on simulated providers."""

import tempfile
from pathlib import Path
from typing import Any

from gpufleet.plan.preview import plan_of
from gpufleet.plan.resource import Plan
from gpufleet_rehearsal.rehearse import RehearsalPlan, prepare
from gpufleet_rehearsal.workspace import Workspace


def plan_offline(program: Path, environment: str) -> Plan:
    """Every resource of an environment, as its program would create it in an empty account.

    Needs no credentials and no backend, and leaves nothing behind: the state is empty and temporary.
    Errors: WorkspaceError for an unknown environment, PulumiCliError with the errors of the program or the simulated
    provider.
    """
    return plan_of(preview_offline(program, environment), environment)


def preview_offline(program: Path, environment: str) -> dict[str, Any]:
    """The same as `pulumi preview --json` says it: {"config", "steps", ...}. Errors: as `plan_offline`."""
    with tempfile.TemporaryDirectory(prefix="gpufleet-plan-") as folder:
        home = Workspace.of(program, Path(folder))
        engine = prepare(home, RehearsalPlan(environment, latency_scale=0))
        return engine.preview_json(environment)
