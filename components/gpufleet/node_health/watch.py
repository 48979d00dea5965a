"""One look after another at the nodes of a cluster."""

import json
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from .cluster import ClusterError, PodCluster, metrics_of, node_path
from .decisions import NodeDecision, decide, work_ends_before
from .gpu_faults import NodeFault
from .node_faults import GPU, Expected, age_of, faults_of, is_gpu_node, moment_of

_AT_ONCE = 16
_PORT = 9400
_NAMES = ("dcgm-exporter", "nvidia-dcgm-exporter")
"""Of gpufleet's DaemonSet and chart, and of the GPU operator: label app.kubernetes.io/name, or app."""


class NodeWatch:
    """lasting: how long devices must be missing before they count; young: the age of a node at which its devices have
    to be there. percent: the most of a pool that is cordoned."""

    def __init__(
        self, cluster: PodCluster, expected: Expected, percent: int, lasting: timedelta, young: timedelta, evict: bool
    ) -> None:
        self._cluster, self._expected, self._percent = cluster, expected, percent
        self._lasting, self._young, self._evict = lasting, young, evict
        self._first: dict[tuple[str, str], datetime] = {}
        self._silent: set[str] = set()
        self._nodes: list[dict[str, Any]] = []

    def look(self) -> list[NodeDecision]:
        """Judge every GPU node once, and do what was decided. Errors: ClusterError."""
        now = datetime.now(UTC)
        nodes = self._nodes = [node for node in self._cluster.listed("/api/v1/nodes") if is_gpu_node(node)]
        asked, metrics = self._metrics()
        found = {}
        for node in nodes:
            name = node["metadata"]["name"]
            faults = faults_of(node, metrics.get(name, ""), self._expected)
            found[name] = [each for each in faults if self._counts(node, each, now)]
            self._forget(name, faults)
        names = {node["metadata"]["name"] for node in nodes}
        self._say_silent(names - set(metrics))
        # In a cluster without exporters, nodes are judged by their devices and conditions alone.
        decisions = list(decide(nodes, found, now, self._percent, names - set(metrics) if asked else ()))
        for decision in decisions:
            self._do(decision, now)
        if self._evict:
            self._end_work(decisions, found)
        return decisions

    def _counts(self, node: Mapping[str, Any], fault: NodeFault, now: datetime) -> bool:
        if fault.ends_work:
            return True
        since = self._first.setdefault((node["metadata"]["name"], fault.key), now)
        return age_of(node, now) >= self._young and now - since >= self._lasting

    def _forget(self, name: str, faults: Sequence[NodeFault]) -> None:
        there = {each.key for each in faults}
        for node, key in [*self._first]:
            if node == name and key not in there:
                del self._first[node, key]

    def _metrics(self) -> tuple[bool, dict[str, str]]:
        """Whether there are exporters, and node to its metrics; without those that do not answer."""
        query = urlencode({"labelSelector": f"app.kubernetes.io/name in ({','.join(_NAMES)})"})
        pods = self._cluster.listed(f"/api/v1/pods?{query}")
        query = urlencode({"labelSelector": f"app in ({','.join(_NAMES)})"})
        pods += self._cluster.listed(f"/api/v1/pods?{query}")
        there = {pod["spec"]["nodeName"]: pod for pod in pods if pod.get("status", {}).get("podIP")}
        with ThreadPoolExecutor(_AT_ONCE) as workers:
            told = {node: text for node, text in workers.map(_asked, there.items()) if text is not None}
        return bool(there), told

    def _do(self, decision: NodeDecision, now: datetime) -> None:
        say(f"{decision.node}: {decision.word}: {decision.line}")
        try:
            self._cluster.patch(node_path(decision.node), decision.patch)
        except ClusterError as error:
            # One node that is gone, or that an admission rule protects, keeps nobody from the others.
            say(f"{decision.node}: not patched: {error}")
            return
        self._event(decision, now)

    def _end_work(self, decisions: Sequence[NodeDecision], found: Mapping[str, Sequence[NodeFault]]) -> None:
        """End what runs on broken GPUs. By the records on nodes, so that a restart of this program loses none."""
        for node in self._cluster.listed("/api/v1/nodes") if decisions else self._nodes:
            name = node["metadata"]["name"]
            before = work_ends_before(node, found.get(name, ()))
            if before:
                self._evict_pods(name, before)

    def _evict_pods(self, node: str, before: datetime) -> None:
        """Evict the pods with GPUs on a node, so that their jobs begin again elsewhere."""
        query = urlencode({"fieldSelector": f"spec.nodeName={node}"})
        for pod in self._cluster.listed(f"/api/v1/pods?{query}"):
            meta = pod["metadata"]
            ended = pod.get("status", {}).get("phase") in ("Succeeded", "Failed") or "deletionTimestamp" in meta
            if ended or not _uses_gpus(pod) or moment_of(meta["creationTimestamp"]) > before:
                continue
            name = {"name": meta["name"], "namespace": meta["namespace"]}
            eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": name}
            path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/eviction"
            try:
                self._cluster.create(path, eviction)
                say(f"{node}: evicted {meta['namespace']}/{meta['name']}")
            except ClusterError as error:
                # 404: it has ended. 429: a disruption budget forbids it, and its owner knows why.
                say(f"{node}: not evicted: {error}")

    def _event(self, decision: NodeDecision, now: datetime) -> None:
        moment = now.isoformat(timespec="seconds").replace("+00:00", "Z")
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"generateName": "gpufleet-node-health-", "namespace": "default"},
            "involvedObject": {"apiVersion": "v1", "kind": "Node", "name": decision.node},
            "reason": f"Gpufleet{decision.word.capitalize()}",
            "message": decision.line[:1000],
            "type": "Warning" if decision.word in ("cordon", "record") else "Normal",
            "source": {"component": "gpufleet-node-health"},
            "firstTimestamp": moment,
            "lastTimestamp": moment,
            "count": 1,
        }
        try:
            self._cluster.create("/api/v1/namespaces/default/events", event)
        except ClusterError as error:
            say(f"{decision.node}: no event: {error}")

    def _say_silent(self, silent: set[str]) -> None:
        if silent != self._silent:
            words = f"no metrics of {', '.join(sorted(silent))}" if silent else "metrics of every GPU node"
            say(words)
            self._silent = silent


def _asked(entry: tuple[str, Mapping[str, Any]]) -> tuple[str, str | None]:
    node, pod = entry
    ports = [port for each in pod["spec"].get("containers") or [] for port in each.get("ports") or []]
    named = [each for each in ports if each.get("name") == "metrics"] or ports
    try:
        return node, metrics_of(pod["status"]["podIP"], int(named[0]["containerPort"]) if named else _PORT)
    except ClusterError:
        return node, None


def _uses_gpus(pod: Mapping[str, Any]) -> bool:
    limits = [each.get("resources", {}).get("limits", {}) for each in pod["spec"].get("containers") or []]
    return any(GPU in each for each in limits)


def say(line: str) -> None:
    print(
        json.dumps({"time": datetime.now(UTC).isoformat(timespec="seconds"), "line": line}), file=sys.stderr, flush=True
    )
