"""What the cluster autoscaler knows about the nodes of a pool on EKS: tags of its autoscaling group."""

from collections.abc import Mapping

_TEMPLATE = "k8s.io/cluster-autoscaler/node-template"


def node_template_tags(
    labels: Mapping[str, str], taints: Mapping[str, str], resources: Mapping[str, int]
) -> dict[str, str]:
    """Tags of the autoscaling group from which the cluster autoscaler knows a node of an empty pool.

    Without the resources it does not scale from 0 for a pod that asks for ``vpc.amazonaws.com/efa``. It could read
    labels and taints from EKS, if its role allows that; the tags work with any role.
    https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/cloudprovider/aws/README.md
    """
    return {
        **{f"{_TEMPLATE}/label/{key}": value for key, value in labels.items()},
        **{f"{_TEMPLATE}/taint/{key}": value for key, value in taints.items()},
        **{f"{_TEMPLATE}/resources/{key}": str(count) for key, count in resources.items() if count},
    }


def tag_name(pool: str, key: str) -> str:
    """The logical name of a node-template tag's resource, for instance ``trainers-resources/nvidia.com/gpu``."""
    return f"{pool}-{key.removeprefix(_TEMPLATE).lstrip('/')}"
