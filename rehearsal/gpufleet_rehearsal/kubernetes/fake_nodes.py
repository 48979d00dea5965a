"""Fake nodes for the node groups of the simulated clouds: one for each desired node.

A node group sets the number when it is made or changed; afterwards the number is the autoscaler's, so that nothing is
done as long as the desired size stays what it was.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Protocol, cast

from gpufleet.atomic_file import write_atomically
from gpufleet_rehearsal.cloud.store import Store
from gpufleet_rehearsal.kubernetes.node_groups import NodeGroup, groups

NOTE = "fleet.json"
"""In the control plane's directory: what the node groups asked for when nodes were last made."""


class NodeTable(Protocol):
    """What tools/kubernetes/nodes.py offers."""

    def add(
        self,
        count: int,
        type: str,
        zone: str,
        pool: str,
        labels: Mapping[str, str] | None = None,
        taints: Sequence[Mapping[str, str]] | None = None,
        *,
        machine: Mapping[str, object] | None = None,
    ) -> list[str]: ...

    def add_system(
        self,
        count: int,
        type: str,
        zone: str,
        pool: str,
        labels: Mapping[str, str] | None = None,
        taints: Sequence[Mapping[str, str]] | None = None,
    ) -> list[str]: ...

    def remove(self, names: Sequence[str]) -> None: ...

    def of_pool(self, pool: str) -> list[dict[str, object]]: ...


def follow(store: Store, home: Path, table: NodeTable) -> list[str]:
    """Bring the nodes to what the node groups ask for, where that has changed; what was done, a line each."""
    note = home / NOTE
    before: dict[str, object] = json.loads(note.read_text()) if note.exists() else {}
    wanted = {group.pool: group for group in groups(store)}
    now = {pool: json.loads(json.dumps(asdict(group))) for pool, group in wanted.items()}
    done = []
    for pool in sorted({*before, *now}):
        if before.get(pool) == now.get(pool):
            continue
        there = [str(cast("Mapping[str, object]", node["metadata"])["name"]) for node in table.of_pool(pool)]
        # Another type, zone or label is another node.
        same = _shape(before.get(pool)) == _shape(now.get(pool))
        keep = there[: wanted[pool].desired] if same and pool in wanted else []
        table.remove([name for name in there if name not in keep])
        if pool in wanted:
            _grow(table, wanted[pool], len(keep))
        done.append(f"{pool}: {len(there)} -> {wanted[pool].desired if pool in wanted else 0} nodes")
    if done:
        write_atomically(note, json.dumps(now))
    return done


def _grow(table: NodeTable, group: NodeGroup, have: int) -> None:
    """Spread over the zones in turn, as an Auto Scaling group does."""
    if not group.zones:
        return
    counts = dict.fromkeys(group.zones, 0)
    for number in range(have, group.desired):
        counts[group.zones[number % len(group.zones)]] += 1
    for zone, count in counts.items():
        if count and group.machine is None:
            table.add_system(count, group.type, zone, group.pool, group.labels, group.taints)
        elif count:
            table.add(count, group.type, zone, group.pool, group.labels, group.taints, machine=group.machine)


def _shape(group: object) -> object:
    apart = dict.fromkeys(("desired", "min", "max", "tags", "scaling_tags"))
    return {**group, **apart} if isinstance(group, Mapping) else None
