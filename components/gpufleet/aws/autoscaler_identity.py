"""AutoscalerIdentity: what the cluster autoscaler may do on AWS, and for which service account."""

import json
from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

import pulumi
from pulumi_aws import eks, iam

from gpufleet.aws.partition import partition
from gpufleet.aws.roles import trust_pods
from gpufleet.ordering import after
from gpufleet.refusal import refuse_or_warn
from gpufleet.rules import judge_arguments
from gpufleet.rules.aws.autoscaler_identity import judge_autoscaler_identity

NAMESPACE = "kube-system"
SERVICE_ACCOUNT = "cluster-autoscaler"

_LOOKING = (
    "autoscaling:DescribeAutoScalingGroups",
    "autoscaling:DescribeAutoScalingInstances",
    "autoscaling:DescribeLaunchConfigurations",
    "autoscaling:DescribeScalingActivities",
    "autoscaling:DescribeTags",
    "ec2:DescribeImages",
    "ec2:DescribeInstanceTypes",
    "ec2:DescribeLaunchTemplateVersions",
    "ec2:GetInstanceTypesFromInstanceRequirements",
)
"""Calls that take no resource: AWS has no narrower right for them."""
_CHANGING = ("autoscaling:SetDesiredCapacity", "autoscaling:TerminateInstanceInAutoScalingGroup")


class AutoscalerIdentityArgs(TypedDict):
    """The cluster whose pools the autoscaler grows and shrinks."""

    cluster_name: pulumi.Input[str]
    """The EKS cluster, with the add-on eks-pod-identity-agent."""
    region: str
    """Region of the cluster, for instance us-east-1."""
    tags: NotRequired[Mapping[str, str]]
    """Tags of every resource."""


def autoscaler_policy(cluster_name: str, region: str) -> str:
    """The role's policy (JSON): look at groups and templates, change those of this cluster only.

    EKS tags the autoscaling groups of managed node groups with the cluster's name, and the autoscaler finds them by
    the same tag. Source: github.com/kubernetes/autoscaler, cluster-autoscaler/cloudprovider/aws/README.md (minimal
    permissions).
    """
    own = {"StringEquals": {f"aws:ResourceTag/k8s.io/cluster-autoscaler/{cluster_name}": "owned"}}
    groups = f"arn:{partition(region)}:eks:{region}:*:nodegroup/{cluster_name}/*"
    statements: list[dict[str, Any]] = [
        {"Sid": "Look", "Effect": "Allow", "Action": list(_LOOKING), "Resource": "*"},
        {"Sid": "LookAtNodeGroups", "Effect": "Allow", "Action": ["eks:DescribeNodegroup"], "Resource": groups},
        {"Sid": "Scale", "Effect": "Allow", "Action": list(_CHANGING), "Resource": "*", "Condition": own},
    ]
    return json.dumps({"Version": "2012-10-17", "Statement": statements})


class AutoscalerIdentity(pulumi.ComponentResource):
    """A role with least privilege, bound to the autoscaler's service account by EKS Pod Identity.

    Raises :class:`gpufleet.refusal.Refused` with every fault of ``args`` before anything is registered.
    """

    role_arn: pulumi.Output[str]
    """The role that the autoscaler's pods get."""
    cluster_name: pulumi.Output[str]
    """The cluster, for the autoscaler that needs its rights: installed after they are there, removed before."""

    def __init__(self, name: str, args: AutoscalerIdentityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        refuse_or_warn(name, [*judge_arguments(args, AutoscalerIdentityArgs), *judge_autoscaler_identity(args)])
        super().__init__("gpufleet-aws:index:AutoscalerIdentity", name, {}, opts)
        tags = dict(args.get("tags", {}))
        child = pulumi.ResourceOptions(parent=self)
        cluster = pulumi.Output.from_input(args["cluster_name"])
        role = iam.Role(
            f"{name}-role", assume_role_policy=trust_pods(), tags={**tags, "Name": f"{name}-role"}, opts=child
        )
        policy = iam.RolePolicy(
            f"{name}-policy",
            role=role.name,
            policy=cluster.apply(lambda cluster_name: autoscaler_policy(cluster_name, args["region"])),
            opts=child,
        )
        association = eks.PodIdentityAssociation(
            f"{name}-association",
            cluster_name=cluster,
            namespace=NAMESPACE,
            service_account=SERVICE_ACCOUNT,
            role_arn=after(role.arn, policy),
            tags={**tags, "Name": f"{name}-association"},
            opts=child,
        )
        self.role_arn = role.arn
        self.cluster_name = after(cluster, association)
        self.register_outputs({"role_arn": self.role_arn, "cluster_name": self.cluster_name})
