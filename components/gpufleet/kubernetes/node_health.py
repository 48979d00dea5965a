"""NodeHealth: a program that checks the GPU nodes of a cluster, cordons bad ones and ends what runs on broken GPUs."""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Annotated, Any, NotRequired, TypedDict, Unpack

import pulumi

from gpufleet.catalog import gpu_types
from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.kubernetes.objects import kubernetes_object, labelled
from gpufleet.kubernetes.plugin_daemonset import NAMESPACE
from gpufleet.pulumi_outputs import with_dependencies
from gpufleet.rules import Finding
from gpufleet.rules.kubernetes.node_health import validate_node_health
from gpufleet.typed_dicts import NumberRange

NAME = "gpufleet-node-health"
IMAGE = "docker.io/library/python:3.13-slim"
"""Any image with Python 3.11 or newer does: the program needs its own library only."""
MOST_PERCENT = 20
"""The share at which EKS's node repair stops. Source: docs.aws.amazon.com/eks/latest/userguide/node-repair.html."""
YOUNG_MINUTES = 15
PACKAGE = "gpufleet.node_health"
_PLACE, _INSIDE = "/opt/gpufleet", "node_health"
_FILES = (
    "__init__.py", "__main__.py", "cluster.py", "decisions.py", "gpu_faults.json", "gpu_faults.py", "node_faults.py",
    "watch.py",
)  # fmt: skip
_EXPECTED = "expected.json"
_METADATA = {"app.kubernetes.io/name": NAME}


class NodeHealthConfig(TypedDict):
    """What the program does with bad nodes."""

    image: NotRequired[str]
    """Image with Python 3.11 or newer, for a closed network, with a tag or digest. Default
    docker.io/library/python:3.13-slim."""
    most_percent: NotRequired[Annotated[int, NumberRange(0)]]
    """The most of a pool that is cordoned at a time, in percent; one node always. 100: no bound. Default 20."""
    every_seconds: NotRequired[Annotated[int, NumberRange(1)]]
    """Seconds between looks. Default 30."""
    lasting_minutes: NotRequired[Annotated[int, NumberRange(0)]]
    """Minutes for which devices must be missing before a node is bad: restarts of the kubelet look the same. Default
    5."""
    young_minutes: NotRequired[Annotated[int, NumberRange(0)]]
    """Age of a node, in minutes, from which on its devices are counted: drivers and device plugins take that long.
    Default 15."""
    evict: NotRequired[bool]
    """Whether pods with GPUs are evicted from a node whose GPUs need a reset, so that jobs with retries
    continue elsewhere. Default true."""


class NodeHealthArgs(NodeHealthConfig):
    """The same, and what a node should have."""

    pools: NotRequired[Mapping[str, int]]
    """GPUs of a node of a pool, by its label gpufleet.dev/pool, of types not in the catalog. Default: none."""
    labels: NotRequired[Mapping[str, str]]
    """Labels of the objects."""


def plan_program(args: NodeHealthArgs) -> dict[str, Any]:
    """The ConfigMap with the program, and with the GPUs of a node by type and pool."""
    data = {name: files(PACKAGE).joinpath(name).read_text(encoding="utf-8") for name in _FILES}
    types = {kind: record.gpus for kind, record in sorted(gpu_types().items())}
    data[_EXPECTED] = json.dumps({"types": types, "pools": dict(args.get("pools", {}))}, sort_keys=True)
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": _metadata(), "data": data}


def plan_rights() -> dict[str, dict[str, Any]]:
    """The service account, and its rights, by a short name each.

    Kubernetes has no right to cordon alone: it is one to patch nodes. Events of nodes are in the namespace default.
    """
    rules = [
        _rule("", "nodes", "list", "patch"),
        # Exporters, and the pods of a bad node.
        _rule("", "pods", "list"),
        _rule("", "pods/eviction", "create"),
    ]
    return {
        "service-account": {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _metadata()},
        "cluster-role": _role("ClusterRole", {"name": NAME}, rules),
        "cluster-role-binding": _binding("ClusterRole", {"name": NAME}),
        "role": _role("Role", {"name": NAME, "namespace": "default"}, [_rule("", "events", "create")]),
        "role-binding": _binding("Role", {"name": NAME, "namespace": "default"}),
    }


def plan_deployment(args: NodeHealthArgs) -> dict[str, Any]:
    """The Deployment. `args` has passed the rules.

    One pod at a time: two would count the same pool's cordons apart. Without it nothing is cordoned, and nothing else
    changes; all that it knows is on the nodes.
    """
    command = [
        "python3", "-m", _INSIDE,
        "--expected", f"{_PLACE}/{_INSIDE}/{_EXPECTED}",
        "--every", str(args.get("every_seconds", 30)),
        "--most-percent", str(args.get("most_percent", MOST_PERCENT)),
        "--lasting", str(60 * args.get("lasting_minutes", 5)),
        "--young", str(60 * args.get("young_minutes", YOUNG_MINUTES)),
        *([] if args.get("evict", True) else ["--keep-pods"]),
    ]  # fmt: skip
    container = {
        "name": "node-health",
        "image": args.get("image", IMAGE),
        "command": command,
        "env": [{"name": "PYTHONPATH", "value": _PLACE}, {"name": "PYTHONDONTWRITEBYTECODE", "value": "1"}],
        "resources": {"requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [{"name": "program", "mountPath": _PLACE, "readOnly": True}],
    }
    items = [{"key": name, "path": f"{_INSIDE}/{name}"} for name in (*_FILES, _EXPECTED)]
    pod = {
        "serviceAccountName": NAME,
        "priorityClassName": "system-cluster-critical",
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 65534,
            "runAsGroup": 65534,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [container],
        "volumes": [{"name": "program", "configMap": {"name": NAME, "items": items}}],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": _metadata(),
        "spec": {
            "replicas": 1,
            "strategy": {"type": "Recreate"},
            "selector": {"matchLabels": _METADATA},
            "template": {"metadata": {"labels": _METADATA}, "spec": pod},
        },
    }


class NodeHealth(Component):
    """A program that checks the GPU nodes of a cluster: their GPUs and EFA interfaces, the metrics of DCGM's exporter,
    and the conditions of EKS's and AKS's agents.

    It cordons a bad node, with the reason in an annotation and an event, and evicts the pods with GPUs where a GPU has
    to be reset. It runs in kube-system, on a node without GPUs, and needs DcgmExporter or the GPU operator for XIDs and
    memory errors.
    """

    annotation: pulumi.Output[str]
    """Annotation of bad nodes: gpufleet.dev/unhealthy."""

    def __init__(
        self, name: str, args: NodeHealthArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[NodeHealthArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: NodeHealthArgs) -> list[Finding]:
        return validate_node_health(args)

    def create(self, name: str, args: NodeHealthArgs) -> None:
        labels = args.get("labels", {})
        first = {**plan_rights(), "program": plan_program(args)}
        made = [kubernetes_object(f"{name}-{key}", labelled(each, labels), self.child()) for key, each in first.items()]
        after = self.child(depends_on=made)
        deployment = kubernetes_object(f"{name}-deployment", labelled(plan_deployment(args), labels), after)
        self.annotation = with_dependencies(pulumi.Output.from_input("gpufleet.dev/unhealthy"), deployment)


def _metadata() -> dict[str, Any]:
    return {"name": NAME, "namespace": NAMESPACE, "labels": dict(_METADATA)}


def _rule(group: str, resource: str, *verbs: str) -> dict[str, Any]:
    return {"apiGroups": [group], "resources": [resource], "verbs": list(verbs)}


def _role(kind: str, metadata: Mapping[str, str], rules: list[dict[str, Any]]) -> dict[str, Any]:
    api = "rbac.authorization.k8s.io/v1"
    return {"apiVersion": api, "kind": kind, "metadata": dict(metadata), "rules": rules}


def _binding(kind: str, metadata: Mapping[str, str]) -> dict[str, Any]:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": f"{kind}Binding",
        "metadata": dict(metadata),
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": NAME},
        "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE}],
    }
