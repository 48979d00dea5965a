"""DcgmExporter: NVIDIA's exporter of GPU metrics, by which `gpufleet ps` tells whether a job computes."""

from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any, NotRequired, TypedDict, Unpack

import pulumi

from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.kubernetes.objects import kubernetes_object, labelled
from gpufleet.kubernetes.plugin_daemonset import NAMESPACE, device_plugin
from gpufleet.pools.eks_pool import Taint
from gpufleet.pulumi_outputs import with_dependencies
from gpufleet.rules import Finding
from gpufleet.rules.kubernetes.device_plugins import validate_dcgm_exporter

NAME = "dcgm-exporter"
TAG = "4.5.3-4.8.2-distroless"
"""Versions of DCGM and of the exporter. Source: dcgm-exporter.yaml of github.com/NVIDIA/dcgm-exporter, 4.5.3-4.8.2."""
IMAGE = "nvcr.io/nvidia/k8s/dcgm-exporter"
"""The image's repository."""
PORT = 9400
_COUNTERS = "/etc/gpufleet"
_FILE = "dcgm_counters.csv"


class DcgmExporterConfig(TypedDict):
    """Where DCGM's exporter comes from."""

    image: NotRequired[str]
    """Repository of the image, for a closed network; the tag is 4.5.3-4.8.2-distroless. Default
    nvcr.io/nvidia/k8s/dcgm-exporter."""


class DcgmExporterArgs(DcgmExporterConfig):
    """The same, and which nodes it runs on."""

    namespace: NotRequired[str]
    """Namespace; one that allows hostPath volumes and the capability SYS_ADMIN. Default kube-system."""
    tolerations: NotRequired[Sequence[Taint]]
    """Taints of GPU pools besides nvidia.com/gpu, which is tolerated always. Default: none."""
    labels: NotRequired[Mapping[str, str]]
    """Labels of the objects."""


def plan_counters(args: DcgmExporterArgs) -> dict[str, Any]:
    """The ConfigMap with the fields that it reads."""
    text = files("gpufleet.kubernetes").joinpath(_FILE).read_text(encoding="utf-8")
    metadata = {"name": f"{NAME}-counters", "namespace": args.get("namespace", NAMESPACE)}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {_FILE: text}}


def plan_dcgm_exporter(args: DcgmExporterArgs) -> dict[str, Any]:
    """The DaemonSet. `args` has passed the rules.

    It asks for no GPU, or none would be left for jobs: the container runtime gives it all of them by the image's
    NVIDIA_VISIBLE_DEVICES, on Bottlerocket for the sake of SYS_ADMIN, without which there are no profiling fields.
    Which pod has a GPU it reads from the kubelet. Where a GPU has no profiling fields, it leaves them out.
    Source: github.com/NVIDIA/dcgm-exporter (dcgm-exporter.yaml, docker/Dockerfile, pkg/cmd/app.go),
    bottlerocket-os/bottlerocket#3992.
    """
    kubelet = "/var/lib/kubelet/pod-resources"
    container = {
        "image": f"{args.get('image', IMAGE)}:{TAG}",
        "env": [
            {"name": "DCGM_EXPORTER_LISTEN", "value": f":{PORT}"},
            {"name": "DCGM_EXPORTER_KUBERNETES", "value": "true"},
            {"name": "DCGM_EXPORTER_COLLECTORS", "value": f"{_COUNTERS}/{_FILE}"},
            {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
        ],
        "ports": [{"name": "metrics", "containerPort": PORT}],
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"], "add": ["SYS_ADMIN"]},
            "runAsNonRoot": False,
            "runAsUser": 0,
        },
        "volumeMounts": [
            {"name": "pod-resources", "mountPath": kubelet, "readOnly": True},
            {"name": "counters", "mountPath": _COUNTERS, "readOnly": True},
        ],
    }
    volumes = [
        {"name": "pod-resources", "hostPath": {"path": kubelet}},
        {"name": "counters", "configMap": {"name": f"{NAME}-counters"}},
    ]
    return device_plugin(
        name=NAME,
        namespace=args.get("namespace", NAMESPACE),
        container=container,
        host_paths={},
        node_selector={"nvidia.com/gpu.present": "true"},
        taints=args.get("tolerations", ()),
        more={"volumes": volumes},
    )


class DcgmExporter(Component):
    """NVIDIA's exporter of GPU metrics on the GPU nodes of a cluster: what `gpufleet ps --contexts` asks.

    Not beside NVIDIA's GPU operator, which installs it. On GPUs before Hopper, profilers such as Nsight Compute need
    the same counters: end the exporter on such a node first.
    """

    port: pulumi.Output[int]
    """Port of its metrics, in Prometheus' format under /metrics."""

    def __init__(
        self, name: str, args: DcgmExporterArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[DcgmExporterArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: DcgmExporterArgs) -> list[Finding]:
        return validate_dcgm_exporter(args)

    def create(self, name: str, args: DcgmExporterArgs) -> None:
        labels = args.get("labels", {})
        counters = kubernetes_object(f"{name}-counters", labelled(plan_counters(args), labels), self.child())
        after = self.child(depends_on=[counters])
        made = kubernetes_object(f"{name}-daemonset", labelled(plan_dcgm_exporter(args), labels), after)
        self.port = with_dependencies(pulumi.Output.from_input(PORT), made)
