"""The simulated autoscaler of a rehearsal: it runs where the program has installed the cluster autoscaler's chart.

Agent pools of AKS that scale themselves have it without a chart.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from gpufleet_rehearsal.cloud.store import Store
from gpufleet_rehearsal.kubernetes.node_groups import NodeGroup, groups
from gpufleet_rehearsal.kubernetes.recorded_objects import recorded_in_all
from gpufleet_rehearsal.kubernetes.release import KIND
from gpufleet_rehearsal.table.paths import Json

CHART = "cluster-autoscaler"
BOOT_SECONDS = 125.0
"""From the autoscaler's decision to a Ready node: what a node group takes for its first nodes, docs/latencies.md."""
IDLE_SECONDS = 600.0
"""Where the chart's values say nothing: the autoscaler's own scale-down-unneeded-time, by its FAQ."""
SHORTEST = 5.0
"""Real seconds that a node stays idle at least, however fast the simulated cloud is: device plugins start after the
node, and a job's pods come one by one."""
NOTE = "autoscaler.json"
"""In the control plane's directory: what the autoscaler runs with."""


class Runner(Protocol):
    """What tools/kubernetes/control_plane.py offers."""

    def start_autoscaler(
        self, pools: Sequence[Mapping[str, Any]], idle_seconds: float, boot_seconds: float
    ) -> None: ...

    def stop_autoscaler(self) -> None: ...


@dataclass(frozen=True)
class Scaling:
    """What the autoscaler is to run with; no pools: it is not to run."""

    pools: Sequence[Mapping[str, Any]]
    idle_seconds: float
    boot_seconds: float


def follow(store: Store, notes: Store, home: Path, scale: float, runner: Runner) -> str:
    """Start, restart or stop the simulated autoscaler as the program says; return what was done, empty for nothing.

    notes: the rehearsal's, recorded.FILE. home: the control plane's. scale: real seconds for one of the cloud's.
    """
    wanted = scaling(groups(store), installed(notes), scale)
    note = home / NOTE
    text = json.dumps(wanted.__dict__, default=list)
    if (note.read_text(encoding="utf-8") if note.exists() else "") == text:
        return ""
    if wanted.pools:
        runner.start_autoscaler(wanted.pools, wanted.idle_seconds, wanted.boot_seconds)
    else:
        runner.stop_autoscaler()
    note.write_text(text, encoding="utf-8")
    return f"{CHART}: a simulated autoscaler manages {len(wanted.pools)} pools"


def installed(notes: Store) -> Mapping[str, Json] | None:
    """The arguments of the autoscaler's release, None without one."""
    return next((inputs for inputs in recorded_in_all(notes, KIND) if inputs.get("chart") == CHART), None)


def scaling(pools: Sequence[NodeGroup], release: Mapping[str, Json] | None, scale: float) -> Scaling:
    """What the autoscaler of a release does with these node groups.

    A group of several zones grows in its first one only: the real one asks the Auto Scaling group, which balances.
    Groups without GPUs stay as they are. machine is for the nodes that come, not for the decision to start them.
    """
    rows = [
        {
            "pool": group.pool,
            "type": group.type,
            "zone": group.zones[0],
            "machine": dict(group.machine),
            "min": group.min,
            "max": group.max,
            "labels": dict(group.labels),
            "taints": [dict(taint) for taint in group.taints],
            "tags": dict(group.tags),
            "scaling_tags": dict(group.scaling_tags),
        }
        for group in pools
        if group.zones and group.machine is not None and (release is not None or group.scales_itself)
    ]
    idle = max(SHORTEST, idle_seconds(release) * scale)
    return Scaling(rows, idle, BOOT_SECONDS * scale)


def idle_seconds(release: Mapping[str, Json] | None) -> float:
    """After how many seconds the chart's values let an idle node go; they say it like 10m or 90s."""
    values = (release or {}).get("values")
    arguments = values.get("extraArgs") if isinstance(values, Mapping) else None
    said = str(arguments.get("scale-down-unneeded-time", "")) if isinstance(arguments, Mapping) else ""
    number, unit = said[:-1], said[-1:]
    return float(number) * {"s": 1, "m": 60, "h": 3600}[unit] if number.isdigit() and unit in "smh" else IDLE_SECONDS
