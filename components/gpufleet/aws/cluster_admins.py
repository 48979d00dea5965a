"""Who administers a cluster."""

# Signatures stay text: evaluated, they would load a whole service of the SDK.
from __future__ import annotations

from collections.abc import Mapping

import pulumi
from pulumi_aws import eks

from gpufleet.aws.partition import partition
from gpufleet.component import Component

ADMIN_POLICY = "cluster-access-policy/AmazonEKSClusterAdminPolicy"
"""EKS's own equivalent of the Kubernetes role cluster-admin.

Source: docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html
"""


def grant_admins(
    name: str,
    parent: Component,
    cluster: eks.Cluster,
    region: str,
    admins: Mapping[str, pulumi.Input[str]],
) -> None:
    """An access entry with the administrator's policy for each principal; ``admins`` is short name to ARN."""
    for short, principal in admins.items():
        child = f"{name}-admin-{short}"
        entry = eks.AccessEntry(
            child,
            cluster_name=cluster.name,
            principal_arn=principal,
            type="STANDARD",
            tags=parent.tags(child),
            opts=parent.child(),
        )
        eks.AccessPolicyAssociation(
            f"{child}-policy",
            cluster_name=cluster.name,
            principal_arn=entry.principal_arn,
            policy_arn=f"arn:{partition(region)}:eks::aws:{ADMIN_POLICY}",
            access_scope=eks.AccessPolicyAssociationAccessScopeArgs(type="cluster"),
            opts=parent.child(),
        )
