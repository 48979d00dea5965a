"""Fake GPU nodes for the node groups of the simulated cloud: one for each desired node.

A node group sets the number when it is made or changed; afterwards the number is the autoscaler's, so that nothing is
done as long as the desired size stays what it was.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol, cast

from gpufleet_rehearsal.cloud.resource import Resource
from gpufleet_rehearsal.cloud.store import Store
from gpufleet_rehearsal.table.paths import Json
from gpufleet_rehearsal.table.zone_names import zone_id

NODE_GROUP, SUBNET, TEMPLATE = (
    "aws:eks/nodeGroup:NodeGroup",
    "aws:ec2/subnet:Subnet",
    "aws:ec2/launchTemplate:LaunchTemplate",
)
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
        network: str = "plain",
    ) -> list[str]: ...

    def remove(self, names: Sequence[str]) -> None: ...

    def of_pool(self, pool: str) -> list[dict[str, object]]: ...


@dataclass(frozen=True)
class Group:
    """What one GPU node group asks for. zones: ids; taints: as EKS has them; network: plain or efa.

    min, max: between which an autoscaler may move the number.
    """

    pool: str
    desired: int
    min: int
    max: int
    type: str
    zones: tuple[str, ...]
    labels: Mapping[str, str]
    taints: tuple[Mapping[str, str], ...]
    network: str


def groups(store: Store) -> list[Group]:
    """The GPU node groups of the simulated cloud. Those whose type is not in gpufleet's catalog have no GPUs."""
    from gpufleet.catalog import aws

    subnets = {subnet.id: subnet for subnet in store.resources(SUBNET)}
    templates = {template.id: template for template in store.resources(TEMPLATE)}
    found = []
    for group in store.resources(NODE_GROUP):
        view = group.view
        template = templates.get(str(_mapping(view.get("launchTemplate")).get("id")))
        types = [*_list(view.get("instanceTypes")), template.view.get("instanceType") if template else None]
        type_ = next((str(given) for given in types if given), "")
        if type_ not in aws().types or group.status != "available":
            continue
        sizes = _mapping(view.get("scalingConfig"))
        zones = [_zone(subnets[str(id_)]) for id_ in _list(view.get("subnetIds")) if str(id_) in subnets]
        found.append(
            Group(
                pool=str(view["nodeGroupName"]),
                desired=int(cast("int", sizes.get("desiredSize") or 0)),
                min=int(cast("int", sizes.get("minSize") or 0)),
                max=int(cast("int", sizes.get("maxSize") or 0)),
                type=type_,
                zones=tuple(zones),
                labels={key: str(value) for key, value in _mapping(view.get("labels")).items()},
                taints=tuple(
                    {key: str(word) for key, word in _mapping(taint).items()} for taint in _list(view.get("taints"))
                ),
                network="efa" if template and _has_efa(template) else "plain",
            )
        )
    return found


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
        fresh = note.with_suffix(".new")
        fresh.write_text(json.dumps(now))
        fresh.replace(note)
    return done


def _grow(table: NodeTable, group: Group, have: int) -> None:
    """Spread over the zones in turn, as an Auto Scaling group does."""
    if not group.zones:
        return
    counts = dict.fromkeys(group.zones, 0)
    for number in range(have, group.desired):
        counts[group.zones[number % len(group.zones)]] += 1
    for zone, count in counts.items():
        if count:
            table.add(
                count, group.type, zone, group.pool, labels=group.labels, taints=group.taints, network=group.network
            )


def _shape(group: object) -> object:
    return {**group, "desired": 0, "min": 0, "max": 0} if isinstance(group, Mapping) else None


def _zone(subnet: Resource) -> str:
    return zone_id(str(subnet.view.get("availabilityZoneId") or subnet.view.get("availabilityZone")))


def _has_efa(template: Resource) -> bool:
    interfaces = [_mapping(entry) for entry in _list(template.view.get("networkInterfaces"))]
    return any(str(entry.get("interfaceType", "")).startswith("efa") for entry in interfaces)


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Json) -> Sequence[Json]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()
