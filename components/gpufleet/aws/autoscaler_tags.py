"""What the cluster autoscaler cannot know of a pool's nodes on EKS while there are none, and the tags that tell it.

It makes up a node of an empty node group: CPU, memory and nvidia.com/gpu of the group's first instance type, labels for
type, architecture, region and zone, and the labels and taints that EKS says the node group has. The type tells it
neither EFA nor huge pages nor ephemeral storage, for which none of our pods asks; EKS tells it no taint without a
value. Its role must be allowed eks:DescribeNodegroup: where EKS does not answer, an empty pool has neither labels nor
taints for six minutes, and pods without GPUs may start its nodes.

Source: github.com/kubernetes/autoscaler, branch cluster-autoscaler-release-1.34, cluster-autoscaler/cloudprovider/aws:
aws_manager.go (getAsgTemplate, buildNodeFromTemplate; of a label EKS's value wins over a tag's, of a resource the node
group's tag over the Auto Scaling group's, and taints add up), aws_util.go (transformInstanceType), aws_wrapper.go
(getInstanceTypesForAsgs, getManagedNodegroupInfo), managed_nodegroup_cache.go, README.md (permissions). The autoscaler
reads resources from tags of node groups since 1.28, and EKS's taints correctly since 1.31 (kubernetes/autoscaler#6481).
"""

from collections.abc import Iterable, Sequence

from gpufleet.aws.user_data import HUGE_PAGES
from gpufleet.catalog import AwsGpuType
from gpufleet.pools.eks_pool import Taint
from gpufleet.pools.node_labels import kubernetes_taints

EFA_RESOURCE = "vpc.amazonaws.com/efa"
GPU_RESOURCE = "nvidia.com/gpu"
HUGE_PAGES_RESOURCE = "hugepages-2Mi"
_TEMPLATE = "k8s.io/cluster-autoscaler/node-template"


def resource_tags(types: Sequence[AwsGpuType], *, efa: bool) -> dict[str, str]:
    """Tags of the node group: what a node has of resources that its type does not tell.

    A node of a pool of several types has at least the fewest GPUs of them; the autoscaler must not promise more.
    """
    resources: dict[str, str] = {}
    if len({each.gpus for each in types}) > 1:
        resources[GPU_RESOURCE] = str(min(each.gpus for each in types))
    if efa:
        resources[EFA_RESOURCE] = str(min(each.efa_interfaces for each in types))
        resources[HUGE_PAGES_RESOURCE] = f"{2 * HUGE_PAGES}Mi"
    return {f"{_TEMPLATE}/resources/{name}": amount for name, amount in resources.items()}


def taint_tags(taints: Iterable[Taint]) -> dict[str, str]:
    """Tags of the Auto Scaling group, from which alone the autoscaler knows taints without a value.

    EKS leaves an empty value out of its answer (aws-controllers-k8s/community#2442), and getManagedNodegroupInfo leaves
    out a taint without one.
    """
    unvalued = kubernetes_taints(taint for taint in taints if not taint.get("value"))
    return {f"{_TEMPLATE}/taint/{key}": text for key, text in unvalued.items()}


def tag_name(pool: str, key: str) -> str:
    """The logical name of a node-template tag's resource, for instance ``trainers-taint/nvidia.com/gpu``."""
    return f"{pool}-{key.removeprefix(_TEMPLATE).lstrip('/')}"
