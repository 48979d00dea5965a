"""Preview a whole environment without a cloud, on simulated providers."""

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from gpufleet.kubernetes.remote_manifest import KEPT_ONLY
from gpufleet.plan.preview import plan_of
from gpufleet.plan.resource import Plan
from gpufleet_rehearsal.rehearse import RehearsalPlan, prepare
from gpufleet_rehearsal.workspace import Workspace


def plan_offline(program: Path, environment: str) -> Plan:
    """Every resource of an environment, as its program would create it in an empty account.

    Needs no credentials, no backend and no network, and leaves nothing behind: the state is empty and temporary.
    Without the objects of a manifest that is not kept already: they cost nothing and are on no account.
    Errors: WorkspaceError for an unknown environment, PulumiCliError with the errors of the program or the simulated
    provider.
    """
    return plan_of(preview_offline(program, environment), environment)


def preview_offline(program: Path, environment: str, *, fetch: bool = False) -> dict[str, Any]:
    """The same as `pulumi preview --json` says it: {"config", "steps", ...}.

    fetch: whether manifests are fetched as far as there is a network; otherwise a warning says what is left out.
    Errors: as `plan_offline`.
    """
    with tempfile.TemporaryDirectory(prefix="gpufleet-plan-") as folder:
        home = Workspace.of(program, Path(folder))
        engine = prepare(home, RehearsalPlan(environment, latency_scale=0))
        if not fetch:
            engine = replace(engine, environment={**engine.environment, KEPT_ONLY: "1"})
        return engine.preview_json(environment)
