"""Clusters behind the contexts of a kubeconfig: their GPUs, what runs on them, and whether it computes.

Read through the API server alone: exporters' figures come by its proxy to their pods, so that nothing else of a cluster
has to be reachable. Every request has a time limit: a cluster that does not answer is listed as unreachable.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from queue import Empty, Queue
from threading import Thread
from time import monotonic
from typing import Any, TypedDict

from gpufleet.documents.json import parse_json
from gpufleet.errors import UserError
from gpufleet.fleet.bad_nodes import BadNode, bad_nodes
from gpufleet.fleet.gpu_jobs import GPU, GpuJob, gpus_of, running_jobs
from gpufleet.fleet.gpu_metrics import GpuUse, gpu_uses
from gpufleet.fleet.kubeconfig import host_of
from gpufleet.fleet.node_pools import NodePool, node_pools
from gpufleet.jobs.kubernetes.api import KubernetesApi, KubernetesUnreachable

ANSWER_SECONDS = 10.0
"""For all of a cluster. A list of 500 pods takes one or two seconds."""
_EXPORTERS = ("dcgm-exporter", "nvidia-gpu-exporter")
_EXPORTER_PORT = 9400


class _Listing(TypedDict, total=False):
    items: list[dict[str, Any]] | None


_MOST_BYTES = 64_000_000
_AT_ONCE = 8


@dataclass(frozen=True)
class ClusterState:
    """A context and the state of its cluster, or an environment whose jobs run elsewhere.

    gpus: of all nodes; fault: why it is unknown. exporters: number of all; silent: number of those asked that did not
    answer. pools: of its nodes with GPUs. on: what runs the jobs; elsewhere than on Kubernetes neither GPUs nor
    exporters nor pools are known.
    """

    context: str
    host: str
    gpus: int = 0
    jobs: tuple[GpuJob, ...] = ()
    exporters: int = 0
    silent: int = 0
    pools: tuple[NodePool, ...] = ()
    fault: str = ""
    on: str = "kubernetes"
    bad_nodes: tuple[BadNode, ...] = ()


def query_clusters(kubeconfigs: Mapping[str, Mapping[str, Any]], seconds: float = ANSWER_SECONDS) -> list[ClusterState]:
    """Query all clusters in parallel. One that does not answer within `seconds` has a fault."""
    answers: Queue[ClusterState] = Queue()
    hosts = {context: host_of(kubeconfig) for context, kubeconfig in kubeconfigs.items()}
    for context, kubeconfig in kubeconfigs.items():
        nothing = ClusterState(context, hosts[context])
        # Daemons: whatever still waits for a cluster ends with the command.
        Thread(
            target=lambda *of: answers.put(query_cluster(*of)), args=(nothing, kubeconfig, seconds), daemon=True
        ).start()
    found: dict[str, ClusterState] = {}
    end = monotonic() + seconds
    while len(found) < len(kubeconfigs):
        try:
            answer = answers.get(timeout=max(0.0, end - monotonic()))
        except Empty:
            break
        found[answer.context] = answer
    return [found.get(context) or ClusterState(context, host, fault=_late(seconds)) for context, host in hosts.items()]


def query_job(api: KubernetesApi, namespace: str, name: str, seconds: float = ANSWER_SECONDS) -> GpuJob | None:
    """A running job, with what its GPUs do; None where it has no running pods with GPUs. Errors: UserError, also for
    a user who may not list the pods of exporters."""
    end = monotonic() + seconds
    left: Callable[[], float] = lambda: max(0.1, end - monotonic())  # noqa: E731
    pods = listed_objects(api, f"/api/v1/namespaces/{namespace}/pods", left())
    found = next((each for each in running_jobs(pods, {}) if each.name == name), None)
    if found is None:
        return None
    nodes = {pod["spec"].get("nodeName") for pod in pods if gpus_of(pod)}
    others = listed_objects(api, "/api/v1/pods", left())
    exporters = [each for each in others if _is_exporter(each) and each["spec"].get("nodeName") in nodes]
    return next(each for each in running_jobs(pods, _uses(api, exporters, left)) if each.name == name)


def _late(seconds: float) -> str:
    return f"did not answer within {seconds:g} s"


def query_cluster(nothing: ClusterState, kubeconfig: object, seconds: float = ANSWER_SECONDS) -> ClusterState:
    """The state of a cluster, or the fault for which it is unknown. nothing: the same cluster without any facts.

    kubeconfig: as `KubernetesApi.of` takes it.
    """
    end = monotonic() + seconds
    try:
        api = KubernetesApi.of(kubeconfig, nothing.context)
        left: Callable[[], float] = lambda: max(0.1, end - monotonic())  # noqa: E731
        nodes, pods = (listed_objects(api, f"/api/v1/{kind}", left()) for kind in ("nodes", "pods"))
        exporters = [each for each in pods if _is_exporter(each) and each["status"].get("phase") == "Running"]
        busy = {pod["spec"].get("nodeName") for pod in pods if gpus_of(pod)}
        asked = [each for each in exporters if each["spec"].get("nodeName") in busy]
        uses = _uses(api, asked, left)
        return replace(
            nothing,
            gpus=sum(int(node["status"].get("capacity", {}).get(GPU, 0)) for node in nodes),
            jobs=tuple(running_jobs(pods, uses)),
            exporters=len(exporters),
            silent=len(asked) - len(uses),
            pools=tuple(node_pools(nodes, pods)),
            bad_nodes=tuple(bad_nodes(nodes)),
        )
    except UserError as error:
        if monotonic() >= end:
            return replace(nothing, fault=_late(seconds))
        return replace(nothing, fault=str(error).removeprefix(f"{nothing.context}: "))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return replace(nothing, fault=f"does not answer like Kubernetes: {type(error).__name__} {error}")


def _uses(
    api: KubernetesApi, exporters: Sequence[Mapping[str, Any]], left: Callable[[], float]
) -> dict[str, Sequence[GpuUse]]:
    """What each exporter says, by its node; those that do not answer in time are left out."""

    def ask(pod: Mapping[str, Any]) -> tuple[str, Sequence[GpuUse]] | None:
        meta = pod["metadata"]
        path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}:{_port(pod)}/proxy/metrics"
        try:
            return pod["spec"]["nodeName"], list(gpu_uses(answer_text(api, path, left() / 2)))
        except UserError:
            return None

    workers = ThreadPoolExecutor(_AT_ONCE)
    try:
        return dict(filter(None, workers.map(ask, exporters, timeout=left())))
    except TimeoutError:
        return {}
    finally:
        workers.shutdown(wait=False, cancel_futures=True)


def _is_exporter(pod: Mapping[str, Any]) -> bool:
    labels: Iterable[str] = (pod["metadata"].get("labels") or {}).values()
    return any(label.endswith(name) for label in labels for name in _EXPORTERS)


def _port(pod: Mapping[str, Any]) -> int:
    """The port of an exporter's metrics: the one of that name, else its first, else that of DCGM's exporter."""
    ports = [port for each in pod["spec"].get("containers") or [] for port in each.get("ports") or []]
    named = [each for each in ports if each.get("name") == "metrics"] or ports
    return int(named[0]["containerPort"]) if named else _EXPORTER_PORT


def listed_objects(api: KubernetesApi, path: str, seconds: float) -> list[dict[str, Any]]:
    """The objects of a listing. Errors: UserError."""
    return parse_json(answer_text(api, path, seconds), f"{api.where}: {path}", shape=_Listing).get("items") or []


def answer_text(api: KubernetesApi, path: str, seconds: float) -> str:
    """An answer as text, within a time and a size. Errors: UserError."""
    end, parts, size = monotonic() + seconds, [], 0
    with api.stream(path, seconds) as chunks:
        for chunk in chunks:
            parts.append(chunk)
            size += len(chunk)
            if size > _MOST_BYTES or monotonic() > end:
                raise KubernetesUnreachable(f"{api.where}: {path}: its answer is too long or too slow")
    return b"".join(parts).decode("utf-8", "replace")
