"""Fake nodes for the servers in the account's file: all of them in an on-prem cluster, else those that joined."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from gpufleet_rehearsal.cloud.store import Store
from gpufleet_rehearsal.onprem_cluster import JOINED, NODES


class ServerTable(Protocol):
    """What tools/kubernetes/nodes.py offers."""

    def add_own(self, servers: Sequence[Mapping[str, Any]]) -> list[str]: ...

    def own(self) -> dict[str, int]: ...

    def remove(self, names: Sequence[str]) -> None: ...


def follow(store: Store, table: ServerTable) -> list[str]:
    """Bring the nodes to what the file says; what was done, a line each. A server with other GPUs is another one.

    A server that the file does not name any more is gone like a machine that was switched off: what ran on it is lost.
    """
    text = store.fact(NODES)
    if text is None:
        return []
    servers = {str(server["name"]): server for server in json.loads(text)}
    wanted = {str(node["name"]): node for node in _nodes(servers, store.fact(JOINED))}
    there = table.own()
    gone = [name for name, gpus in there.items() if name not in wanted or wanted[name]["gpus"] != gpus]
    new = [node for name, node in wanted.items() if name not in there or name in gone]
    table.remove(gone)
    table.add_own(new)
    return [f"on-prem servers: {len(there)} -> {len(wanted)} nodes"] if gone or new else []


def _nodes(servers: Mapping[str, dict[str, Any]], joined: str | None) -> list[dict[str, Any]]:
    """What the nodes of the servers are to be: as they are, or with name, labels and taints that they joined with."""
    if not joined:
        return list(servers.values())
    return [servers[name] | node for name, node in json.loads(joined).items() if name in servers]
