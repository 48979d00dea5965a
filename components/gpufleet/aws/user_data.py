"""User data of GPU nodes: what a node runs at first boot, before it joins the cluster.

EKS merges its own part (cluster name, endpoint, certificate, labels, taints) into what is given here, as long as the
image is EKS's own. With a customer's image nothing is merged, and the node would never join: :class:`Join` carries
those facts then.

The wire form is base64 of plain text. It must not be compressed: EKS accepts a gzipped template when the node group
is made and refuses its first update (terraform-aws-modules/terraform-aws-eks#1875).
"""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

HUGE_PAGES = 5128
"""2-MiB huge pages on a node with EFA (10 GiB), as AWS's EFA installer reserves them; a pod asks for 5120Mi of them."""

_MOST_LOCKED_MEMORY = 2**53
"""Bytes that a container may lock on an AL2023 node with EFA: 8 PiB, more than any node has.

A process that is not root has no IPC_LOCK, whatever its pod asks for, and containerd under systemd leaves it 8 MiB;
EFA registers its buffers as locked memory and fails with -12, "Cannot allocate memory". nodeadm's own base spec says
only RLIMIT_NOFILE, a list that is given here takes its place, and its merge reads numbers as floats: of RLIM_INFINITY
it makes 18446744073709552000, which containerd cannot read. Sources: NVIDIA/nvidia-container-toolkit#2037,
awslabs/awsome-distributed-ai#647, awslabs/amazon-eks-ami nodeadm/internal/containerd/base-runtime-spec.json and
base_runtime_spec.go, nodeadm/internal/util/merge.go, nodeadm/doc/examples.md (Modifying container RLIMITs).
"""
_CONTAINER_LIMITS = {
    "process": {
        "rlimits": [
            {"type": "RLIMIT_NOFILE", "soft": 65536, "hard": 1048576},
            {"type": "RLIMIT_MEMLOCK", "soft": _MOST_LOCKED_MEMORY, "hard": _MOST_LOCKED_MEMORY},
        ]
    }
}

_BOUNDARY = "==gpufleet=="
_HUGE_PAGES_SCRIPT = (
    f"#!/bin/bash\necho 'vm.nr_hugepages = {HUGE_PAGES}' > /etc/sysctl.d/90-efa.conf\nsysctl --system\n"
)

_LOCAL_DISKS_HOOK = """#!/bin/bash
# Local NVMe disks hold Docker's files: images, and what containers write. Without any, the root disk does.
disks=($(lsblk -dnpo NAME,MODEL | awk '/Instance Storage/ {print $1}'))
[ ${#disks[@]} -gt 0 ] && ! mountpoint -q /var/lib/docker || exit 0
place=${disks[0]}
if [ ${#disks[@]} -gt 1 ] && { command -v mdadm || dnf install -y -q mdadm; } >/dev/null; then
    mdadm --create /dev/md0 --run --force --level=0 --raid-devices=${#disks[@]} "${disks[@]}" && place=/dev/md0
fi
mkfs.xfs -q -f -K "$place" && mkdir -p /var/lib/docker /mnt/local || exit 0
mount -o noatime "$place" /mnt/local || exit 0
cp -a /var/lib/docker/. /mnt/local/ && umount /mnt/local && mount -o noatime "$place" /var/lib/docker
"""


@dataclass(frozen=True)
class Join:
    """What a node with a customer's image must know to join the cluster.

    ``certificate_authority`` is base64 of PEM, ``service_cidr`` the IPv4 range of Kubernetes services. Labels and
    taints (key to ``value:Effect``) are set by the node itself, for EKS cannot add them to its start-up.
    """

    cluster_name: str
    endpoint: str
    certificate_authority: str
    service_cidr: str
    labels: Mapping[str, str]
    taints: Mapping[str, str]


def amazon_linux(efa: bool, join: Join | None = None) -> str:
    """MIME multipart user data for Amazon Linux 2023, in base64.

    One part is nodeadm's NodeConfig: local NVMe disks, where the type has any, become one RAID 0 under containerd and
    the kubelet, so that checkpoints and image layers do not go through the root volume. With ``efa`` containers may
    lock any amount of memory, and a script reserves huge pages; nodeadm starts the kubelet after it, so the kubelet
    counts them.
    """
    parts = [("application/node.eks.aws", json.dumps(_node_config(efa, join), indent=2))]  # JSON is YAML
    if efa:
        parts.append(("text/x-shellscript", _HUGE_PAGES_SCRIPT))
    return _base64(_multipart(parts))


def container_instance(efa: bool) -> str:
    """User data for a node of AWS Batch, in base64: local disks for containers, and huge pages with ``efa``.

    Local NVMe disks, where the type has any, become one file system (RAID 0 of several) under Docker: images, and all
    that a container writes beside its mounts, /tmp too. A hook does that, as cloud-init runs it before Docker starts.
    Batch adds its own part (the ECS cluster) to MIME multipart user data, and takes no other. Sources:
    docs.aws.amazon.com/batch/latest/userguide/launch-templates.html, docs.aws.amazon.com/AmazonECS/latest/
    developerguide/bootstrap_container_instance.html (before the Docker daemon starts),
    rbreslow/aws-batch-gpu-ephemeral-storage (a hook on nodes of Batch).
    """
    parts = [("text/cloud-boothook", _LOCAL_DISKS_HOOK)]
    if efa:
        parts.append(("text/x-shellscript", _HUGE_PAGES_SCRIPT))
    return _base64(_multipart(parts))


def bottlerocket(efa: bool) -> str:
    """TOML settings for Bottlerocket, in base64: local disks for containers; huge pages and locked memory with ``efa``.

    The disk command is not essential to the boot, as most G types have no local disk. Where Bottlerocket finds EFA it
    lets containers lock any amount of memory by itself, and sets ``vm/nr_hugepages`` by the number of vCPUs unless that
    very key is given; of ``vm.nr_hugepages`` beside it, whichever is written last would count. Source:
    bottlerocket-os/bottlerocket-core-kit#141, sources/api/corndog/src/main.rs.
    """
    lines = [
        "[settings.bootstrap-commands.local-storage]",
        "commands = [",
        '  ["apiclient", "ephemeral-storage", "init"],',
        '  ["apiclient", "ephemeral-storage", "bind", "--dirs", '
        '"/var/lib/containerd", "/var/lib/kubelet", "/var/log/pods"],',
        "]",
        "essential = false",
        'mode = "always"',
    ]
    if efa:
        lines += ["", "[settings.kernel.sysctl]", f'"vm/nr_hugepages" = "{HUGE_PAGES}"']
        lines += ["", "[settings.oci-defaults.resource-limits.max-locked-memory]"]
        lines += ['soft-limit = "unlimited"', 'hard-limit = "unlimited"']
    return _base64("\n".join(lines) + "\n")


def _node_config(efa: bool, join: Join | None) -> dict[str, object]:
    spec: dict[str, object] = {"instance": {"localStorage": {"strategy": "RAID0"}}}
    if efa:
        spec["containerd"] = {"baseRuntimeSpec": _CONTAINER_LIMITS}
    if join is not None:
        spec["cluster"] = {
            "name": join.cluster_name,
            "apiServerEndpoint": join.endpoint,
            "certificateAuthority": join.certificate_authority,
            "cidr": join.service_cidr,
        }
        labels = ",".join(f"{key}={value}" for key, value in join.labels.items())
        taints = ",".join(f"{key}={value}" for key, value in join.taints.items())
        spec["kubelet"] = {"flags": [f"--node-labels={labels}", f"--register-with-taints={taints}"]}
    return {"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": spec}


def _multipart(parts: Sequence[tuple[str, str]]) -> str:
    lines = ["MIME-Version: 1.0", f'Content-Type: multipart/mixed; boundary="{_BOUNDARY}"', ""]
    for content_type, body in parts:
        lines += [f"--{_BOUNDARY}", f"Content-Type: {content_type}", "", body]
    lines += [f"--{_BOUNDARY}--", ""]
    return "\n".join(lines)


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
