"""IAM roles with policies that AWS maintains."""

# Signatures stay text: evaluated, they would load a whole service of the SDK.
from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_aws import iam

from gpufleet.aws.partition import managed_policy
from gpufleet.component import Component
from gpufleet.pulumi_outputs import with_dependencies


@dataclass(frozen=True)
class RoleWithPolicies:
    """A role, and the attachments that whoever uses it has to outlive."""

    role: iam.Role
    attachments: Sequence[iam.RolePolicyAttachment]

    @property
    def arn(self) -> pulumi.Output[str]:
        """The role's ARN, for users that are made after its policies are attached and deleted before they go."""
        return with_dependencies(self.role.arn, *self.attachments)


def trust(service: str, *actions: str) -> str:
    """A trust policy (JSON) that lets one AWS service take the role; ``actions`` default to sts:AssumeRole."""
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": service},
        "Action": list(actions) or ["sts:AssumeRole"],
    }
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def trust_pods() -> str:
    """A trust policy (JSON) for EKS Pod Identity, which also tags the session with cluster, namespace and account.

    Source: docs.aws.amazon.com/eks/latest/userguide/pod-id-role.html
    """
    return trust("pods.eks.amazonaws.com", "sts:AssumeRole", "sts:TagSession")


def role_with_policies(
    name: str, parent: Component, trust_policy: str, region: str, policies: Sequence[str]
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
