"""Prometheus' recording rules that the dashboard reads: GPUs, activity, network and cost an hour of each pod and pool.

The rules hold for both ways of scraping: where Prometheus honours the labels of DCGM's exporter, `pod` is the pod that
has the GPU; where it does not, that is `exported_pod`, and `pod` is the exporter's own (NVIDIA/dcgm-exporter#85).
Names of metrics and labels: NVIDIA/dcgm-exporter (internal/pkg/rendermetrics/render_metrics.go), kubernetes/
kube-state-metrics (docs/metrics), awslabs/awsome-distributed-training (4.validation_scripts/3.efa-node-exporter).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gpufleet.documents.json import read_json

POD_LABELS = (
    "gpufleet.dev/team",
    "training.kubeflow.org/job-name",
    "jobset.sigs.k8s.io/jobset-name",
    "batch.kubernetes.io/job-name",
    "job-name",
)
"""Labels of pods that kube-state-metrics must export for the rules, by --metric-labels-allowlist."""
NODE_LABELS = ("gpufleet.dev/pool",)
"""The same of nodes."""


def recording_rules(environment: str, usd_per_gpu_hour: Mapping[str, float]) -> dict[str, Any]:
    """A rule file of Prometheus, as data. usd_per_gpu_hour: by the label of a pool's nodes.

    Prices are constants in the rules: a change of a price is a new file, and the past keeps the price that it had. A
    pool without a price has no cost, rather than a cost of 0.
    """
    content: Mapping[str, Any] = read_json(Path(__file__).with_name("rules.json"))
    prices = [
        {"record": content["price"], "expr": f"vector({usd:.6g})", "labels": {"pool": pool}}
        for pool, usd in sorted(usd_per_gpu_hour.items())
    ]
    others = [{"record": each["record"], "expr": each["expr"]} for each in content["rules"]]
    found = [{**each, "labels": {"environment": environment, **each.get("labels", {})}} for each in prices + others]
    return {"groups": [{"name": content["group"], "interval": content["interval"], "rules": found}]}
