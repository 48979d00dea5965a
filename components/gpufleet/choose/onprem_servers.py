"""On-prem servers, from the owner's YAML file."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpufleet.documents.yaml import read_yaml
from gpufleet.errors import UserError
from gpufleet.rules.messages import format_value, nearest


class ServersError(UserError):
    """An invalid list of servers; the text has one line for each fault."""


@dataclass(frozen=True, slots=True)
class PricedServers:
    """A group of identical on-prem servers.

    name: of the group. gpus, gpu_memory_gib: of one server and of one GPU. count: how many servers there are. place:
    where, as jobs ask for it. network_gbps: Ethernet or InfiniBand between them, None = not known. fabric: whether that
    is InfiniBand or RoCE. usd_per_hour: what one server costs (power, its share of the purchase); None = not known,
    and 0 only where the owner says so. nodes: what each server is called, empty = not said.
    """

    name: str
    gpu_model: str
    gpus: int
    gpu_memory_gib: float
    count: int = 1
    place: str = "onprem"
    network_gbps: float | None = None
    fabric: bool = False
    usd_per_hour: float | None = None
    nodes: tuple[str, ...] = ()


_TEXTS = ("name", "gpu_model", "place")
_WHOLE = ("gpus", "count")
_ABOVE_ZERO = ("gpu_memory_gib", "network_gbps")
_NEEDED = ("name", "gpu_model", "gpus", "gpu_memory_gib")
_FIELDS = (*_TEXTS, *_WHOLE, *_ABOVE_ZERO, "fabric", "usd_per_hour", "nodes")
_EXAMPLE = "{name: lab, gpu_model: V100, gpus: 4, gpu_memory_gib: 32, count: 2, network_gbps: 25, usd_per_hour: 0.9}"


def read_servers_file(file: Path) -> tuple[PricedServers, ...]:
    """Own servers from a YAML list. Errors: ServersError."""
    content = read_yaml(file, f"give a YAML list such as - {_EXAMPLE} [own-servers]")
    return read_servers(content, str(file))


def read_servers(content: object, where: str) -> tuple[PricedServers, ...]:
    """Own servers from a list of mappings. where: what the lines of an error begin with. Errors: ServersError."""
    if not isinstance(content, list):
        raise ServersError(f"{where}: must be a list of servers, such as - {_EXAMPLE} [own-servers]")
    faults = []
    for number, entry in enumerate(content, start=1):
        faults += [f"{where}: server {number}: {fault} [own-servers]" for fault in _faults(entry)]
    names = [entry.get("name") for entry in content if isinstance(entry, Mapping)]
    twice = sorted({str(name) for name in names if name is not None and names.count(name) > 1})
    faults += [f"{where}: name={name}: is there twice; give each group its own [own-servers]" for name in twice]
    if faults:
        raise ServersError("\n".join(faults))
    return tuple(map(_group, content))


def _group(entry: Mapping[str, Any]) -> PricedServers:
    given = {key: value for key, value in entry.items() if value is not None}
    nodes = tuple(given.pop("nodes", ()))
    return PricedServers(**({"count": len(nodes)} if nodes else {}) | given, nodes=nodes)


def _faults(entry: object) -> Sequence[str]:
    """What is wrong with one entry, each as `key=value: problem; fix`."""
    if not isinstance(entry, Mapping):
        return [f"{format_value(entry)}: must be a mapping; write {_EXAMPLE}"]
    faults = [f"{key}: is missing; write it, as in {_EXAMPLE}" for key in _NEEDED if entry.get(key) is None]
    for key, value in entry.items():
        if key not in _FIELDS:
            near = nearest(str(key), _FIELDS)
            fix = f"did you mean {near}?" if near else f"known: {', '.join(_FIELDS)}"
            faults.append(f"{format_value(key)}: unknown key; {fix}")
        elif value is not None and (wanted := _wanted(key, value)):
            faults.append(f"{key}={format_value(value)}: {wanted}")
    nodes, count = entry.get("nodes"), entry.get("count")
    if isinstance(nodes, list) and isinstance(count, int) and nodes and count != len(nodes):
        faults.append(f"count={count}: there are {len(nodes)} nodes; leave count out")
    return faults


def _wanted(key: str, value: object) -> str:
    """What a value should be instead, "" if it is right."""
    if key in _TEXTS:
        return "" if isinstance(value, str) and value.strip() else "must be a name"
    if key == "nodes":
        right = isinstance(value, list) and value and all(isinstance(each, str) and each.strip() for each in value)
        return "" if right else "must be a list of the servers' names, such as [gpu-1, gpu-2]"
    if key == "fabric":
        return "" if isinstance(value, bool) else "must be true (InfiniBand or RoCE) or false"
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if key in _WHOLE:
        return "" if number and isinstance(value, int) and value > 0 else "must be a whole number, 1 or more"
    if key == "usd_per_hour":
        right = number and float(str(value)) >= 0
        return (
            ""
            if right
            else "is not a valid price; use USD for an hour of one server, or leave it out if it is not known"
        )
    return "" if number and float(str(value)) > 0 else "is not an amount; use a number above 0"
