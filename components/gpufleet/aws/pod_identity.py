"""A role for the pods of one service account, bound by EKS Pod Identity."""

# Signatures stay text, as in iam_roles.py.
from __future__ import annotations

from typing import NamedTuple

import pulumi
from pulumi_aws import eks, iam

from gpufleet.aws.iam_roles import trust_pods
from gpufleet.component import Component
from gpufleet.pulumi_outputs import with_dependencies


class ServiceAccount(NamedTuple):
    """A service account of a cluster."""

    cluster: pulumi.Output[str]
    namespace: str
    name: str


class PodRole(NamedTuple):
    """arn_with_rights: the ARN once the policy is there, so that no pod has the role without its rights."""

    role: iam.Role
    arn_with_rights: pulumi.Output[str]


def pod_role(
    component: Component, role_name: str, policy_name: str, account: ServiceAccount, policy: pulumi.Input[str]
) -> PodRole:
    """A role of `component` that only this service account's pods take, with one policy (JSON)."""
    role = iam.Role(
        role_name,
        assume_role_policy=account.cluster.apply(lambda known: trust_pods(known, account.namespace, account.name)),
        tags=component.tags(role_name),
        opts=component.child(),
    )
    rights = iam.RolePolicy(policy_name, role=role.name, policy=policy, opts=component.child())
    return PodRole(role, with_dependencies(role.arn, rights))


def bind_pods(component: Component, name: str, account: ServiceAccount, role: PodRole) -> eks.PodIdentityAssociation:
    """The association by which the service account's pods get the role."""
    return eks.PodIdentityAssociation(
        name,
        cluster_name=account.cluster,
        namespace=account.namespace,
        service_account=account.name,
        role_arn=role.arn_with_rights,
        tags=component.tags(name),
        opts=component.child(),
    )
