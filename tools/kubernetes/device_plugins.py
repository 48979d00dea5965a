"""Kubelets of fake nodes, as far as device plugins go: a plugin's pod that runs on a node tells of the node's devices.

Nobody but DaemonSets, the scheduler and kwok puts such a pod there, so a plugin whose selector or tolerations leave a
node out leaves it without devices, and so does a program that installs none.
"""

import json
from collections.abc import Mapping
from typing import Any

from tools.kubernetes.api_client import ApiClient
from tools.kubernetes.fake_node import DEVICES, EFA, GPU, NO_DRIVER

OPERATOR = "gpu-operator"
"""Brings the driver along, too."""
PLUGINS = {"k8s-device-plugin": GPU, OPERATOR: GPU, "aws-efa-k8s-device-plugin": EFA}
"""What a device plugin tells of, by its image's name, whatever registry it comes from.

Source: github.com/NVIDIA/k8s-device-plugin, github.com/NVIDIA/gpu-operator, github.com/aws/eks-charts.
"""

Object = Mapping[str, Any]


class DevicePlugins:
    """Looks after the nodes of one API server.

    A plugin that is taken away leaves its devices on the node; a real kubelet sets them to 0 allocatable.
    """

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    def follow(self) -> list[str]:
        """Give nodes the devices of the plugins that run on them; the names of nodes that have more now.

        Raises ApiSilent and ApiRefused.
        """
        daemonsets = self._client.get("/apis/apps/v1/daemonsets")["items"]
        plugins = [(plugin, each) for each in daemonsets if (plugin := plugin_of(each))]
        nodes = self._client.get("/api/v1/nodes")["items"] if plugins else []
        done = []
        for plugin, daemonset in plugins:
            found = {node["metadata"]["name"]: told for node in nodes if (told := told_by(plugin, node))}
            # 512 pods are not listed for nothing.
            for name in sorted(found.keys() & self._nodes_with(daemonset)) if found else ():
                status = {"capacity": found[name], "allocatable": found[name]}
                self._client.merge(f"/api/v1/nodes/{name}/status", {"status": status})
                done.append(name)
        return done

    def _nodes_with(self, daemonset: Object) -> set[str]:
        """The nodes on which a pod of the DaemonSet runs."""
        pods = self._client.get(
            f"/api/v1/namespaces/{daemonset['metadata']['namespace']}/pods",
            labelSelector=",".join("=".join(pair) for pair in daemonset["spec"]["selector"]["matchLabels"].items()),
            fieldSelector="status.phase=Running",
        )
        return {pod["spec"]["nodeName"] for pod in pods["items"]}


def plugin_of(daemonset: Object) -> str | None:
    """The device plugin that a DaemonSet runs, by its image's name; None where it runs none."""
    images = [container["image"] for container in daemonset["spec"]["template"]["spec"]["containers"]]
    names = [image.partition("@")[0].rpartition("/")[2].partition(":")[0] for image in images]
    return next((name for name in names if name in PLUGINS), None)


def told_by(plugin: str, node: Object) -> dict[str, str]:
    """What a plugin adds to the resources of the node that it runs on; nothing if they are there or it finds none."""
    resource, unseen = PLUGINS[plugin], node["metadata"].get("annotations", {})
    devices = json.loads(unseen.get(DEVICES, "{}"))
    lacks_driver = resource == GPU and plugin != OPERATOR and NO_DRIVER.items() <= unseen.items()
    if resource not in devices or resource in node["status"]["capacity"] or lacks_driver:
        return {}
    return {resource: str(devices[resource])}
