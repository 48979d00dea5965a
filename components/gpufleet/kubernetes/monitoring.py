"""Monitoring: Prometheus, Grafana and kube-state-metrics in a cluster, with the dashboard of its GPUs."""

import json
from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict, Unpack

import pulumi

from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.dashboards.grafana import dashboard
from gpufleet.dashboards.rules import NODE_LABELS, POD_LABELS, recording_rules
from gpufleet.kubernetes.helm_release import chart_release
from gpufleet.kubernetes.objects import kubernetes_object, labelled
from gpufleet.pulumi_outputs import with_dependencies
from gpufleet.rules import Finding
from gpufleet.rules.kubernetes.device_plugins import validate_monitoring

CHART = "kube-prometheus-stack"
VERSION = "86.0.0"
"""Source: github.com/prometheus-community/helm-charts, tag kube-prometheus-stack-86.0.0, May 2026."""
CHARTS = "https://prometheus-community.github.io/helm-charts"
NAMESPACE = "monitoring"
EXPORTERS: Mapping[str, tuple[str, str]] = {
    "dcgm-exporter": ("app.kubernetes.io/name", "dcgm-exporter"),
    "nvidia-dcgm-exporter": ("app", "nvidia-dcgm-exporter"),
}
"""Name of a PodMonitor -> the label of the pods that it scrapes: gpufleet's DcgmExporter, and that of the GPU operator.

Source: github.com/NVIDIA/gpu-operator (assets/state-dcgm-exporter/0800_daemonset.yaml).
"""


class MonitoringArgs(TypedDict):
    """What is monitored, and what it costs."""

    environment: str
    """Name of the environment, which the dashboard filters by."""
    usd_per_gpu_hour: NotRequired[Mapping[str, float]]
    """USD for an hour of one GPU, by the label gpufleet.dev/pool of a pool's nodes. Default: none; then the dashboard
    shows no cost."""
    storage_gib: NotRequired[int]
    """Size of Prometheus' volume, in GiB, of the default storage class. Default: none; then what it has measured is
    gone when its pod is."""
    version: NotRequired[str]
    """Version of the chart kube-prometheus-stack. Default 86.0.0."""
    values: NotRequired[Mapping[str, Any]]
    """Further values of the chart, which win over those of here."""
    labels: NotRequired[Mapping[str, str]]
    """Labels of the dashboard's ConfigMap."""


def plan_monitoring(args: MonitoringArgs) -> dict[str, Any]:
    """The values of the chart. `args` has passed the rules.

    Source: github.com/prometheus-community/helm-charts, charts/kube-prometheus-stack and kube-state-metrics,
    values.yaml.
    """
    allowed = [f"nodes=[{','.join(NODE_LABELS)}]", f"pods=[{','.join(POD_LABELS)}]"]
    monitors = [
        {
            "name": name,
            "namespaceSelector": {"any": True},
            "selector": {"matchLabels": {key: value}},
            "podMetricsEndpoints": [{"port": "metrics", "interval": "30s", "honorLabels": True}],
        }
        for name, (key, value) in EXPORTERS.items()
    ]
    prometheus: dict[str, Any] = {"additionalPodMonitors": monitors}
    if "storage_gib" in args:
        claim = {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": f"{args['storage_gib']}Gi"}},
        }
        prometheus["prometheusSpec"] = {"storageSpec": {"volumeClaimTemplate": {"spec": claim}}}
    rules = recording_rules(args["environment"], args.get("usd_per_gpu_hour", {}))
    values = {
        "additionalPrometheusRulesMap": {"gpufleet": rules},
        "kube-state-metrics": {"metricLabelsAllowlist": allowed},
        "prometheus": prometheus,
    }
    return values | dict(args.get("values", {}))


def plan_dashboard() -> dict[str, Any]:
    """The dashboard as Grafana's sidecar finds it: in a ConfigMap of the chart's namespace with the sidecar's label."""
    metadata = {
        "name": "gpufleet-dashboard",
        "namespace": NAMESPACE,
        "labels": {"grafana_dashboard": "1"},
    }
    data = {"gpufleet.json": json.dumps(dashboard())}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


class Monitoring(Component):
    """Prometheus and Grafana in the cluster, by the chart kube-prometheus-stack, with the dashboard of its GPUs.

    It scrapes DCGM's exporter, of gpufleet's DcgmExporter or of the GPU operator. EFA needs an exporter that the chart
    does not have: see docs/dashboards.md.
    """

    grafana: pulumi.Output[str]
    """Address of Grafana inside the cluster."""

    def __init__(
        self, name: str, args: MonitoringArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[MonitoringArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: MonitoringArgs) -> list[Finding]:
        return validate_monitoring(args)

    def create(self, name: str, args: MonitoringArgs) -> None:
        release = chart_release(
            f"{name}-release",
            chart=CHART,
            version=args.get("version", VERSION),
            namespace=NAMESPACE,
            values=plan_monitoring(args),
            opts=self.child(),
            repository=CHARTS,
        )
        shown = labelled(plan_dashboard(), args.get("labels", {}))
        made = kubernetes_object(f"{name}-dashboard", shown, self.child(depends_on=[release]))
        address = f"http://{CHART}-grafana.{NAMESPACE}.svc"
        self.grafana = with_dependencies(pulumi.Output.from_input(address), made)
