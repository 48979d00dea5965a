"""The device plugins of NVIDIA and AWS: exact objects, charts, refusals."""

import pytest

from gpufleet.fleet.gpu_metrics import METRICS
from gpufleet.kubernetes.dcgm_exporter import DcgmExporter
from gpufleet.kubernetes.device_plugin import DevicePlugin
from gpufleet.kubernetes.efa_plugin import EfaPlugin
from gpufleet.pools.node_labels import GPU_TAINT, node_labels
from tests.components.recorder import construct, refusal

DAEMONSET = "kubernetes:apps/v1:DaemonSet"
RELEASE = "kubernetes:helm.sh/v3:Release"
GPU = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
OTHER = {"key": "team", "value": "vision", "effect": "NO_EXECUTE"}


def daemonset(name: str, container: dict, paths: dict[str, str], selector: dict[str, str], **more: object) -> dict:
    labels = {"app.kubernetes.io/name": name}
    spec = {
        "priorityClassName": "system-node-critical",
        "automountServiceAccountToken": False,
        "nodeSelector": selector,
        "tolerations": [GPU],
        "containers": [
            {
                "name": name,
                "volumeMounts": [{"name": volume, "mountPath": path} for volume, path in paths.items()],
                **container,
            }
        ],
        "volumes": [{"name": volume, "hostPath": {"path": path}} for volume, path in paths.items()],
        **more,
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": "kube-system", "labels": labels},
        "spec": {
            "selector": {"matchLabels": labels},
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "10%"}},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def test_nvidias_plugin(preview):
    recording = construct(lambda: DevicePlugin("gpus", {}), preview)
    assert recording.inputs(DAEMONSET) == {
        "gpus-daemonset": daemonset(
            "nvidia-device-plugin",
            {
                "image": "nvcr.io/nvidia/k8s-device-plugin:v0.20.0",
                "env": [{"name": "FAIL_ON_INIT_ERROR", "value": "false"}],
                "resources": {"requests": {"cpu": "10m", "memory": "64Mi"}},
                "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
            },
            {"device-plugins": "/var/lib/kubelet/device-plugins"},
            {"nvidia.com/gpu.present": "true"},
        )
    }
    assert recording.outputs["gpus"] == {"resource": "nvidia.com/gpu"}


def test_efa_plugin(preview):
    recording = construct(lambda: EfaPlugin("efa", {}), preview)
    assert recording.inputs(DAEMONSET) == {
        "efa-daemonset": daemonset(
            "aws-efa-k8s-device-plugin",
            {
                "image": "602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/aws-efa-k8s-device-plugin:v0.5.13",
                "resources": {"requests": {"cpu": "10m", "memory": "20Mi"}},
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "capabilities": {"drop": ["ALL"]},
                    "runAsNonRoot": False,
                },
            },
            {"device-plugins": "/var/lib/kubelet/device-plugins", "infiniband": "/dev/infiniband"},
            {"gpufleet.dev/network": "efa"},
            hostNetwork=True,
        )
    }
    assert recording.outputs["efa"] == {"resource": "vpc.amazonaws.com/efa"}


@pytest.mark.parametrize(
    ("region", "registry"),
    [
        ("us-east-1", "602401143452.dkr.ecr.us-east-1.amazonaws.com"),
        ("us-gov-west-1", "013241004608.dkr.ecr.us-gov-west-1.amazonaws.com"),
        ("cn-north-1", "918309763551.dkr.ecr.cn-north-1.amazonaws.com.cn"),
    ],
)
@pytest.mark.parametrize("source", ["daemonset", "chart"])
def test_efa_plugin_comes_from_the_registry_of_its_region(region, registry, source):
    recording = construct(lambda: EfaPlugin("efa", region=region, source=source), False)
    repository = f"{registry}/eks/aws-efa-k8s-device-plugin"
    if source == "chart":
        assert recording.one(RELEASE).inputs["values"]["image"] == {"repository": repository}
    else:
        (container,) = recording.one(DAEMONSET).inputs["spec"]["template"]["spec"]["containers"]
        assert container["image"] == f"{repository}:v0.5.13"


def test_efa_plugin_of_a_region_without_a_known_registry(preview):
    assert refusal(lambda: EfaPlugin("efa", region="ap-east-2"), preview) == [
        "efa: region=ap-east-2: has no registry of EKS that the catalog knows; give image, a repository with AWS's "
        "aws-efa-k8s-device-plugin [aws-efa-plugin-image]"
    ]
    own = {"region": "ap-east-2", "image": "registry.example.com/efa"}
    (container,) = (
        construct(lambda: EfaPlugin("efa", own), preview)
        .one(DAEMONSET)
        .inputs["spec"]["template"]["spec"]["containers"]
    )
    assert container["image"] == "registry.example.com/efa:v0.5.13"


@pytest.mark.parametrize("source", ["daemonset", "chart"])
def test_nodes_with_a_plugin_of_their_own_get_no_second_one(source, preview):
    recording = construct(lambda: DevicePlugin("gpus", excluded_pools=["dev-rocket"], source=source), preview)
    terms = [
        {
            "matchExpressions": [
                {"key": "nvidia.com/gpu.present", "operator": "In", "values": ["true"]},
                {"key": "gpufleet.dev/pool", "operator": "NotIn", "values": ["dev-rocket"]},
            ]
        }
    ]
    inputs = recording.one(RELEASE if source == "chart" else DAEMONSET).inputs
    pod = inputs["values"] if source == "chart" else inputs["spec"]["template"]["spec"]
    assert pod["affinity"] == {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    }


def test_plugins_run_on_the_nodes_that_pools_make():
    """What they select and tolerate is what a gpufleet pool labels and taints its nodes with."""
    labels = node_labels("trainers", ["H100"], ["use1-az1"], {"network": "efa", "placement": "create"})
    for component in (DevicePlugin, EfaPlugin):
        spec = construct(lambda: component("plugin", {}), False).one(DAEMONSET).inputs["spec"]["template"]["spec"]  # noqa: B023
        assert spec["nodeSelector"].items() <= labels.items()
        assert spec["tolerations"] == [{"key": GPU_TAINT["key"], "operator": "Exists", "effect": "NoSchedule"}]


@pytest.mark.parametrize(
    ("component", "chart", "version", "repository", "values"),
    [
        (DevicePlugin, "nvidia-device-plugin", "0.20.0", "https://nvidia.github.io/k8s-device-plugin", {}),
        (
            EfaPlugin,
            "aws-efa-k8s-device-plugin",
            "v0.5.20",
            "https://aws.github.io/eks-charts",
            {"nodeSelector": {"gpufleet.dev/network": "efa"}},
        ),
    ],
    ids=["nvidia", "efa"],
)
def test_charts(component, chart, version, repository, values, preview):
    args = {"source": "chart", "image": "registry.example.com/plugin", "tolerations": [OTHER]}
    recording = construct(lambda: component("plugin", args), preview)
    assert recording.names(DAEMONSET) == []
    tolerations = [GPU, {"key": "team", "operator": "Exists", "effect": "NoExecute"}]
    assert recording.inputs(RELEASE) == {
        "plugin-release": {
            "chart": chart,
            "version": version,
            "name": chart,
            "namespace": "kube-system",
            "createNamespace": False,
            "atomic": True,
            "timeout": 600,
            "repositoryOpts": {"repo": repository},
            "values": {"tolerations": tolerations, "image": {"repository": "registry.example.com/plugin"}, **values},
        }
    }


@pytest.mark.parametrize("component", [DevicePlugin, EfaPlugin])
def test_several_faults_at_once(component, preview):
    args = {"source": "helm", "version": "latest", "namespace": "Kube", "image": "nvcr.io/plugin:1"}
    assert refusal(lambda: component("plugin", args), preview) == [
        "plugin: source=helm: is not an allowed value; use daemonset or chart [any-argument-word]",
        "plugin: version=latest: is not one version; use three numbers, such as 0.20.0 [any-kubernetes-version-pinned]",
        "plugin: image=nvcr.io/plugin:1: is not an image repository; use host/path without a tag, such as "
        "registry.example.com/nvidia/k8s-device-plugin [any-kubernetes-repository]",
        "plugin: namespace=Kube: is not a valid Kubernetes name; use at most 63 lower-case letters, digits and - "
        "between "
        "them, such as team-vision [any-kubernetes-name]",
    ]


def test_dcgms_exporter(preview):
    recording = construct(lambda: DcgmExporter("metrics", labels={"team": "vision"}, tolerations=[OTHER]), preview)
    made = recording.inputs(DAEMONSET)["metrics-daemonset"]
    pod = made["spec"]["template"]["spec"]
    assert made["metadata"] == {
        "name": "dcgm-exporter",
        "namespace": "kube-system",
        "labels": {"team": "vision", "app.kubernetes.io/name": "dcgm-exporter"},
    }
    assert pod["nodeSelector"] == {"nvidia.com/gpu.present": "true"}
    assert pod["tolerations"] == [GPU, {"key": "team", "operator": "Exists", "effect": "NoExecute"}]
    (container,) = pod["containers"]
    assert container["image"] == "nvcr.io/nvidia/k8s/dcgm-exporter:4.5.3-4.8.2-distroless"
    # It sees every GPU and takes none; profiling needs this capability and nothing more.
    assert "nvidia.com/gpu" not in str(container["resources"])
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"], "add": ["SYS_ADMIN"]}
    assert container["ports"] == [{"name": "metrics", "containerPort": 9400}]
    assert pod["volumes"] == [
        {"name": "pod-resources", "hostPath": {"path": "/var/lib/kubelet/pod-resources"}},
        {"name": "counters", "configMap": {"name": "dcgm-exporter-counters"}},
    ]
    counters = recording.inputs("kubernetes:core/v1:ConfigMap")["metrics-counters"]
    read = [line.split(",")[0] for line in counters["data"]["dcgm_counters.csv"].splitlines() if line[0] != "#"]
    # What the activity of a GPU is told by, see gpufleet.fleet.gpu_metrics.
    assert {each for each in METRICS if each.startswith("DCGM")} <= {*read}
    assert recording.outputs["metrics"] == {"port": 9400}


def test_dcgms_exporter_of_a_closed_network_and_refused(preview):
    recording = construct(lambda: DcgmExporter("metrics", image="registry.lab/dcgm-exporter"), preview)
    pod = recording.inputs(DAEMONSET)["metrics-daemonset"]["spec"]["template"]["spec"]
    assert pod["containers"][0]["image"] == "registry.lab/dcgm-exporter:4.5.3-4.8.2-distroless"
    assert refusal(lambda: DcgmExporter("metrics", image="registry.lab/dcgm-exporter:4.8"), preview) == [
        "metrics: image=registry.lab/dcgm-exporter:4.8: is not an image repository; use host/path without a tag, such "
        "as registry.example.com/nvidia/k8s-device-plugin [any-kubernetes-repository]"
    ]
