"""A stand-in for the cluster autoscaler: pools of fake nodes grow for pods that find no room, and shrink when idle.

It is not the real one, whose Go module no proxy serves (facts of 2026-11). What it does is what the real one's FAQ says
of scale-up from templates and of scale-down of empty nodes; it does not drain nodes, and tries no second pool when one
does not come up. https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md
What a node would be like it learns as the real one: of a node that is there, else of what is known of the node group.

`autoscaler.py KUBECONFIG POOLS [--idle SECONDS] [--boot SECONDS]`, where POOLS is a YAML list of

    - {pool: trainers, type: p5.48xlarge, zone: use1-az1, network: efa, min: 0, max: 8}
"""

import argparse
import base64
import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from gpufleet.aws.autoscaler_tags import resource_tags, taint_tags
from gpufleet.catalog import AzureGpuSize
from gpufleet.pools.eks_pool import Taint
from gpufleet.pools.node_labels import GPU_TAINT, node_labels
from tools.kubernetes.api_client import ApiClient, ApiRefused, ApiSilent
from tools.kubernetes.empty_group import made_up_node
from tools.kubernetes.nodes import Nodes, gpu_node, gpu_type, region_of
from tools.kubernetes.scheduling import free, may_run, requests, take

SCAN_SECONDS = 0.5
"""The real one looks every 10 s."""

Object = Mapping[str, Any]


@dataclass
class Pool:
    """A node group that may grow and shrink. words, labels, taints: as for Nodes.add.

    tags, scaling_tags: those of the node group and of its Auto Scaling group; default: those of a gpufleet pool.
    """

    pool: str
    type: str
    zone: str
    max: int
    min: int = 0
    network: str = "plain"
    words: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] | None = None
    taints: Sequence[Taint] | None = None
    tags: Mapping[str, str] | None = None
    scaling_tags: Mapping[str, str] | None = None

    def template(self) -> Object:
        """What an autoscaler takes the next node for as long as there is none."""
        record = gpu_type(self.type)
        if isinstance(record, AzureGpuSize):
            # Microsoft does not publish how its own autoscaler makes up a node.
            return gpu_node(
                "template", self.type, self.zone, self.pool, self.labels, self.taints, self.network, self.words
            )
        words = {"network": self.network, **self.words}
        taints = [GPU_TAINT] if self.taints is None else self.taints
        return made_up_node(
            record,
            zone_id=self.zone,
            region=region_of(self.zone),
            group=self.pool,
            labels=node_labels(self.pool, [record.gpu_model], [self.zone], words)
            if self.labels is None
            else self.labels,
            taints=taints,
            tags=resource_tags([record], efa=self.network == "efa") if self.tags is None else self.tags,
            scaling_tags=taint_tags(taints) if self.scaling_tags is None else self.scaling_tags,
        )


def missing_nodes(pending: Sequence[Object], pools: Sequence[tuple[Pool, Object, int, list[Any]]]) -> dict[str, int]:
    """How many nodes to add, by pool. Pure.

    pools: each with its template, its number of nodes, and what is left on each of its nodes. A pod for which there is
    room needs none: the scheduler is only slower than we are. A pod that fits nowhere is left to wait.
    """
    added: dict[str, int] = defaultdict(int)
    for pod in pending:
        wish = requests(pod)
        for pool, template, count, lefts in pools:
            if not may_run(pod, template):
                continue
            if any(take(wish, left) for left in lefts):
                break
            fresh = free(template, ())
            if count + added[pool.pool] < pool.max and take(wish, fresh):
                added[pool.pool] += 1
                lefts.append(fresh)
                break
    return {name: number for name, number in added.items() if number}


class Autoscaler:
    """Looks at one cluster, and changes its nodes."""

    def __init__(self, client: ApiClient, pools: Sequence[Pool], idle_seconds: float, boot_seconds: float) -> None:
        """idle_seconds: after which an empty node goes. boot_seconds: that an instance takes to become a node."""
        self._client, self._pools = client, pools
        self._idle, self._boot = idle_seconds, boot_seconds
        self._nodes = Nodes(client)
        self._empty_since: dict[str, float] = {}
        self._booting: list[tuple[float, Pool]] = []

    def scan(self, now: float) -> None:
        """One look. now: seconds of a clock that only goes forward. Raises ApiRefused and ApiSilent."""
        for begun, pool in [each for each in self._booting if now - each[0] >= self._boot]:
            self._booting.remove((begun, pool))
            [name] = self._nodes.add(
                1, pool.type, pool.zone, pool.pool, pool.labels, pool.taints, pool.network, pool.words
            )
            print(f"{pool.pool}: node {name} is there", flush=True)
        pods = self._client.get("/api/v1/pods")["items"]
        on_node: dict[str, list[Object]] = defaultdict(list)
        for pod in pods:
            on_node[pod["spec"].get("nodeName", "")].append(pod)
        table = []
        for pool in self._pools:
            nodes = self._nodes.of_pool(pool.pool)
            template = nodes[0] if nodes else pool.template()
            coming = sum(each is pool for _, each in self._booting)
            lefts = [free(node, on_node[node["metadata"]["name"]]) for node in nodes]
            lefts += [free(template, ()) for _ in range(coming)]
            table.append((pool, template, len(nodes) + coming, lefts))
            self._shrink(pool, nodes, on_node, now)
        pending = [pod for pod in on_node[""] if _unschedulable(pod)]
        for name, count in missing_nodes(pending, table).items():
            pool = next(each for each in self._pools if each.pool == name)
            self._booting += [(now, pool)] * count
            print(f"{name}: {len(pending)} pods wait; {count} nodes more", flush=True)

    def _shrink(self, pool: Pool, nodes: Sequence[Object], on_node: Mapping[str, list[Object]], now: float) -> None:
        empty = [node["metadata"]["name"] for node in nodes if not any(map(_holds, on_node[node["metadata"]["name"]]))]
        for node in nodes:
            name = node["metadata"]["name"]
            if name in empty:
                self._empty_since.setdefault(name, now)
            else:
                self._empty_since.pop(name, None)
        spare = len(nodes) - pool.min
        gone = [name for name in empty if now - self._empty_since[name] >= self._idle][: max(0, spare)]
        self._nodes.remove(gone)
        for name in gone:
            del self._empty_since[name]
            print(f"{pool.pool}: node {name} was idle for {self._idle:.0f} s; taken away", flush=True)


def _unschedulable(pod: Object) -> bool:
    return any(
        each["type"] == "PodScheduled" and each.get("reason") == "Unschedulable"
        for each in pod.get("status", {}).get("conditions", ())
    )


def _holds(pod: Object) -> bool:
    """Whether a pod keeps its node: it has not ended, and no DaemonSet makes it on every node."""
    if pod.get("status", {}).get("phase") in ("Succeeded", "Failed"):
        return False
    return not any(owner["kind"] == "DaemonSet" for owner in pod["metadata"].get("ownerReferences", ()))


def client_of(kubeconfig: Path) -> ApiClient:
    """A client with a kubeconfig as ControlPlane writes it."""
    read = json.loads(kubeconfig.read_text(encoding="utf-8"))
    cluster = read["clusters"][0]["cluster"]
    with tempfile.NamedTemporaryFile(suffix=".crt") as authority:
        authority.write(base64.b64decode(cluster["certificate-authority-data"]))
        authority.flush()
        return ApiClient(cluster["server"], read["users"][0]["user"]["token"], Path(authority.name))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kubeconfig", type=Path)
    parser.add_argument("pools", type=Path)
    parser.add_argument("--idle", type=float, default=10.0)
    parser.add_argument("--boot", type=float, default=2.0)
    words = parser.parse_args()
    pools = [Pool(**row) for row in yaml.safe_load(words.pools.read_text(encoding="utf-8"))]
    scaler = Autoscaler(client_of(words.kubeconfig), pools, words.idle, words.boot)
    while True:
        try:
            scaler.scan(time.monotonic())
        except (ApiRefused, ApiSilent, ValueError) as problem:
            print(f"autoscaler: {problem}", flush=True)
        time.sleep(SCAN_SECONDS)


if __name__ == "__main__":
    main()
