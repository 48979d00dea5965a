"""Fake nodes of a control plane: GPU nodes by catalog type and zone id, added and taken away.

`nodes.yaml` for `cluster.py up --nodes FILE` is a list of what `Nodes.add` takes:

    - {count: 2, type: p5.48xlarge, zone: use1-az1, pool: trainers, network: efa}
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import yaml

from gpufleet.catalog import AwsGpuType, AzureGpuSize, aws, azure
from gpufleet.catalog.network_layers import network_layers
from gpufleet.pools.eks_pool import Taint
from tools.kubernetes import aks_node, eks_node, own_node
from tools.kubernetes.api_client import ApiClient
from tools.kubernetes.fake_node import DEVICES, GPU, POOL_LABEL, Machine

SYSTEM_ZONE, SYSTEM_TYPE, SYSTEM_POOL = "use1-az1", "m6i.large", "system"
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
        machine: Mapping[str, Any] | None = None,
        network_nodes: Sequence[str] = (),
    ) -> list[str]:
        """Make `count` more nodes of a GPU pool; returns their names.

        type: of the catalog, AWS's or Azure's. zone: id, for instance use1-az1 or eastus-1. labels, taints: all of the
        node group's; default: those of a gpufleet pool of that name. network: plain or efa. words: capacity and
        placement, for the labels. machine: fields of `fake_node.Machine`; default: those of a gpufleet pool with that
        network, in a cluster whose device plugins run at once.
        Raises UnknownNode.
        """

        def node(name: str) -> dict[str, Any]:
            return gpu_node(name, type, zone, pool, labels, taints, network, words, machine, network_nodes)

        node("refused before the server is asked for anything")
        first = self._next_number(pool)
        return self._create([node(f"{pool}-{zone}-{first + number}") for number in range(count)])

    def add_system(
        self,
        count: int,
        type: str = SYSTEM_TYPE,
        zone: str = SYSTEM_ZONE,
        pool: str = SYSTEM_POOL,
        labels: Mapping[str, str] | None = None,
        taints: Sequence[Taint] | None = None,
    ) -> list[str]:
        """Make `count` more nodes without GPUs of a node group; returns their names. Raises UnknownNode."""
        cloud = aks_node if type.startswith("Standard_") else eks_node
        first, place = self._next_number(pool), {"zone_id": zone, "region": region_of(zone), "pool": pool}
        given = {"labels": labels or {}, "taints": taints or ()}
        names = [f"{pool}-{zone}-{first + number}" for number in range(count)]
        return self._create([cloud.cpu_node(name, type, **place, **given) for name in names])

    def add_own(self, servers: Iterable[Mapping[str, Any]]) -> list[str]:
        """Make nodes of own servers, each with the arguments of `own_node.own_node`; returns their names."""
        return self._create([own_node.own_node(**server) for server in servers])

    def own(self) -> dict[str, int]:
        """GPUs in each own server, by its node's name."""
        return {
            node["metadata"]["name"]: json.loads(node["metadata"]["annotations"][DEVICES]).get(GPU, 0)
            for node in self.of_pool(own_node.OWN)
        }

    def remove(self, names: Iterable[str]) -> None:
        """Take nodes away, as a cloud does with instances: what ran on them is deleted by the controllers."""
        with ThreadPoolExecutor(AT_ONCE) as threads:
            list(threads.map(lambda name: self._client.delete(f"/api/v1/nodes/{name}"), names))

    def of_pool(self, pool: str) -> list[dict[str, Any]]:
        """The nodes of one pool, by name."""
        query = {"labelSelector": f"{POOL_LABEL}={pool}"}
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


def gpu_node(
    name: str,
    type: str,
    zone: str,
    pool: str,
    labels: Mapping[str, str] | None = None,
    taints: Sequence[Taint] | None = None,
    network: str = "plain",
    words: Mapping[str, str] | None = None,
    machine: Mapping[str, Any] | None = None,
    network_nodes: Sequence[str] = (),
) -> dict[str, Any]:
    """The Node object of one more node, as `Nodes.add` describes it. Raises UnknownNode."""
    record = gpu_type(type)
    region = region_of(zone)
    place = {"zone_id": zone, "region": region, "pool": pool}
    given = None if machine is None else Machine(**machine)
    if isinstance(record, AzureGpuSize):
        own = given or aks_node.MACHINE_OF_POOL
        return aks_node.gpu_node(name, record, **place, machine=own, words=words, labels=labels, taints=taints)
    if network not in ("plain", "efa"):
        raise UnknownNode(f"network={network}: legal: plain, efa")
    layers = network_layers().get(type, 0)
    if network_nodes and len(network_nodes) != layers:
        raise UnknownNode(f"network_nodes={list(network_nodes)}: {type} has {layers} layers of the network")
    own = given or eks_node.machine_of_pool(record, efa=network == "efa")
    return eks_node.gpu_node(
        name, record, **place, machine=own, words=words, labels=labels, taints=taints, network_nodes=network_nodes
    )


def gpu_type(type: str) -> AwsGpuType | AzureGpuSize:
    """The catalog's record. Raises UnknownNode."""
    record = aws().types.get(type) or azure().types.get(type)
    if record is None:
        raise UnknownNode(f"type={type}: not in the catalog; `gpufleet catalog list` has the types")
    return record


def region_of(zone: str) -> str:
    """The region of a zone id. Raises UnknownNode."""
    for catalog in (aws(), azure()):
        for region, zones in catalog.regions.items():
            # AKS says eastus-0 of a node in no zone.
            if zone in zones or zone == f"{region}-0":
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
