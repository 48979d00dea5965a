"""What a queue needs so that jobs move to the next pool when capacity does not come: one small program in the cluster.

Kueue 0.19.2 has no such thing: docs/decisions/0036.
"""

import hashlib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Annotated, Any, NotRequired, TypedDict

from gpufleet.typed_dicts import Check, NumberRange

IMAGE = "docker.io/library/python"
"""Any image with Python 3.11 or newer does. Source: hub.docker.com/_/python."""
TAG = "3.13-alpine"
NAMESPACE = "kueue-system"
"""That of Kueue's chart and of its manifest."""
SECONDS = 5
"""Between two looks at the jobs."""


def _above_zero(minutes: object) -> object:
    try:
        # `pulumi config set --path` writes text.
        known = float(minutes) if isinstance(minutes, int | float | str) and not isinstance(minutes, bool) else 0
    except ValueError:
        known = 0
    if not 0 < known < float("inf"):
        raise ValueError("must be above 0; give minutes, such as 15")
    return known


class OverflowConfig(TypedDict):
    """How jobs move from pool to pool."""

    capacity_timeout_minutes: Annotated[float, Check(_above_zero), NumberRange(0, above=True)]
    """Minutes, above 0, after which a job gives up a pool where not all of its workers have a node, and goes to the
    next of its pools. It includes the time that it waits for quota there. The cluster autoscaler itself waits for 15
    minutes for a node that was requested."""
    pools: NotRequired[Sequence[str]]
    """Pools in order, for jobs that name no pool, GPU or place. Default: only jobs with --pools overflow."""
    image: NotRequired[str]
    """Repository of the image with Python that moves the jobs, for a closed network; its tag is 3.13-alpine. Default
    docker.io/library/python."""


def plan_overflow(name: str, config: Mapping[str, Any], node_selector: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """The objects by a short name, in the order in which they are made. `config` has passed the rules."""
    about = {"name": f"{name}-overflow", "namespace": NAMESPACE}
    labels = {"app.kubernetes.io/name": about["name"]}
    program = files("gpufleet.jobs.kubernetes").joinpath("overflow_program.py").read_text(encoding="utf-8")
    rbac = "rbac.authorization.k8s.io"
    rules = [
        {"apiGroups": ["kubeflow.org"], "resources": ["mpijobs"], "verbs": ["list", "patch"]},
        {"apiGroups": ["kueue.x-k8s.io"], "resources": ["workloads"], "verbs": ["list", "patch"]},
        {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["list", "delete"]},
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]},
    ]
    account = {"kind": "ServiceAccount", **about}
    role = {"apiGroup": rbac, "kind": "ClusterRole", "name": about["name"]}
    cluster_wide = {"name": about["name"]}
    return {
        "account": {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": about},
        "role": {"apiVersion": f"{rbac}/v1", "kind": "ClusterRole", "metadata": cluster_wide, "rules": rules},
        "binding": {
            "apiVersion": f"{rbac}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": cluster_wide,
            "roleRef": role,
            "subjects": [account],
        },
        "program": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": about, "data": {"overflow.py": program}},
        "deployment": {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {**about, "labels": labels},
            "spec": {
                "replicas": 1,
                # Two at a time would only get more 409s, but nothing needs two.
                "strategy": {"type": "Recreate"},
                "selector": {"matchLabels": labels},
                "template": {
                    # A changed program restarts it.
                    "metadata": {
                        "labels": labels,
                        "annotations": {"gpufleet.dev/program": hashlib.sha256(program.encode()).hexdigest()[:16]},
                    },
                    "spec": _pod(about["name"], config, node_selector),
                },
            },
        },
    }


def _pod(name: str, config: Mapping[str, Any], node_selector: Mapping[str, str]) -> dict[str, Any]:
    """A pod under Pod Security "restricted"."""
    container = {
        "name": "overflow",
        "image": f"{config.get('image', IMAGE)}:{TAG}",
        "command": ["python3", "-I", "/program/overflow.py", f"--every={SECONDS}"],
        "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": "128Mi"}},
        "volumeMounts": [{"name": "program", "mountPath": "/program", "readOnly": True}],
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }
    security = {"runAsNonRoot": True, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"}}
    return {
        "serviceAccountName": name,
        "securityContext": security,
        **({"nodeSelector": dict(node_selector)} if node_selector else {}),
        "containers": [container],
        "volumes": [{"name": "program", "configMap": {"name": name}}],
    }
