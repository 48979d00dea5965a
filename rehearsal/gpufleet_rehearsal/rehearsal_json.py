"""What a rehearsal has come to, as JSON data. docs/rehearsal.md describes the fields; fields are only ever added."""

from collections.abc import Sequence
from typing import Any

from gpufleet.pulumi_cli import PulumiCliError
from gpufleet_rehearsal.cloud.interpreter import logical_name
from gpufleet_rehearsal.cloud.open_cloud import open_cloud
from gpufleet_rehearsal.cloud.store import SimulatedResource
from gpufleet_rehearsal.critical_path import time_to_up
from gpufleet_rehearsal.onprem_cluster import is_onprem_cluster
from gpufleet_rehearsal.refusal_list import refusal_rows
from gpufleet_rehearsal.rehearse import RehearsalPlan, remains
from gpufleet_rehearsal.table.loader import load_table
from gpufleet_rehearsal.workspace import Workspace

_REFUSAL = ("name", "type", "operation", "comes", "words", "evidence", "source")
"""Names of the columns of `refusal_rows`."""


def rehearsal_to_dict(home: Workspace, plan: RehearsalPlan, code: int) -> dict[str, Any]:
    """The environment after `rehearse` has ended with `code`. Outputs that are secret are the text [secret]."""
    engine, environment = home.engine(plan.environment), plan.environment
    try:
        state, outputs = engine.state(environment), engine.outputs(environment)
    except PulumiCliError:
        # A destroy that leaves nothing removes the stack too.
        state, outputs = [], {}
    cloud = open_cloud(home.cloud(environment), home.root)
    kept, left = remains(cloud, environment, state)
    up = code == 0 and not plan.destroy and not is_onprem_cluster(home.configuration(environment))
    time = time_to_up(cloud, state) if up else None
    return {
        "environment": environment,
        "action": "destroy" if plan.destroy else "up",
        "code": code,
        "home": str(home.root),
        "resources": [
            {"name": logical_name(each["urn"]), "type": each["type"], "id": each.get("id")}
            for each in state
            if each.get("custom") and not each["type"].startswith("pulumi:")
        ],
        "outputs": outputs,
        "kept": _resources(kept) if plan.destroy else [],
        "left_behind": _resources(left) if plan.destroy else [],
        "first_up_seconds": time and time.estimate.seconds,
        "lower_bound_seconds": time and time.lower_bound.seconds,
    }


def refusals_to_dict(clouds: Sequence[str] = ("aws", "azure-native")) -> dict[str, Any]:
    """Everything that each simulated cloud rejects."""
    return {
        cloud: [dict(zip(_REFUSAL, row, strict=True)) for row in refusal_rows(load_table(cloud))] for cloud in clouds
    }


def _resources(found: Sequence[SimulatedResource]) -> list[dict[str, str]]:
    return [{"name": each.name, "type": each.type, "id": each.id} for each in found]
