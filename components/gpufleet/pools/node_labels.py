"""What the scheduler knows about the nodes of a GPU pool, on every cloud alike: labels and taints."""

import re
from collections.abc import Iterable, Mapping, Sequence

from gpufleet.pools.eks_pool import Taint

GPU_TAINT: Taint = {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}
"""Keeps pods without GPUs off GPU nodes. The NVIDIA and EFA device plugins tolerate it as their charts come."""

EFFECTS = {"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute", "PREFER_NO_SCHEDULE": "PreferNoSchedule"}
"""A taint's effect as Kubernetes spells it, by the spelling of pools, which is EKS's."""

PREFIX = "gpufleet.dev/"
OBJECT_LABELS = ("environment", "owner", "project", "purpose", "expires-at", "grace")
"""Labels of an environment's Kubernetes objects but nodes, after the prefix: the words of its tags in a cloud."""

CLOUD = "cloud"
"""Place of nodes that a cloud rents out, whichever cloud and region: an environment has one."""


def node_labels(
    pool: str, gpu_models: Iterable[str], zones: Sequence[str], words: Mapping[str, str], place: str = CLOUD
) -> dict[str, str]:
    """The labels of a pool's nodes.

    ``words`` are the pool's capacity, placement and network; ``place``, with the GPU model, is what jobs choose by. The
    GPU model and the zone (an id on AWS, a number on Azure) are labels where all nodes have the same.
    ``nvidia.com/gpu.present`` is what NVIDIA's device plugin selects nodes by where no feature discovery runs:
    https://github.com/NVIDIA/k8s-device-plugin (values.yaml, affinity).
    """
    facts = {"pool": pool, "place": place, **words}
    models = set(gpu_models)
    if len(models) == 1:
        facts["gpu"] = models.pop()
    if len(set(zones)) == 1:
        facts["zone-id"] = zones[0]
    labels = {f"{PREFIX}{key}": label_value(facts[key]) for key in sorted(facts)}
    return {**labels, "nvidia.com/gpu.present": "true"}


def kubernetes_taints(taints: Iterable[Taint]) -> dict[str, str]:
    """Taints as the kubelet and the autoscaler write them: key to ``value:NoSchedule``."""
    return {taint["key"]: f"{taint.get('value', '')}:{EFFECTS[taint['effect']]}" for taint in taints}


def label_value(text: str) -> str:
    """``text`` as a legal label value: letters, digits, ``-_.``, at most 63 characters, no sign at either end."""
    return re.sub("[^A-Za-z0-9_.-]+", "-", text)[:63].strip("-_.")
