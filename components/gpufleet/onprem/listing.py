"""The nodes of a cluster and the servers that have not joined it, a row each. Pure: of objects as the API has them."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from gpufleet.aws.join_script import SERVER_LABEL
from gpufleet.onprem.servers import Server

LABEL = "gpufleet.dev/"
_GPU = "nvidia.com/gpu"
READY, NOT_READY, NOT_JOINED = "ready", "not ready", "not joined"


@dataclass(frozen=True)
class ServerRow:
    """A node. server: what the configuration calls it, where it is an own one. gpus: that it offers to pods now.

    state: ready, not ready or not joined. cordoned: whether it takes no further pods.
    """

    node: str
    server: str
    pool: str
    gpu: str
    gpus: int
    place: str
    zone: str
    state: str
    cordoned: bool


def rows(nodes: Iterable[Mapping[str, Any]], servers: Mapping[str, Server]) -> list[ServerRow]:
    """One for each node with a pool, and one for each server that has not joined; by pool and name."""
    there = [_row(node) for node in nodes]
    joined = {row.server for row in there}
    missing = [_absent(server) for name, server in servers.items() if name not in joined]
    found = [row for row in there if row.pool] + missing
    return sorted(found, key=lambda row: (row.pool, row.server or row.node, row.node))


def as_json(found: Iterable[ServerRow]) -> list[dict[str, object]]:
    """The same as plain data."""
    return [asdict(row) for row in found]


def lines(found: Iterable[ServerRow]) -> list[str]:
    """The same as a table."""
    table = [("NODE", "SERVER", "POOL", "GPU", "PLACE", "ZONE", "STATE")]
    for row in found:
        gpu = f"{row.gpus} x {row.gpu}" if row.gpu else str(row.gpus)
        state = f"{row.state}, cordoned" if row.cordoned else row.state
        table.append((row.node or "-", row.server or "-", row.pool, gpu, row.place or "-", row.zone or "-", state))
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in table]


def _row(node: Mapping[str, Any]) -> ServerRow:
    metadata, status = node.get("metadata", {}), node.get("status", {})
    labels = metadata.get("labels") or {}
    ready = any(each.get("type") == "Ready" and each.get("status") == "True" for each in status.get("conditions") or ())
    return ServerRow(
        node=str(metadata.get("name", "")),
        server=str(labels.get(SERVER_LABEL, "")),
        gpus=int((status.get("allocatable") or {}).get(_GPU, 0)),
        state=READY if ready else NOT_READY,
        cordoned=bool(node.get("spec", {}).get("unschedulable")),
        **_of_labels(labels),
    )


def _absent(server: Server) -> ServerRow:
    return ServerRow(
        node="", server=server.name, gpus=0, state=NOT_JOINED, cordoned=False, **_of_labels(server.labels)
    )  # fmt: skip


def _of_labels(labels: Mapping[str, str]) -> dict[str, str]:
    names = {"pool": "pool", "gpu": "gpu", "place": "place", "zone": "zone-id"}
    return {word: str(labels.get(f"{LABEL}{label}", "")) for word, label in names.items()}
