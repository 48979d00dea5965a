"""Charts of device plugins have the one DaemonSet that nodes need them for."""

import pytest

from gpufleet.kubernetes import device_plugin, efa_plugin, gpu_operator
from gpufleet.kubernetes.plugin_daemonset import plan_values
from gpufleet_rehearsal.cloud.store import Store
from gpufleet_rehearsal.kubernetes.plugin_charts import MARK, daemonsets, follow
from gpufleet_rehearsal.kubernetes.release import KIND
from tools.kubernetes.device_plugins import plugin_of

TAINT = {"key": "team", "value": "vision", "effect": "NO_SCHEDULE"}
TOLERATED = [
    {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
    {"key": "team", "operator": "Exists", "effect": "NoSchedule"},
]


@pytest.mark.parametrize(
    ("chart", "values", "plugin", "nodes"),
    [
        (
            "nvidia-device-plugin",
            plan_values({"tolerations": [TAINT]}, device_plugin.CHART),
            "k8s-device-plugin",
            {"nvidia.com/gpu.present": "true"},
        ),
        (
            "aws-efa-k8s-device-plugin",
            plan_values({"tolerations": [TAINT]}, efa_plugin.CHART),
            "aws-efa-k8s-device-plugin",
            {"gpufleet.dev/network": "efa"},
        ),
        (
            "oci://registry.example/charts/gpu-operator",
            gpu_operator.plan_values({"tolerations": [TAINT]}),
            "gpu-operator",
            {"nvidia.com/gpu.present": "true"},
        ),
    ],
)
def test_chart_goes_where_its_values_say(chart, values, plugin, nodes):
    (made,) = daemonsets([{"chart": chart, "values": values}, {"chart": "cluster-autoscaler"}])
    pod = made["spec"]["template"]["spec"]
    assert (plugin_of(made), pod["nodeSelector"], pod["tolerations"]) == (plugin, nodes, TOLERATED)


def test_chart_without_values_has_its_own_tolerations():
    (made,) = daemonsets([{"chart": "nvidia-device-plugin"}])
    assert {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"} in made["spec"]["template"]["spec"][
        "tolerations"
    ]


class Client:
    """An API server that knows DaemonSets only."""

    def __init__(self):
        self.there = {}

    def get(self, path, **query):
        assert query == {"labelSelector": MARK}
        return {"items": list(self.there.values())}

    def apply(self, document):
        self.there[document["metadata"]["name"]] = document

    def path(self, document):
        return document["metadata"]["name"]

    def delete(self, path):
        del self.there[path]


def test_daemonset_comes_and_goes_with_its_release(tmp_path):
    notes, client = Store(tmp_path / "notes.db"), Client()
    assert follow(notes, client) == []
    release = notes.add(
        type_=str(KIND), id_="dev gpu", urn="u", name="gpu", inputs={"chart": "gpu-operator"}, outputs={}, at=0.0,
        ready_at=0.0,
    )  # fmt: skip
    assert follow(notes, client) == ["gpu-operator: its device plugin runs"]
    assert follow(notes, client) == []
    notes.remove(release, 1.0)
    assert follow(notes, client) == ["gpu-operator: its device plugin is gone"]
    assert client.there == {}
    notes.close()
