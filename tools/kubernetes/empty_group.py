"""The node that a cluster autoscaler makes up of a node group without nodes, and no more than that.

On EKS: CPU, memory and GPUs from a table of instance types; region, zone (the first one) and tags from the Auto Scaling
group; labels, taints and tags from eks:DescribeNodegroup. It sees no launch template, so neither EFA nor huge pages.
On AKS: the same three from a table of sizes; labels, taints and tags from the agent pool's scale set.
Nothing is reserved for kubelet and system: the real ones do not know how much. What DaemonSets take they do know; here
it is left out.

Source: github.com/kubernetes/autoscaler, branch cluster-autoscaler-release-1.34, cluster-autoscaler/cloudprovider/aws:
buildNodeFromTemplate and buildGenericLabels in aws_manager.go, getManagedNodegroupInfo in aws_wrapper.go; of azure:
buildNodeFromTemplate and what it calls in azure_template.go. AKS runs a version of its own, of which this is not known.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from gpufleet.catalog import AwsGpuType, AzureGpuSize
from gpufleet.pools.eks_pool import Taint
from tools.kubernetes.eks_node import zone_name
from tools.kubernetes.fake_node import ARCHITECTURES, EFFECTS, GPU

TEMPLATE = "k8s.io/cluster-autoscaler/node-template"
AZURE_RESOURCES = "k8s.io_cluster-autoscaler_node-template_resources_"
"""Begins the key of a tag of Azure's, in which no slash may stand: every underscore after it is one."""
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
    own = {
        "kubernetes.io/arch": ARCHITECTURES[record.architecture],
        "kubernetes.io/hostname": "template",
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": record.type,
        "topology.ebs.csi.aws.com/zone": zone,
        "topology.kubernetes.io/region": region,
        "topology.kubernetes.io/zone": zone,
    }
    return _node(
        record,
        {**own, **_tagged(scaling_tags, "label"), "eks.amazonaws.com/nodegroup": group, **labels},
        [*_taints_of_tags(scaling_tags), *_taints_of_eks(taints)],
        {**_tagged(scaling_tags, "resources"), **_tagged(tags, "resources")},
    )


def made_up_aks_node(
    record: AzureGpuSize,
    *,
    zone_id: str,
    region: str,
    pool: str,
    labels: Mapping[str, str],
    taints: Sequence[Taint],
    tags: Mapping[str, str],
) -> dict[str, Any]:
    """The Node object. labels, taints, tags: the agent pool's, which AKS puts on its scale set."""
    own = {
        "agentpool": pool,
        "kubernetes.azure.com/accelerator": "nvidia",
        "kubernetes.azure.com/agentpool": pool,
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": "template",
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": record.type,
        "topology.kubernetes.io/region": region,
        "topology.kubernetes.io/zone": "0" if zone_id.endswith("-0") else zone_id,
    }
    found = {
        key.removeprefix(AZURE_RESOURCES).replace("_", "/"): amount
        for key, amount in tags.items()
        if key.startswith(AZURE_RESOURCES)
    }
    given = [{"key": each["key"], "value": each.get("value", ""), "effect": EFFECTS[each["effect"]]} for each in taints]
    return _node(record, {**own, **labels}, given, found)


def _node(
    record: AwsGpuType | AzureGpuSize,
    labels: Mapping[str, str],
    taints: Sequence[Mapping[str, str]],
    tagged: Mapping[str, str],
) -> dict[str, Any]:
    resources = {
        "cpu": str(record.vcpus),
        "memory": f"{record.memory_gib}Gi",
        GPU: str(record.gpus),
        "pods": str(MOST_PODS),
        **tagged,
    }
    return {
        "metadata": {"name": "template", "labels": dict(labels)},
        "spec": {"taints": list(taints)},
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
