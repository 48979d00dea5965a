"""An hour of a cluster as its exporters give it: two jobs of two teams, an idle node, a node with an error.

The lines are in the exporters' forms, the values are made up. Sources of the forms: NVIDIA/dcgm-exporter
(internal/pkg/rendermetrics/render_metrics.go, and recorded on H100s in its issue 512), kubernetes/kube-state-metrics
(internal/store/pod_test.go and node_test.go), the EFA exporter's README in awslabs/awsome-distributed-training
(4.validation_scripts/3.efa-node-exporter).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

START, END, STEP = 1_795_842_000, 1_795_845_600, 60
GPUS = 8


@dataclass(frozen=True)
class Node:
    """job: of its one pod, which has all of its GPUs; empty: it has none. rows: remapped in its first GPU."""

    name: str
    address: str
    pool: str
    team: str = ""
    job: str = ""
    active: float = 0.0
    xid: int = 0
    rows: int = 0

    @property
    def pod(self) -> str:
        return f"{self.job}-worker-{self.name[-1]}"


NODES = (
    Node("ip-10-0-0-1", "10.0.0.1", "h100", "language", "pretrain", 0.93),
    Node("ip-10-0-0-2", "10.0.0.2", "h100", "language", "pretrain", 0.91, xid=94, rows=1),
    Node("ip-10-0-0-3", "10.0.0.3", "h100", "vision", "finetune", 0.52),
    Node("ip-10-0-1-4", "10.0.1.4", "a10g"),
)
PRICES = {"h100": 6.88, "a10g": 2.0}
"""USD for an hour of a GPU: made up."""
JOB_LABEL = {"pretrain": "label_training_kubeflow_org_job_name", "finetune": "label_jobset_sigs_k8s_io_jobset_name"}


def scrapes(*, honor_labels: bool = True, profiling: bool = True) -> list[dict[str, Any]]:
    """Every answer of every exporter. honor_labels: how Prometheus scrapes DCGM's. profiling: whether its GPUs have
    profiling fields."""
    return [each for at in range(START, END + 1, STEP) for each in _at(at, honor_labels, profiling)]


def _at(at: int, honor_labels: bool, profiling: bool) -> Iterator[dict[str, Any]]:
    target = {"job": "kube-state-metrics", "instance": "10.0.9.9:8080", "namespace": "monitoring", "pod": "ksm-0"}
    yield {"at": at, "text": _state(), "target": target, "honor_labels": True}
    for node in NODES:
        own = {"namespace": "kube-system", "pod": f"dcgm-exporter-{node.name[-1]}", "instance": f"{node.address}:9400"}
        text = "".join(f"{line}\n" for line in _gpus(node, at, profiling))
        yield {"at": at, "text": text, "target": {"job": "dcgm-exporter", **own}, "honor_labels": honor_labels}
        if node.pool == "h100":
            yield {
                "at": at,
                "text": _efa(node, at),
                "target": {"job": "efa", "instance": f"{node.address}:9810"},
                "honor_labels": False,
            }


def _gpus(node: Node, at: int, profiling: bool) -> Iterator[str]:
    wave = 0.04 * math.sin((at - START) / 400 + len(node.pool))
    active = max(0.0, min(1.0, node.active + wave)) if node.job else 0.0
    figures = {
        "DCGM_FI_DEV_GPU_UTIL": round(100 * active),
        "DCGM_FI_DEV_POWER_USAGE": round(75 + 600 * active, 3),
        "DCGM_FI_DEV_FB_USED": round(81559 * 0.9 * active),
        "DCGM_FI_DEV_FB_FREE": round(81559 * (1 - 0.9 * active)),
        "DCGM_FI_DEV_XID_ERRORS": 0,
        "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": 0,
    }
    if profiling:
        figures["DCGM_FI_PROF_GR_ENGINE_ACTIVE"] = round(active, 6)
        figures["DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"] = round(active * 0.55, 6)
    late = at > START + (END - START) // 2
    for name, value in figures.items():
        yield f"# TYPE {name} gauge"
        for gpu in range(GPUS):
            failed = late and gpu == 0
            if name == "DCGM_FI_DEV_XID_ERRORS" and failed:
                value = node.xid
            elif name.endswith("ROWS"):
                value = node.rows if failed else 0
            elif name == "DCGM_FI_DEV_XID_ERRORS":
                value = 0
            yield f"{name}{{{_gpu_labels(node, gpu)}}} {value}"


def _gpu_labels(node: Node, gpu: int) -> str:
    labels = {
        "gpu": str(gpu),
        "UUID": f"GPU-{node.name[-1]}-{gpu}",
        "pci_bus_id": f"00000000:{gpu:02X}:00.0",
        "device": f"nvidia{gpu}",
        "modelName": "NVIDIA H100 80GB HBM3",
        "Hostname": node.name,
        "DCGM_FI_DRIVER_VERSION": "535.129.03",
    }
    if node.job:
        labels |= {"container": "main", "namespace": node.team, "pod": node.pod}
    return _written(labels)


def _efa(node: Node, at: int) -> str:
    lines = list[str]()
    for name, rate in (("rx_bytes", 9e9), ("tx_bytes", 8.5e9)):
        lines.append(f"# TYPE node_amazonefa_{name} counter")
        for card in range(2):
            labels = _written({"device": f"rdmap{113 + card}s0", "port": "1"})
            sent = int((at - START + 1) * rate * node.active)
            lines.append(f"node_amazonefa_{name}{{{labels}}} {sent}")
    return "\n".join(lines) + "\n"


def _state() -> str:
    lines = list[str]()
    for node in NODES:
        info = {"node": node.name, "kubelet_version": "v1.34.1", "internal_ip": node.address}
        lines.append(f"kube_node_info{{{_written(info)}}} 1")
        lines.append(f"kube_node_labels{{{_written({'node': node.name, 'label_gpufleet_dev_pool': node.pool})}}} 1")
        there = {"node": node.name, "resource": "nvidia_com_gpu", "unit": "integer"}
        lines.append(f"kube_node_status_capacity{{{_written(there)}}} {GPUS}")
        if not node.job:
            continue
        pod = {"namespace": node.team, "pod": node.pod, "uid": f"uid-{node.pod}"}
        lines.append(f"kube_pod_labels{{{_written({**pod, JOB_LABEL[node.job]: node.job})}}} 1")
        for phase in ("Failed", "Pending", "Running", "Succeeded", "Unknown"):
            lines.append(f"kube_pod_status_phase{{{_written({**pod, 'phase': phase})}}} {int(phase == 'Running')}")
        wants = {**pod, "container": "main", "node": node.name, "resource": "nvidia_com_gpu", "unit": "integer"}
        lines.append(f"kube_pod_container_resource_requests{{{_written(wants)}}} {GPUS}")
    # One that has ended keeps its requests: it must neither hold GPUs nor cost.
    gone = {"namespace": "vision", "pod": "old-worker-0", "uid": "uid-old"}
    lines.append(f"kube_pod_labels{{{_written(gone)}}} 1")
    lines.append(f"kube_pod_status_phase{{{_written({**gone, 'phase': 'Succeeded'})}}} 1")
    lines.append(f"kube_pod_status_phase{{{_written({**gone, 'phase': 'Running'})}}} 0")
    had = {**gone, "container": "main", "node": "ip-10-0-1-4", "resource": "nvidia_com_gpu", "unit": "integer"}
    lines.append(f"kube_pod_container_resource_requests{{{_written(had)}}} {GPUS}")
    return "\n".join(lines) + "\n"


def _written(labels: dict[str, str]) -> str:
    return ",".join(f'{name}="{value}"' for name, value in labels.items())
