"""The Node object that EKS makes of an instance: labels, taints and resources. Pure: facts in, objects out.

What is not in the catalog or in the pool's plan (the most pods, what firmware and kubelet keep for themselves) is
rounded to the safe side and said so at its place.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from gpufleet.aws.scheduling import GPU_TAINT, node_labels
from gpufleet.aws.user_data import HUGE_PAGES
from gpufleet.catalog import AwsGpuType
from gpufleet.pool import Taint

FAKE = {"kwok.x-k8s.io/node": "fake"}

MOST_PODS = 110
"""Of any node. On EKS it depends on the type's network interfaces; 110 is what EKS recommends below 30 vCPU:
https://docs.aws.amazon.com/eks/latest/userguide/choosing-instance-type.html"""

MEMORY_KEPT = 0.075
"""The part of an instance's memory that firmware and kernel keep. Karpenter takes this one where it knows nothing:
https://karpenter.sh/docs/reference/settings/ (VM_MEMORY_OVERHEAD_PERCENT)."""

EPHEMERAL_GIB = 100
"""The root disk of a pool where nothing is said."""

_EFFECTS = {"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute", "PREFER_NO_SCHEDULE": "PreferNoSchedule"}
_ARCHITECTURES = {"x86_64": "amd64", "arm64": "arm64"}


def gpu_node(
    name: str,
    record: AwsGpuType,
    *,
    zone_id: str,
    region: str,
    pool: str,
    efa: bool = False,
    words: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    taints: Sequence[Taint] | None = None,
) -> dict[str, Any]:
    """A node of a GPU pool.

    words: the pool's capacity, placement and network, as its labels have them; default: none. labels, taints: all of
    the node group's, which then replace what a pool of that name has by itself.
    """
    words = {"network": "efa" if efa else "plain", **(words or {})}
    own = node_labels(pool, [record.gpu_model], [zone_id], words) if labels is None else labels
    resources = {"nvidia.com/gpu": str(record.gpus)}
    if efa and record.efa_interfaces:
        resources["vpc.amazonaws.com/efa"] = str(record.efa_interfaces)
    return _node(
        name,
        {**_eks_labels(name, record.type, record.architecture, zone_id, region, pool), **own},
        [GPU_TAINT] if taints is None else taints,
        vcpus=record.vcpus,
        memory_gib=record.memory_gib,
        huge_pages=HUGE_PAGES if efa and record.efa_interfaces else 0,
        resources=resources,
    )


def system_node(name: str, *, zone_id: str, region: str, vcpus: int = 2, memory_gib: int = 8) -> dict[str, Any]:
    """A node for what is no training: operators, launchers. By default like an m6i.large."""
    labels = _eks_labels(name, "m6i.large", "x86_64", zone_id, region, "system")
    return _node(name, labels, [], vcpus=vcpus, memory_gib=memory_gib, huge_pages=0, resources={})


def zone_name(region: str, zone_id: str) -> str:
    """The name of a zone in the simulated account, where az1 is always a; a real account's differ."""
    return region + chr(ord("a") + int(zone_id.rpartition("az")[2]) - 1)


def _eks_labels(name: str, type_: str, architecture: str, zone_id: str, region: str, group: str) -> dict[str, str]:
    """What kubelet, EKS and AWS's cloud controller put on every node of a managed node group.

    https://kubernetes.io/docs/reference/labels-annotations-taints/ and, for the zone id,
    https://docs.aws.amazon.com/eks/latest/userguide/node-topology.html (looked at in 2026-11).
    """
    processor, zone = _ARCHITECTURES[architecture], zone_name(region, zone_id)
    return {
        "beta.kubernetes.io/arch": processor,
        "beta.kubernetes.io/instance-type": type_,
        "beta.kubernetes.io/os": "linux",
        "eks.amazonaws.com/nodegroup": group,
        "failure-domain.beta.kubernetes.io/region": region,
        "failure-domain.beta.kubernetes.io/zone": zone,
        "k8s.io/cloud-provider-aws": "rehearsal",
        "kubernetes.io/arch": processor,
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": type_,
        "topology.k8s.aws/zone-id": zone_id,
        "topology.kubernetes.io/region": region,
        "topology.kubernetes.io/zone": zone,
    }


def _node(
    name: str,
    labels: Mapping[str, str],
    taints: Sequence[Taint],
    *,
    vcpus: int,
    memory_gib: int,
    huge_pages: int,
    resources: Mapping[str, str],
) -> dict[str, Any]:
    """huge_pages: of 2 MiB each, which are taken from the memory."""
    huge_mib = 2 * huge_pages
    memory_mib = math.floor(memory_gib * 1024 * (1 - MEMORY_KEPT))
    shared = {
        "pods": str(MOST_PODS),
        "hugepages-1Gi": "0",
        "hugepages-2Mi": f"{huge_mib}Mi",
        **resources,
    }
    capacity = {"cpu": str(vcpus), "memory": f"{memory_mib}Mi", "ephemeral-storage": f"{EPHEMERAL_GIB}Gi"}
    allocatable = {
        "cpu": f"{1000 * vcpus - _kept_cpu(vcpus)}m",
        "memory": f"{memory_mib - huge_mib - _kept_memory_mib()}Mi",
        "ephemeral-storage": f"{EPHEMERAL_GIB * 9 // 10}Gi",
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": dict(labels), "annotations": FAKE},
        "spec": {
            "providerID": f"rehearsal:///{labels['topology.kubernetes.io/zone']}/{name}",
            "taints": [
                {"key": taint["key"], "value": taint.get("value", ""), "effect": _EFFECTS[taint["effect"]]}
                for taint in taints
            ],
        },
        "status": {"capacity": {**capacity, **shared}, "allocatable": {**allocatable, **shared}},
    }


def _kept_cpu(vcpus: int) -> int:
    """Thousandths of a CPU that EKS's images reserve: 6 % of the first core, 1 % of the second, 0.5 % of the third and
    fourth, 0.25 % of the others (https://github.com/awslabs/amazon-eks-ami, nodeadm, kubelet's reserved resources)."""
    parts = [60.0, 10.0, 5.0, 5.0][:vcpus]
    return math.ceil(sum(parts) + 2.5 * max(0, vcpus - 4))


def _kept_memory_mib() -> int:
    """What EKS's images reserve for the kubelet, 255 MiB and 11 MiB for each pod, and 100 MiB of eviction threshold."""
    return 255 + 11 * MOST_PODS + 100
