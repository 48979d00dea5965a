"""Prometheus and Grafana in the cluster: the chart's values, the dashboard, refusals."""

import json

from gpufleet.dashboards.grafana import dashboard
from gpufleet.dashboards.rules import recording_rules
from gpufleet.kubernetes.monitoring import Monitoring
from tests.components.recorder import construct, refusal

ALLOWED = [
    "nodes=[gpufleet.dev/pool]",
    "pods=[gpufleet.dev/team,training.kubeflow.org/job-name,jobset.sigs.k8s.io/jobset-name,"
    "batch.kubernetes.io/job-name,job-name]",
]


def monitor(name, key):
    return {
        "name": name,
        "namespaceSelector": {"any": True},
        "selector": {"matchLabels": {key: name}},
        "podMetricsEndpoints": [{"port": "metrics", "interval": "30s", "honorLabels": True}],
    }


MONITORS = [monitor("dcgm-exporter", "app.kubernetes.io/name"), monitor("nvidia-dcgm-exporter", "app")]


def test_chart_and_dashboard(preview):
    args = {"environment": "lab", "usd_per_gpu_hour": {"h100": 6.88}, "labels": {"team": "ops"}}
    recording = construct(lambda: Monitoring("m", args), preview)
    assert recording.one("kubernetes:helm.sh/v3:Release", "m-release").inputs == {
        "chart": "kube-prometheus-stack",
        "version": "86.0.0",
        "name": "kube-prometheus-stack",
        "namespace": "monitoring",
        "createNamespace": True,
        "atomic": True,
        "timeout": 600,
        "repositoryOpts": {"repo": "https://prometheus-community.github.io/helm-charts"},
        "values": {
            "additionalPrometheusRulesMap": {"gpufleet": recording_rules("lab", {"h100": 6.88})},
            "kube-state-metrics": {"metricLabelsAllowlist": ALLOWED},
            "prometheus": {"additionalPodMonitors": MONITORS},
        },
    }
    namespace = recording.one("kubernetes:core/v1:Namespace", "m-namespace").inputs["metadata"]
    assert namespace["labels"] == {"pod-security.kubernetes.io/enforce": "privileged", "team": "ops"}
    assert recording.one("kubernetes:helm.sh/v3:Release").depends_on == {"m-namespace"}
    shown = recording.one("kubernetes:core/v1:ConfigMap", "m-dashboard").inputs
    assert shown["metadata"]["labels"] == {"grafana_dashboard": "1", "team": "ops"}
    assert shown["metadata"]["namespace"] == "monitoring"
    assert json.loads(shown["data"]["gpufleet.json"]) == dashboard()
    assert recording.outputs["m"] == {"grafana": "http://kube-prometheus-stack-grafana.monitoring.svc"}


def test_volume_and_values_of_ones_own(preview):
    own = {"prometheus": {"prometheusSpec": {"retention": "30d"}}, "grafana": {"enabled": False}}
    args = {"environment": "lab", "storage_gib": 50, "storage_class": "fast", "values": own}
    values = construct(lambda: Monitoring("m", args), preview).one("kubernetes:helm.sh/v3:Release").inputs["values"]
    claim = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "50Gi"}},
        "storageClassName": "fast",
    }
    assert values["prometheus"] == {
        "additionalPodMonitors": MONITORS,
        "prometheusSpec": {"storageSpec": {"volumeClaimTemplate": {"spec": claim}}, "retention": "30d"},
    }
    assert values["grafana"] == {"enabled": False}


def test_all_but_the_exporter_of_nodes_run_on_chosen_nodes(preview):
    args = {"environment": "lab", "node_selector": {"zone": "a"}}
    values = construct(lambda: Monitoring("m", args), preview).one("kubernetes:helm.sh/v3:Release").inputs["values"]
    here = {"nodeSelector": {"zone": "a"}}
    assert values["alertmanager"] == {"alertmanagerSpec": here}
    assert values["grafana"] == here
    assert values["kube-state-metrics"] == {"metricLabelsAllowlist": ALLOWED, **here}
    assert values["prometheus"] == {"additionalPodMonitors": MONITORS, "prometheusSpec": here}
    assert values["prometheusOperator"] == {**here, "admissionWebhooks": {"patch": here}}
    assert "prometheus-node-exporter" not in values


def test_refuses_a_version_that_is_not_one_and_an_empty_volume(preview):
    (fault,) = refusal(lambda: Monitoring("m", {"environment": "lab", "version": "latest"}), preview)
    assert fault.startswith("m: version=latest:")
    (fault,) = refusal(lambda: Monitoring("m", {"environment": "lab", "storage_gib": 0}), preview)
    assert fault.startswith("m: storage_gib=0:")
