"""Fake nodes of a control plane: GPU nodes by catalog type and zone id, added and taken away.

`nodes.yaml` for `cluster.py up --nodes FILE` is a list of what `Nodes.add` takes:

    - {count: 2, type: p5.48xlarge, zone: use1-az1, pool: trainers, network: efa}
"""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import yaml

from api_client import ApiClient
from eks_node import gpu_node, system_node
from gpufleet.catalog import aws
from gpufleet.pool import Taint

SYSTEM_ZONE = "use1-az1"
AT_ONCE = 8
"""Requests at a time."""


class UnknownNode(Exception):
    """A node that nobody can make; the text says which argument, and what is legal."""


class Nodes:
    """The fake nodes of one API server."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    def add(
        self,
        count: int,
        type: str,
        zone: str,
        pool: str,
        labels: Mapping[str, str] | None = None,
        taints: Sequence[Taint] | None = None,
        network: str = "plain",
        words: Mapping[str, str] | None = None,
    ) -> list[str]:
        """Make `count` more nodes of a GPU pool; returns their names.

        type: of the AWS catalog. zone: id, for instance use1-az1. labels, taints: all of the node group's; default:
        those of a gpufleet pool of that name. network: plain or efa. words: capacity and placement, for the labels.
        Raises UnknownNode.
        """
        record = aws().types.get(type)
        if record is None:
            raise UnknownNode(f"type={type}: not in the catalog; `gpufleet catalog list` has the types")
        region = region_of(zone)
        if network not in ("plain", "efa"):
            raise UnknownNode(f"network={network}: legal: plain, efa")
        first = self._next_number(pool)
        made = [
            gpu_node(
                f"{pool}-{zone}-{first + number}",
                record,
                zone_id=zone,
                region=region,
                pool=pool,
                efa=network == "efa",
                words=words,
                labels=labels,
                taints=taints,
            )
            for number in range(count)
        ]
        return self._create(made)

    def add_system(self, count: int, zone: str = SYSTEM_ZONE) -> list[str]:
        """Make nodes without GPUs; returns their names."""
        first, region = self._next_number("system"), region_of(zone)
        return self._create(
            [system_node(f"system-{zone}-{first + number}", zone_id=zone, region=region) for number in range(count)]
        )

    def remove(self, names: Iterable[str]) -> None:
        """Take nodes away, as a cloud does with instances: what ran on them is deleted by the controllers."""
        with ThreadPoolExecutor(AT_ONCE) as threads:
            list(threads.map(lambda name: self._client.delete(f"/api/v1/nodes/{name}"), names))

    def of_pool(self, pool: str) -> list[dict[str, Any]]:
        """The nodes of one pool, by name."""
        query = {"labelSelector": f"eks.amazonaws.com/nodegroup={pool}"}
        return sorted(self._client.get("/api/v1/nodes", **query)["items"], key=lambda node: node["metadata"]["name"])

    def ready(self, pool: str | None = None) -> int:
        """How many nodes are Ready, of one pool or of all."""
        found = self._client.get("/api/v1/nodes")["items"] if pool is None else self.of_pool(pool)
        return sum(
            condition["type"] == "Ready" and condition["status"] == "True"
            for node in found
            for condition in node.get("status", {}).get("conditions", ())
        )

    def _next_number(self, pool: str) -> int:
        numbers = [int(node["metadata"]["name"].rpartition("-")[2]) for node in self.of_pool(pool)]
        return max(numbers, default=-1) + 1

    def _create(self, made: Sequence[Mapping[str, Any]]) -> list[str]:
        with ThreadPoolExecutor(AT_ONCE) as threads:
            answers = threads.map(lambda node: self._client.request("POST", "/api/v1/nodes", node), made)
            return [answer["metadata"]["name"] for answer in answers]


def region_of(zone: str) -> str:
    """The region of a zone id. Raises UnknownNode."""
    for region, zones in aws().regions.items():
        if zone in zones:
            return region
    raise UnknownNode(f"zone={zone}: no such zone id; for instance use1-az1, see `gpufleet catalog`")


def read_nodes(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of nodes. Raises UnknownNode with the place of what is wrong."""
    try:
        rows = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as failure:
        raise UnknownNode(f"{path}: {failure.strerror}") from None
    except yaml.YAMLError as problem:
        raise UnknownNode(f"{path}: no YAML ({' '.join(str(problem).split())})") from None
    legal = {"count", "type", "zone", "pool", "labels", "taints", "network", "words"}
    needed = {"count", "type", "zone", "pool"}
    if not isinstance(rows, list):
        raise UnknownNode(
            f"{path}: must be a list, for instance - {{count: 2, type: p5.48xlarge, zone: use1-az1, pool: trainers}}"
        )
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict) or not needed <= set(row) <= legal:
            may = ", ".join(sorted(legal - needed))
            raise UnknownNode(f"{path}: row {number}: must have {', '.join(sorted(needed))}; may have {may}")
    return rows
