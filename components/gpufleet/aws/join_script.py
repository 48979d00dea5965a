"""The script that turns one own server into a node of an EKS cluster: plain values in, shell out."""

import hashlib
import json
import shlex
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from gpufleet.pools.eks_pool import Taint
from gpufleet.pools.node_labels import kubernetes_taints, label_value

DRIVER = "580-server"
"""Branch of the NVIDIA driver as Ubuntu calls it; the last one with Volta (V100) is 580.

Source: packages.ubuntu.com (nvidia-headless-580-server); docs.nvidia.com/datacenter/tesla/drivers (590 drops Maxwell,
Pascal and Volta).
"""
NFS_PATH = "/mnt/shared"
SERVER_LABEL = "gpufleet.dev/server"
"""Label with the server's own name: with an activation SSM calls the node mi-..., which nobody chooses."""

_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
_RELEASES = "https://hybrid-assets.eks.amazonaws.com/releases"
_TOOLKIT = "https://nvidia.github.io/libnvidia-container"
_TOOLKIT_FINGERPRINT = "C95B321B61E88C1809C4F759DDCAE044F796ECB0"
"""NVIDIA's key for the packages of its container toolkit.

Source: https://nvidia.github.io/libnvidia-container/gpgkey, by its fingerprint in several public programs.
"""
_CERTIFICATE, _KEY = "/etc/iam/pki/server.pem", "/etc/iam/pki/server.key"
"""Where nodeadm looks for a server's certificate and key, which the script does not bring.

Source: docs.aws.amazon.com/eks/latest/userguide/hybrid-nodes-creds.html
"""


def nodeadm_url(version: str, arch: str) -> str:
    """Where AWS publishes nodeadm for hybrid nodes; with .sha256 added, its checksum.

    Source: github.com/aws/eks-hybrid (what a release uploads), docs.aws.amazon.com/eks/latest/userguide/
    hybrid-nodes-nodeadm.html (releases/latest/bin/linux/amd64/nodeadm).
    """
    return f"{_RELEASES}/{version}/bin/linux/{arch}/nodeadm"


def node_config(
    cluster_name: str,
    region: str,
    credentials: Mapping[str, str],
    node_name: str,
    labels: Mapping[str, str],
    taints: Sequence[Taint],
) -> dict[str, Any]:
    """nodeadm's NodeConfig: the cluster, what the kubelet registers with, and credentials of one kind.

    Source: docs.aws.amazon.com/eks/latest/userguide/hybrid-nodes-nodeadm.html (Node Config API Reference)
    """
    own = {**labels, SERVER_LABEL: label_value(node_name)}
    flags = ["--node-labels=" + ",".join(f"{key}={value}" for key, value in sorted(own.items()))]
    if taints:
        words = (f"{key}={rest}" for key, rest in sorted(kubernetes_taints(taints).items()))
        flags.append("--register-with-taints=" + ",".join(words))
    hybrid: dict[str, Any]
    if "activation_id" in credentials:
        hybrid = {
            "ssm": {
                "activationId": credentials["activation_id"],
                "activationCode": credentials["activation_code"],
            }
        }
    else:
        hybrid = {
            "iamRolesAnywhere": {
                "nodeName": node_name,
                "trustAnchorArn": credentials["trust_anchor_arn"],
                "profileArn": credentials["profile_arn"],
                "roleArn": credentials["role_arn"],
                "certificatePath": _CERTIFICATE,
                "privateKeyPath": _KEY,
            }
        }
    return {
        "apiVersion": "node.eks.aws/v1alpha1",
        "kind": "NodeConfig",
        "spec": {
            "cluster": {"name": cluster_name, "region": region},
            "kubelet": {"flags": flags},
            "hybrid": hybrid,
        },
    }


def join_script(
    *,
    cluster_name: str,
    region: str,
    kubernetes_version: str,
    credentials: Mapping[str, str],
    node_name: str,
    labels: Mapping[str, str],
    taints: Sequence[Taint] = (),
    nodeadm_version: str,
    nodeadm_sha256: str,
    arch: str = "amd64",
    nfs: str | None = None,
    nfs_path: str = NFS_PATH,
    driver: str = DRIVER,
) -> str:
    """The shell script (bash, as root, Ubuntu 22.04 or 24.04) for one server. It holds secrets: no file, no argument.

    kubernetes_version: 1.34 (a patch is left out). credentials: as HybridNodes gives them. node_name: the server's
    name; with certificates it is the node's, and the certificate's common name. nodeadm_version: such as v1.0.19, or
    latest; nodeadm_sha256: 64 hex digits, of the file at nodeadm_url. nfs: host:/path, None without shared files.
    driver: Ubuntu's name of a branch, installed where no driver answers.

    The script leaves alone what is there already, so that it can be run again after whatever stopped it. What it wrote
    that is secret is readable for root only, and is never in a command line.
    """
    config = node_config(cluster_name, region, credentials, node_name, labels, taints)
    hybrid = config["spec"]["hybrid"]
    # A new activation alone makes no server join again: one that has registered does not need it.
    lasting = {**config, "spec": {**config["spec"], "hybrid": "ssm" if "ssm" in hybrid else hybrid}}
    values = {
        "SERVER": node_name,
        "CLUSTER": cluster_name,
        "KUBERNETES": ".".join(kubernetes_version.split(".")[:2]),
        "PROVIDER": "ssm" if "ssm" in hybrid else "iam-ra",
        "MACHINE": _MACHINES[arch],
        "DRIVER": driver,
        "DRIVER_PACKAGES": f"nvidia-headless-{driver} nvidia-utils-{driver}",
        "TOOLKIT_KEY": f"{_TOOLKIT}/gpgkey",
        "TOOLKIT_FINGERPRINT": _TOOLKIT_FINGERPRINT,
        "TOOLKIT_PACKAGES": f"{_TOOLKIT}/stable/deb/{arch}",
        "NFS": nfs or "",
        "NFS_PATH": nfs_path,
        "NODEADM_VERSION": nodeadm_version,
        "NODEADM_URL": nodeadm_url(nodeadm_version, arch),
        "NODEADM_SHA256": nodeadm_sha256.lower(),
        "NODE_DIGEST": hashlib.sha256(json.dumps(lasting, sort_keys=True).encode()).hexdigest(),
        "NODE_CONFIG": json.dumps(config, indent=2),  # JSON is YAML
    }
    head = [
        "#!/usr/bin/env bash",
        "# Joins one own server to an EKS cluster. It holds credentials: pipe it, do not keep it.",
        *(f"{name}={shlex.quote(value)}" for name, value in values.items()),
    ]
    return "\n".join(head) + "\n\n" + (files("gpufleet.aws") / "join_script.sh").read_text()
