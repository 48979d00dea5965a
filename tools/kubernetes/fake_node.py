"""The Node object of a fake node, whichever cloud it plays: labels, taints and resources. Pure: facts in, objects out.

A kubelet knows, and so does the node:
- CPU and memory: of the instance type, less what firmware, image and huge pages take;
- huge pages: those that the kernel has reserved before the kubelet starts, which user data asks for
  (https://kubernetes.io/docs/tasks/manage-hugepages/scheduling-hugepages);
- labels and taints: of the node group, or of the kubelet's own flags, and those that the cloud's controllers add;
- GPUs and EFA interfaces: not by itself. It learns of them from a device plugin on the same node, whose pod may never
  come (https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins). Until then they stand
  in an annotation only, which no scheduler reads: see device_plugins.py.

What is not in the catalog (the most pods, what firmware keeps for itself) is rounded to the safe side and said so at
its place.
"""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gpufleet.pools.eks_pool import Taint

FAKE = {"kwok.x-k8s.io/node": "fake"}
POOL_LABEL = "rehearsal.gpufleet.dev/pool"
"""On every fake node, whatever its cloud calls node groups: by it the nodes of a pool are found."""

MOST_PODS = 110
"""Of any node. On EKS it depends on the type's network interfaces; 110 is what EKS recommends below 30 vCPU:
https://docs.aws.amazon.com/eks/latest/userguide/choosing-instance-type.html. On AKS with an overlay network the default
is 250; fewer is the safe side."""

MEMORY_KEPT = 0.075
"""The part of an instance's memory that firmware and kernel keep. Karpenter takes this one where it knows nothing:
https://karpenter.sh/docs/reference/settings/ (VM_MEMORY_OVERHEAD_PERCENT)."""

EPHEMERAL_GIB = 100
"""The root disk of a pool where nothing is said."""

EFFECTS = {"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute", "PREFER_NO_SCHEDULE": "PreferNoSchedule"}
ARCHITECTURES = {"x86_64": "amd64", "arm64": "arm64"}


GPU, EFA = "nvidia.com/gpu", "vpc.amazonaws.com/efa"
"""The resources that device plugins tell of."""

DEVICES = "rehearsal.gpufleet.dev/devices"
"""Annotation of a fake node: its machine's devices by resource, as JSON, whether a plugin tells of them or not."""
NO_DRIVER = {"rehearsal.gpufleet.dev/driver": "none"}
"""Annotation of one whose image has no driver."""


class Machine(NamedTuple):
    """What image, launch template and user data give a machine, besides its type.

    built_in: resources that nodes have without any pod, as their device plugin is part of the image.
    """

    driver: bool = True
    """Whether the image has NVIDIA's driver; without it a device plugin finds no GPU."""
    efa_interfaces: int = 0
    huge_pages: int = 0
    """Of 2 MiB each."""
    built_in: tuple[str, ...] = ()


PLAIN = Machine()


class Kept(NamedTuple):
    """What a cloud's images reserve for kubelet and system: thousandths of a CPU, and MiB."""

    cpu: int
    memory_mib: int


def fake_node(
    name: str,
    pool: str,
    labels: Mapping[str, str],
    taints: Sequence[Taint],
    *,
    vcpus: int,
    memory_gib: int,
    kept: Kept,
    gpus: int = 0,
    machine: Machine = PLAIN,
) -> dict[str, Any]:
    """gpus: those in the machine. Huge pages are taken from its memory."""
    huge_mib = 2 * machine.huge_pages
    devices = {resource: count for resource, count in ((GPU, gpus), (EFA, machine.efa_interfaces)) if count}
    unseen = {**FAKE, DEVICES: json.dumps(devices), **({} if machine.driver else NO_DRIVER)}
    memory_mib = math.floor(memory_gib * 1024 * (1 - MEMORY_KEPT))
    shared = {
        "pods": str(MOST_PODS),
        "hugepages-1Gi": "0",
        "hugepages-2Mi": f"{huge_mib}Mi",
        **{resource: str(devices[resource]) for resource in machine.built_in if resource in devices},
    }
    capacity = {"cpu": str(vcpus), "memory": f"{memory_mib}Mi", "ephemeral-storage": f"{EPHEMERAL_GIB}Gi"}
    allocatable = {
        "cpu": f"{1000 * vcpus - kept.cpu}m",
        "memory": f"{memory_mib - huge_mib - kept.memory_mib}Mi",
        "ephemeral-storage": f"{EPHEMERAL_GIB * 9 // 10}Gi",
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {**labels, POOL_LABEL: pool}, "annotations": unseen},
        "spec": {
            # An own server is in no zone of any cloud.
            "providerID": f"rehearsal:///{labels.get('topology.kubernetes.io/zone', pool)}/{name}",
            "taints": [
                {"key": taint["key"], "value": taint.get("value", ""), "effect": EFFECTS[taint["effect"]]}
                for taint in taints
            ],
        },
        "status": {"capacity": {**capacity, **shared}, "allocatable": {**allocatable, **shared}},
    }
