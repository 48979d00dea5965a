"""The root directory of a new file system of Lustre, which a job makes writable for all users."""

from collections.abc import Mapping
from typing import Any

from gpufleet.kubernetes.plugin_daemonset import NAMESPACE

IMAGE = "docker.io/library/busybox:1.37"
"""Any image with sh, chmod and mkdir does."""
_NAME_LENGTH = 63
_OPEN = "chmod 1777 /mnt && mkdir -p -m 1777 /mnt/home"


def plan_writable_root(volume: Mapping[str, Any], image: str) -> list[dict[str, Any]]:
    """A volume of the same files, its claim, and a job that lets every user make files and a home there.

    A new file system's root directory belongs to root, and nobody else writes in it; jobs are not root. Lustre has no
    access point, and kubelets change no owners here: jobs set no fsGroup, and FSx's driver asks for none on volumes of
    many nodes. The job is root, but it owns the directory and so needs no capability. It runs in kube-system because
    teams' namespaces admit no root. Mode 1777, as of /tmp: users do not remove each other's files.

    Sources: awslabs/kubeflow-manifests, website/content/en/docs/add-ons/storage/fsx-for-lustre (note about
    permissions); kubernetes-sigs/aws-fsx-csi-driver v1.9.0, deploy/kubernetes/base/csidriver.yaml (fsGroupPolicy:
    ReadWriteOnceWithFSType); docs.aws.amazon.com/fsx/latest/LustreGuide/root-squash.html and
    learn.microsoft.com/azure/azure-managed-lustre/root-squash-configure-settings: by default neither cloud squashes
    root.
    """
    name = f"{volume['metadata']['name'][: _NAME_LENGTH - len('-root')].rstrip('-.')}-root"
    metadata, spec = {"name": name, "namespace": NAMESPACE}, volume["spec"]
    own = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": NAMESPACE, "name": name}
    claim = {
        "accessModes": spec["accessModes"],
        "storageClassName": "",
        "volumeName": name,
        "resources": {"requests": spec["capacity"]},
    }
    return [
        {**volume, "metadata": {"name": name}, "spec": {**spec, "claimRef": own}},
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": claim},
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"template": _pod(name, image)}},
    ]


def _pod(claim: str, image: str) -> dict[str, Any]:
    container = {
        "name": "open",
        "image": image,
        "command": ["sh", "-ec", _OPEN],
        "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}},
        "volumeMounts": [{"name": "files", "mountPath": "/mnt"}],
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    root = {"runAsUser": 0, "runAsGroup": 0, "seccompProfile": {"type": "RuntimeDefault"}}
    spec = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "securityContext": root,
        "containers": [container],
        "volumes": [{"name": "files", "persistentVolumeClaim": {"claimName": claim}}],
    }
    return {"spec": spec}
