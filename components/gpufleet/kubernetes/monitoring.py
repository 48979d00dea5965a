"""Monitoring: Prometheus, Grafana and kube-state-metrics in a cluster, with the dashboard of its GPUs."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, NotRequired, TypedDict, Unpack

import pulumi

from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.dashboards.grafana import dashboard
from gpufleet.dashboards.rules import NODE_LABELS, POD_LABELS, recording_rules
from gpufleet.kubernetes.chart_values import merged
from gpufleet.kubernetes.helm_release import chart_release
from gpufleet.kubernetes.objects import kubernetes_object, labelled
from gpufleet.kubernetes.remote_write import NAMESPACE, RemoteWrite, plan_remote_write
from gpufleet.pulumi_outputs import with_dependencies
from gpufleet.rules import Finding
from gpufleet.rules.kubernetes.device_plugins import validate_monitoring
from gpufleet.typed_dicts import NumberRange

CHART = "kube-prometheus-stack"
VERSION = "86.0.0"
"""Source: github.com/prometheus-community/helm-charts, tag kube-prometheus-stack-86.0.0, May 2026."""
CHARTS = "https://prometheus-community.github.io/helm-charts"
EXPORTERS: Mapping[str, tuple[str, str]] = {
    "dcgm-exporter": ("app.kubernetes.io/name", "dcgm-exporter"),
    "nvidia-dcgm-exporter": ("app", "nvidia-dcgm-exporter"),
}
"""Name of a PodMonitor -> the label of the pods that it scrapes: gpufleet's DcgmExporter, and that of the GPU operator.

Source: github.com/NVIDIA/gpu-operator (assets/state-dcgm-exporter/0800_daemonset.yaml).
"""


class MonitoringConfig(TypedDict):
    """How Prometheus keeps what it has measured."""

    storage_gib: NotRequired[Annotated[int, NumberRange(1)]]
    """Size of Prometheus' volume, in GiB. Default: none; then what it has measured is gone when its pod is."""
    storage_class: NotRequired[str]
    """Storage class of that volume. Default: the cluster's own default."""
    version: NotRequired[str]
    """Version of the chart kube-prometheus-stack. Default 86.0.0."""
    values: NotRequired[Mapping[str, Any]]
    """Further values of the chart, which win over those of here, mapping by mapping."""


class MonitoringArgs(MonitoringConfig):
    """The same, what is monitored, and what it costs."""

    environment: str
    """Name of the environment, which the dashboard filters by."""
    usd_per_gpu_hour: NotRequired[Mapping[str, float]]
    """USD for an hour of one GPU, by the label gpufleet.dev/pool of a pool's nodes. Default: none; then the dashboard
    shows no cost."""
    remote_write: NotRequired[RemoteWrite]
    """Where Prometheus also writes what our rules record, as `for_monitoring` of `ManagedPrometheus` has it. Default:
    nowhere."""
    node_selector: NotRequired[Mapping[str, str]]
    """Labels of the nodes that all but the exporters run on. Default: any."""
    labels: NotRequired[Mapping[str, str]]
    """Labels of the namespace and of the dashboard's ConfigMap."""


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
    spec: dict[str, Any] = {}
    if "storage_gib" in args:
        claim: dict[str, Any] = {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": f"{args['storage_gib']}Gi"}},
        }
        if "storage_class" in args:
            claim["storageClassName"] = args["storage_class"]
        spec["storageSpec"] = {"volumeClaimTemplate": {"spec": claim}}
    if "remote_write" in args:
        spec["remoteWrite"] = [plan_remote_write(args["remote_write"])]
    prometheus = {"additionalPodMonitors": monitors, **({"prometheusSpec": spec} if spec else {})}
    rules = recording_rules(args["environment"], args.get("usd_per_gpu_hour", {}))
    values = {
        "additionalPrometheusRulesMap": {"gpufleet": rules},
        "kube-state-metrics": {"metricLabelsAllowlist": allowed},
        "prometheus": prometheus,
    }
    return merged(merged(values, _nodes(args.get("node_selector", {}))), args.get("values", {}))


def _nodes(selector: Mapping[str, str]) -> dict[str, Any]:
    """Where the chart's programs run; its exporter of nodes runs on all."""
    if not selector:
        return {}
    here = {"nodeSelector": dict(selector)}
    return {
        "alertmanager": {"alertmanagerSpec": here},
        "grafana": here,
        "kube-state-metrics": here,
        "prometheus": {"prometheusSpec": here},
        "prometheusOperator": {**here, "admissionWebhooks": {"patch": here}},
    }


def plan_namespace() -> dict[str, Any]:
    """The chart's namespace. Deleting it deletes the claim of Prometheus' volume, which helm leaves behind.

    The chart's exporter of nodes runs on their network and reads their files, which only `privileged` allows.
    Source: kubernetes.io/docs/concepts/security/pod-security-standards; prometheus-community/helm-charts,
    charts/prometheus-node-exporter (hostNetwork, hostPID).
    """
    metadata = {"name": NAMESPACE, "labels": {"pod-security.kubernetes.io/enforce": "privileged"}}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


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

    It scrapes DCGM's exporter, of gpufleet's DcgmExporter or of the GPU operator, and makes the namespace monitoring:
    not for a cluster that has this chart already. EFA needs an exporter that the chart
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
        labels = args.get("labels", {})
        namespace = kubernetes_object(f"{name}-namespace", labelled(plan_namespace(), labels), self.child())
        release = chart_release(
            f"{name}-release",
            chart=CHART,
            version=args.get("version", VERSION),
            namespace=NAMESPACE,
            values=plan_monitoring(args),
            opts=self.child(depends_on=[namespace]),
            repository=CHARTS,
        )
        shown = labelled(plan_dashboard(), labels)
        made = kubernetes_object(f"{name}-dashboard", shown, self.child(depends_on=[release]))
        address = f"http://{CHART}-grafana.{NAMESPACE}.svc"
        self.grafana = with_dependencies(pulumi.Output.from_input(address), made)
