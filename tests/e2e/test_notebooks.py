"""A hub on a cluster of ours, on the real engine: its volume, and how it is reached."""

import json
from typing import Any

from tests.e2e.rehearsed_project import Project, held

IMAGE = "registry.example.com/notebook:1"
SOFTWARE = ["device-plugin", "efa-plugin", "mpi-operator", "autoscaler", "dcgm-exporter", "monitoring"]


def with_hub(**more: object) -> Any:
    return lambda config: config.update(erase=True, notebooks={"images": [IMAGE], **more})


def with_monitoring(config: dict[str, Any]) -> None:
    with_hub()(config)
    config.update(software=SOFTWARE, monitoring={"storage_gib": 20}, managed_prometheus={"retention_days": 400})


def test_hub_on_eks_has_its_volume_and_no_public_address(project: Project) -> None:
    # A class that nobody makes: the cluster has neither it nor a driver.
    project.configure(with_hub(storage_class="fast"))
    failed = project.rehearse()
    assert failed.returncode == 1
    assert (
        "release jupyterhub failed, and has been uninstalled due to atomic being set: context deadline exceeded; claim "
        'training/hub-db-dir: storageclass.storage.k8s.io "fast" not found'
    ) in failed.stdout
    project.configure(with_hub(service="LoadBalancer"))
    refused = project.rehearse()
    assert "[any-notebooks-dummy-login]" in refused.stdout
    # Prometheus' volume needs the same driver.
    project.configure(with_monitoring)
    up = project.rehearse()
    assert up.returncode == 0, up.stdout + up.stderr
    addons = [line for line in held(project.cloud) if "aws-ebs-csi-driver" in line]
    assert addons == ["aws-dev-cluster-aws-ebs-csi-driver aws:eks/addon:Addon"]
    assert "chart kube-prometheus-stack 86.0.0: recorded" in up.stdout
    assert [line for line in held(project.cloud) if "aws:amp/" in line] == [
        "aws-dev-prometheus-configuration aws:amp/workspaceConfiguration:WorkspaceConfiguration",
        "aws-dev-prometheus-workspace aws:amp/workspace:Workspace",
    ]
    told = project.rehearse("--", "pulumi", "stack", "output", "-s", "aws-dev", "notebooks")
    assert json.loads(told.stdout[told.stdout.index("{") :]) == {
        "training": {
            "address": "http://localhost:8000",
            "port_forward": "kubectl port-forward -n training service/proxy-public 8000:http",
        }
    }
    destroy = project.rehearse("--destroy")
    assert destroy.returncode == 0, destroy.stdout + destroy.stderr
    assert held(project.cloud) == []
