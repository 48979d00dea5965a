"""Storage classes of volumes that programs of the platform keep their data on."""

from typing import Any

EBS_CLASS = "gpufleet-notebooks"
"""Storage class that an environment makes for its hubs, where the cluster has the driver of EBS."""
EBS_CLASS_OF_MONITORING = "gpufleet-monitoring"
"""The same for Prometheus."""
AKS_CLASS = "managed-csi"
"""Storage class that every AKS cluster has. Source: learn.microsoft.com/azure/aks/create-volume-azure-disk."""


def plan_ebs_class(name: str, environment: str, project: str) -> dict[str, Any]:
    """A storage class of EBS; its volumes carry the tags by which leftovers are found.

    A volume is made in the zone of the pod's node, and stays there. Source: kubernetes-sigs/aws-ebs-csi-driver,
    docs/parameters.md and docs/tagging.md.
    """
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": "ebs.csi.aws.com",
        "parameters": {
            "type": "gp3",
            "encrypted": "true",
            "tagSpecification_1": f"environment={environment}",
            "tagSpecification_2": f"project={project}",
        },
        "volumeBindingMode": "WaitForFirstConsumer",
        "allowVolumeExpansion": True,
    }
