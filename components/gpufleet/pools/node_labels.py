"""Labels and taints of the nodes of a GPU pool, the same on every cloud."""

import re
from collections.abc import Iterable, Mapping, Sequence

from gpufleet.pools.eks_pool import Taint

GPU_TAINT: Taint = {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}
"""Keeps pods without GPUs off GPU nodes. The charts of the NVIDIA and EFA device plugins tolerate it by default."""

EFFECTS = {"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute", "PREFER_NO_SCHEDULE": "PreferNoSchedule"}
"""A taint's effect as Kubernetes spells it, by the spelling of pools, which is EKS's."""

REGION_LABEL = "topology.kubernetes.io/region"
"""On nodes of a cloud, by the cloud's controller. Own servers that join an EKS cluster have none.

Source: kubernetes.io/docs/reference/labels-annotations-taints; github.com/aws/eks-hybrid (internal/kubelet/config.go),
which gives them eks.amazonaws.com/compute-type and hybrid-credential-provider only.
"""

ZONE_ID = "gpufleet.dev/zone-id"
"""On nodes that are near each other: in one zone of a cloud, or in one place of own servers."""

PREFIX = "gpufleet.dev/"
OBJECT_LABELS = ("stack", "environment", "owner", "project", "purpose", "expires-at", "grace")
"""Labels of an environment's Kubernetes objects other than nodes, without the prefix: the mark of gpufleet
(`gpufleet.ownership`), and keys of its cloud tags."""

CLOUD = "cloud"
"""Value of the label `place` on nodes of a cloud, whatever the cloud and region: an environment has one."""


def node_labels(
    pool: str, gpu_models: Iterable[str], zones: Sequence[str], fields: Mapping[str, str], place: str = CLOUD
) -> dict[str, str]:
    """The labels of a pool's nodes.

    ``fields``: the pool's capacity, placement and network. Jobs select nodes by ``place`` and GPU model. The GPU model
    and the zone (an id on AWS, a number on Azure) are labels if all nodes have the same.
    ``nvidia.com/gpu.present`` is the label by which NVIDIA's device plugin selects nodes without feature discovery:
    https://github.com/NVIDIA/k8s-device-plugin (values.yaml, affinity).
    """
    facts = {"pool": pool, "place": place, **fields}
    models = set(gpu_models)
    if len(models) == 1:
        facts["gpu"] = models.pop()
    if len(set(zones)) == 1:
        facts["zone-id"] = zones[0]
    labels = {f"{PREFIX}{key}": label_value(facts[key]) for key in sorted(facts)}
    return {**labels, "nvidia.com/gpu.present": "true"}


def merge_gpu_taint(taints: Sequence[Taint]) -> list[Taint]:
    """The GPU taint and a pool's own taints; one of these with the key of the GPU taint replaces it."""
    if any(taint["key"] == GPU_TAINT["key"] for taint in taints):
        return [*taints]
    return [GPU_TAINT, *taints]


def kubernetes_taints(taints: Iterable[Taint]) -> dict[str, str]:
    """Taints as the kubelet and the autoscaler write them: key to ``value:NoSchedule``."""
    return {taint["key"]: f"{taint.get('value', '')}:{EFFECTS[taint['effect']]}" for taint in taints}


def label_value(text: str) -> str:
    """``text`` as a legal label value: letters, digits, ``-_.``, at most 63 characters, none of ``-_.`` at an end."""
    return re.sub("[^A-Za-z0-9_.-]+", "-", text)[:63].strip("-_.")
