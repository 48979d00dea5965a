"""The node that EKS's cluster autoscaler makes up of a node group without nodes, and no more than that.

From the instance type CPU, memory and GPUs; from the Auto Scaling group region, zone and tags; from EKS the labels,
taints and tags of the node group. Nothing is reserved for kubelet and system: the real one does not know how much.

Source: github.com/kubernetes/autoscaler, branch cluster-autoscaler-release-1.34, cluster-autoscaler/cloudprovider/aws:
buildNodeFromTemplate and buildGenericLabels in aws_manager.go, getManagedNodegroupInfo in aws_wrapper.go.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from gpufleet.catalog import AwsGpuType
from gpufleet.pools.eks_pool import Taint
from tools.kubernetes.eks_node import zone_name
from tools.kubernetes.fake_node import ARCHITECTURES, EFFECTS

TEMPLATE = "k8s.io/cluster-autoscaler/node-template"
MOST_PODS = 110
_TAINT = re.compile("(.*):(NoSchedule|NoExecute|PreferNoSchedule)")


def made_up_node(
    record: AwsGpuType,
    *,
    zone_id: str,
    region: str,
    group: str,
    labels: Mapping[str, str],
    taints: Sequence[Taint],
    tags: Mapping[str, str],
    scaling_tags: Mapping[str, str],
) -> dict[str, Any]:
    """The Node object. labels, taints, tags: the node group's. scaling_tags: those of its Auto Scaling group."""
    zone = zone_name(region, zone_id)
    generic = {
        "kubernetes.io/arch": ARCHITECTURES[record.architecture],
        "kubernetes.io/hostname": "template",
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": record.type,
        "topology.ebs.csi.aws.com/zone": zone,
        "topology.kubernetes.io/region": region,
        "topology.kubernetes.io/zone": zone,
    }
    resources = {
        "cpu": str(record.vcpus),
        "memory": f"{record.memory_gib}Gi",
        "nvidia.com/gpu": str(record.gpus),
        "pods": str(MOST_PODS),
        **_tagged(scaling_tags, "resources"),
        **_tagged(tags, "resources"),
    }
    return {
        "metadata": {
            "name": "template",
            "labels": {**generic, **_tagged(scaling_tags, "label"), "eks.amazonaws.com/nodegroup": group, **labels},
        },
        "spec": {"taints": [*_taints_of_tags(scaling_tags), *_taints_of_eks(taints)]},
        "status": {"capacity": resources, "allocatable": resources},
    }


def _tagged(tags: Mapping[str, str], kind: str) -> dict[str, str]:
    prefix = f"{TEMPLATE}/{kind}/"
    return {key.removeprefix(prefix): value for key, value in tags.items() if key.startswith(prefix)}


def _taints_of_tags(tags: Mapping[str, str]) -> list[dict[str, str]]:
    read = [(key, _TAINT.fullmatch(text)) for key, text in _tagged(tags, "taint").items()]
    return [{"key": key, "value": found[1], "effect": found[2]} for key, found in read if found]


def _taints_of_eks(taints: Sequence[Taint]) -> list[dict[str, str]]:
    """Without those that have no value: EKS leaves it out of its answer, and the autoscaler then the whole taint."""
    valued = [(taint["key"], taint.get("value"), EFFECTS[taint["effect"]]) for taint in taints]
    return [{"key": key, "value": value, "effect": effect} for key, value, effect in valued if value]
