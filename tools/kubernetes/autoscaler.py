"""A stand-in for the cluster autoscaler: pools of fake nodes grow for pods that find no room, and shrink when idle.

It is not the real one, whose Go module no proxy serves (facts of 2026-11). What it does is what the real one's FAQ says
of scale-up from templates and of scale-down of empty nodes; it does not drain nodes, and tries no second pool when one
does not come up. https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md
What it knows is what the real one knows:
- what the next node of a group will be like: as one that is Ready for a minute or was, else as the node that it makes
  up (empty_group.py). The real one remembers a node of a group for ten years unless `node-info-cache-expire-time` is
  set, so after a change of an empty pool's labels it has to be restarted
  (processors/nodeinfosprovider/mixed_nodeinfos_processor.go, kubernetes/autoscaler#4669); so has this one.
- that a Ready node will have GPUs that it has not yet: by a label only, `k8s.amazonaws.com/accelerator` or AKS's. Such
  a node counts as one that is still starting; without the label more are added while its device plugin starts
  (processors/customresources/gpu_processor.go, GPULabel of both providers).
- of EKS's labels and taints nothing, where it may not call eks:DescribeNodegroup: for six minutes after a failure the
  group counts as one without any (cloudprovider/aws/managed_nodegroup_cache.go). That is not played.

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
from tools.kubernetes.empty_group import made_up_aks_node, made_up_node
from tools.kubernetes.fake_node import GPU
from tools.kubernetes.nodes import Nodes, gpu_type, region_of
from tools.kubernetes.scheduling import free, may_run, requests, take

SCAN_SECONDS = 0.5
"""The real one looks every 10 s."""
STABLE_SECONDS = 60.0
"""After which a node that is Ready is an example of its group: stabilizationDelay of mixed_nodeinfos_processor.go."""
GPU_LABELS = ("k8s.amazonaws.com/accelerator", "kubernetes.azure.com/accelerator")
"""Source: GPULabel in cluster-autoscaler/cloudprovider/aws/aws_cloud_provider.go and azure/azure_cloud_provider.go."""

Object = Mapping[str, Any]


@dataclass
class Pool:
    """A node group that may grow and shrink. words, labels, taints, machine: as for Nodes.add.

    capacity: nodes that its cloud gives; what is requested beyond them does not come. Default: all.
    tags, scaling_tags: those of the node group and of its Auto Scaling group; default: those of a gpufleet pool.
    """

    pool: str
    type: str
    zone: str
    max: int
    min: int = 0
    capacity: int | None = None
    network: str = "plain"
    words: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] | None = None
    taints: Sequence[Taint] | None = None
    tags: Mapping[str, str] | None = None
    scaling_tags: Mapping[str, str] | None = None
    machine: Mapping[str, Any] | None = None

    def template(self) -> Object:
        """What an autoscaler takes the next node for as long as there is none."""
        record = gpu_type(self.type)
        words, place = {"network": self.network, **self.words}, {"zone_id": self.zone, "region": region_of(self.zone)}
        own = node_labels(self.pool, [record.gpu_model], [self.zone], words) if self.labels is None else self.labels
        taints = [GPU_TAINT] if self.taints is None else self.taints
        if isinstance(record, AzureGpuSize):
            return made_up_aks_node(record, **place, pool=self.pool, labels=own, taints=taints, tags=self.tags or {})
        return made_up_node(
            record,
            **place,
            group=self.pool,
            labels=own,
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
        self._ready_since: dict[str, float] = {}
        self._examples: dict[str, Object] = {}

    def scan(self, now: float) -> None:
        """One look. now: seconds of a clock that only goes forward. Raises ApiRefused and ApiSilent."""
        for begun, pool in [each for each in self._booting if now - each[0] >= self._boot]:
            if pool.capacity is not None and len(self._nodes.of_pool(pool.pool)) >= pool.capacity:
                continue
            self._booting.remove((begun, pool))
            [name] = self._nodes.add(
                1, pool.type, pool.zone, pool.pool, pool.labels, pool.taints, pool.network, pool.words, pool.machine
            )
            print(f"{pool.pool}: node {name} is there", flush=True)
        pods = self._client.get("/api/v1/pods")["items"]
        on_node: dict[str, list[Object]] = defaultdict(list)
        for pod in pods:
            on_node[pod["spec"].get("nodeName", "")].append(pod)
        table = []
        for pool in self._pools:
            nodes = self._nodes.of_pool(pool.pool)
            template = self._template(pool, nodes, now)
            coming = sum(each is pool for _, each in self._booting)
            starting = [node for node in nodes if _waits_for_gpus(node)]
            lefts = [free(node, on_node[node["metadata"]["name"]]) for node in nodes if node not in starting]
            lefts += [free(template, ()) for _ in range(coming + len(starting))]
            table.append((pool, template, len(nodes) + coming, lefts))
            self._shrink(pool, nodes, on_node, now)
        pending = [pod for pod in on_node[""] if _unschedulable(pod)]
        for name, count in missing_nodes(pending, table).items():
            pool = next(each for each in self._pools if each.pool == name)
            self._booting += [(now, pool)] * count
            print(f"{name}: {len(pending)} pods wait; {count} nodes more", flush=True)

    def _template(self, pool: Pool, nodes: Sequence[Object], now: float) -> Object:
        """What the next node of a pool will be like."""
        for node in nodes:
            name = node["metadata"]["name"]
            if not _is_ready(node) or _waits_for_gpus(node):
                self._ready_since.pop(name, None)
            elif now - self._ready_since.setdefault(name, now) >= STABLE_SECONDS:
                self._examples[pool.pool] = node
                break
        return self._examples.get(pool.pool) or pool.template()

    def _shrink(self, pool: Pool, nodes: Sequence[Object], on_node: Mapping[str, list[Object]], now: float) -> None:
        empty = [node["metadata"]["name"] for node in nodes if not any(map(_holds, on_node[node["metadata"]["name"]]))]
        for node in nodes:
            name = node["metadata"]["name"]
            # One that still starts is not idle.
            if name in empty and not _waits_for_gpus(node):
                self._empty_since.setdefault(name, now)
            else:
                self._empty_since.pop(name, None)
        spare = len(nodes) - pool.min
        gone = [name for name in empty if now - self._empty_since.get(name, now) >= self._idle][: max(0, spare)]
        self._nodes.remove(gone)
        for name in gone:
            del self._empty_since[name]
            print(f"{pool.pool}: node {name} was idle for {self._idle:.0f} s; taken away", flush=True)


def _unschedulable(pod: Object) -> bool:
    return any(
        each["type"] == "PodScheduled" and each.get("reason") == "Unschedulable"
        for each in pod.get("status", {}).get("conditions", ())
    )


def _is_ready(node: Object) -> bool:
    return any(each["type"] == "Ready" and each["status"] == "True" for each in node["status"].get("conditions", ()))


def _waits_for_gpus(node: Object) -> bool:
    """Whether its labels promise GPUs that no device plugin has told of yet."""
    promised = any(label in node["metadata"]["labels"] for label in GPU_LABELS)
    return promised and node["status"]["allocatable"].get(GPU, "0") == "0"


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
