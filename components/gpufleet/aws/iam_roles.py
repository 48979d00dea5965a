"""IAM roles with policies that AWS maintains."""

# Signatures stay text: evaluated, they would load a whole service of the SDK.
from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
from pulumi_aws import iam

from gpufleet.aws.partition import managed_policy
from gpufleet.component import Component
from gpufleet.pulumi_outputs import with_dependencies


@dataclass(frozen=True)
class RoleWithPolicies:
    """A role, and the attachments that must outlive its users."""

    role: iam.Role
    attachments: Sequence[iam.RolePolicyAttachment]

    @property
    def arn(self) -> pulumi.Output[str]:
        """The role's ARN, for users that are made after its policies are attached and deleted before they go."""
        return with_dependencies(self.role.arn, *self.attachments)


def trust(service: str, *actions: str, equal: Mapping[str, str] | None = None) -> str:
    """A trust policy (JSON) that lets one AWS service take the role; ``actions`` default to sts:AssumeRole.

    equal: condition keys and the values that they have. EC2 sets none for its instances' roles, and needs none: no
    principal may pass a role of another account (iam:PassRole; prowler-cloud/prowler#2810).
    """
    statement: dict[str, object] = {
        "Effect": "Allow",
        "Principal": {"Service": service},
        "Action": list(actions) or ["sts:AssumeRole"],
    }
    if equal:
        statement["Condition"] = {"StringEquals": dict(equal)}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def trust_in_account(service: str, arn: str) -> str:
    """A trust policy (JSON) for a service on behalf of one account only: that in the ARN of something that is there.

    Services that send their account, of docs.aws.amazon.com: eks/latest/userguide and datasync/latest/userguide,
    cross-service-confused-deputy-prevention; AmazonECS/latest/developerguide/task-iam-roles;
    vpc/latest/userguide/flow-logs-iam-role.
    """
    return trust(service, equal={"aws:SourceAccount": arn.split(":")[4]})


def trust_pods(cluster_name: str, namespace: str, service_account: str) -> str:
    """A trust policy (JSON) for EKS Pod Identity, on behalf of one service account of one cluster.

    The service tags each session with these three. Sources: docs.aws.amazon.com/eks/latest/userguide/pod-id-role.html,
    docs.aws.amazon.com/eks/latest/userguide/pod-id-abac.html
    """
    tags = {
        "aws:RequestTag/eks-cluster-name": cluster_name,
        "aws:RequestTag/kubernetes-namespace": namespace,
        "aws:RequestTag/kubernetes-service-account": service_account,
    }
    return trust("pods.eks.amazonaws.com", "sts:AssumeRole", "sts:TagSession", equal=tags)


def role_with_policies(
    name: str, parent: Component, trust_policy: pulumi.Input[str], region: str, policies: Sequence[str]
) -> RoleWithPolicies:
    """The role ``name`` with AWS's own ``policies``, each by its name or its path and name."""
    role = iam.Role(name, assume_role_policy=trust_policy, tags=parent.tags(name), opts=parent.child())
    attachments = [
        iam.RolePolicyAttachment(
            f"{name}-{policy.rsplit('/', 1)[-1]}",
            role=role.name,
            policy_arn=managed_policy(region, policy),
            opts=parent.child(),
        )
        for policy in policies
    ]
    return RoleWithPolicies(role, attachments)
