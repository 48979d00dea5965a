"""What a fake node's kubelet learns from device plugins, and from nothing else."""

import pytest

from gpufleet.kubernetes.device_plugin import plan_device_plugin
from gpufleet.kubernetes.efa_plugin import plan_efa_plugin
from tools.kubernetes.device_plugins import DevicePlugins, plugin_of, told_by
from tools.kubernetes.fake_node import Machine
from tools.kubernetes.nodes import gpu_node

BARE = {"efa_interfaces": 32}


def node(**machine):
    return gpu_node("trainers-0", "p5.48xlarge", "use1-az2", "trainers", machine=Machine(**machine)._asdict())


def daemonset(image):
    return {
        "metadata": {"uid": "1", "namespace": "kube-system"},
        "spec": {
            "selector": {"matchLabels": {"app": "plugin", "tier": "node"}},
            "template": {"spec": {"containers": [{"name": "main", "image": image}]}},
        },
    }


@pytest.mark.parametrize(
    ("image", "plugin"),
    [
        ("nvcr.io/nvidia/k8s-device-plugin:v0.20.0", "k8s-device-plugin"),
        ("mirror.example:5000/nvidia/k8s-device-plugin@sha256:00", "k8s-device-plugin"),
        (
            "602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/aws-efa-k8s-device-plugin:v0.5.13",
            "aws-efa-k8s-device-plugin",
        ),
        ("nvcr.io/nvidia/k8s/dcgm-exporter:4.2.0", None),
    ],
)
def test_plugin_is_known_by_its_image(image: str, plugin: str | None) -> None:
    assert plugin_of(daemonset(image)) == plugin


def test_our_own_plugins_are_known() -> None:
    assert plugin_of(plan_device_plugin({})) == "k8s-device-plugin"
    assert plugin_of(plan_efa_plugin({})) == "aws-efa-k8s-device-plugin"


@pytest.mark.parametrize(
    ("plugin", "machine", "told"),
    [
        ("k8s-device-plugin", BARE, {"nvidia.com/gpu": "8"}),
        ("aws-efa-k8s-device-plugin", BARE, {"vpc.amazonaws.com/efa": "32"}),
        ("aws-efa-k8s-device-plugin", {}, {}),
        ("k8s-device-plugin", {"driver": False}, {}),
        ("gpu-operator", {"driver": False}, {"nvidia.com/gpu": "8"}),
        ("aws-efa-k8s-device-plugin", {**BARE, "driver": False}, {"vpc.amazonaws.com/efa": "32"}),
        ("k8s-device-plugin", {"built_in": ("nvidia.com/gpu",)}, {}),
    ],
)
def test_plugin_tells_of_what_it_finds(plugin: str, machine: dict[str, object], told: dict[str, str]) -> None:
    assert told_by(plugin, node(**machine)) == told


class Server:
    """An API server with one DaemonSet, whose pods run on some of its nodes."""

    def __init__(self) -> None:
        self.daemonset, self.running, self.asked, self.changed = daemonset("r/k8s-device-plugin:1"), [], [], {}
        self.nodes = [
            node(),
            {**node(), "metadata": {"name": "other", "annotations": node()["metadata"]["annotations"]}},
        ]

    def get(self, path, **query):
        self.asked.append((path, query))
        if path.endswith("daemonsets"):
            return {"items": [self.daemonset]}
        if path.endswith("pods"):
            return {"items": [{"spec": {"nodeName": name}} for name in self.running]}
        return {"items": self.nodes}

    def merge(self, path, change):
        self.changed[path] = change


def test_node_has_its_gpus_once_the_plugins_pod_runs_there() -> None:
    server = Server()
    plugins = DevicePlugins(server)
    assert plugins.follow() == []
    server.running = ["trainers-0", "gone"]
    assert plugins.follow() == ["trainers-0"]
    gpus = {"nvidia.com/gpu": "8"}
    assert server.changed == {"/api/v1/nodes/trainers-0/status": {"status": {"capacity": gpus, "allocatable": gpus}}}
    pods = (
        "/api/v1/namespaces/kube-system/pods",
        {"labelSelector": "app=plugin,tier=node", "fieldSelector": "status.phase=Running"},
    )
    assert pods in server.asked


def test_pods_are_listed_only_while_a_node_lacks_what_they_tell_of() -> None:
    server = Server()
    server.nodes = [node(built_in=("nvidia.com/gpu",))]
    DevicePlugins(server).follow()
    assert [path for path, _ in server.asked] == ["/apis/apps/v1/daemonsets", "/api/v1/nodes"]


def test_nodes_are_listed_only_where_a_plugin_is_installed() -> None:
    server = Server()
    server.daemonset = daemonset("r/node-exporter:1")
    DevicePlugins(server).follow()
    assert [path for path, _ in server.asked] == ["/apis/apps/v1/daemonsets"]
