"""AutoscalerIdentity: what the cluster autoscaler may do on AWS, and for which service account."""

import json
from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict, Unpack

import pulumi

from gpufleet.aws.partition import partition
from gpufleet.aws.pod_identity import ServiceAccount, bind_pods, pod_role
from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.pulumi_outputs import with_dependencies
from gpufleet.rules import Finding
from gpufleet.rules.aws.autoscaler_identity import validate_autoscaler_identity

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
    region: NotRequired[str]
    """Region of the cluster, for instance us-east-1. Default: the provider\'s; another one is rejected."""
    tags: NotRequired[Mapping[str, str]]
    """Tags of every resource."""


def autoscaler_policy(cluster_name: str, region: str) -> str:
    """The role's policy (JSON): look at groups and templates, change those of this cluster only.

    EKS tags the autoscaling groups of managed node groups with the cluster's name, and the autoscaler finds them by
    the same tag. eks:DescribeNodegroup tells it labels, taints and tags of node groups without nodes. Source:
    github.com/kubernetes/autoscaler, cluster-autoscaler/cloudprovider/aws/README.md (full features, which include
    finding groups by tags; resources narrowed).
    """
    own = {"StringEquals": {f"aws:ResourceTag/k8s.io/cluster-autoscaler/{cluster_name}": "owned"}}
    groups = f"arn:{partition(region)}:eks:{region}:*:nodegroup/{cluster_name}/*"
    scaled = f"arn:{partition(region)}:autoscaling:{region}:*:autoScalingGroup:*:autoScalingGroupName/*"
    statements: list[dict[str, Any]] = [
        {"Sid": "Look", "Effect": "Allow", "Action": list(_LOOKING), "Resource": "*"},
        {"Sid": "LookAtNodeGroups", "Effect": "Allow", "Action": ["eks:DescribeNodegroup"], "Resource": groups},
        {"Sid": "Scale", "Effect": "Allow", "Action": list(_CHANGING), "Resource": scaled, "Condition": own},
    ]
    return json.dumps({"Version": "2012-10-17", "Statement": statements})


class AutoscalerIdentity(Component):
    """A role with least privilege, bound to the autoscaler's service account by EKS Pod Identity."""

    role_arn: pulumi.Output[str]
    """The role that the autoscaler's pods get."""
    cluster_name: pulumi.Output[str]
    """The cluster, for the autoscaler that needs its rights: installed after they are there, removed before."""

    def __init__(
        self,
        name: str,
        args: AutoscalerIdentityArgs = KEYWORDS,
        opts: Opts = None,
        **keywords: Unpack[AutoscalerIdentityArgs],
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: AutoscalerIdentityArgs) -> list[Finding]:
        return validate_autoscaler_identity(args)

    def create(self, name: str, args: AutoscalerIdentityArgs) -> None:
        cluster = pulumi.Output.from_input(args["cluster_name"])
        account = ServiceAccount(cluster, NAMESPACE, SERVICE_ACCOUNT)
        rights = cluster.apply(lambda cluster_name: autoscaler_policy(cluster_name, args["region"]))
        role = pod_role(self, f"{name}-role", f"{name}-policy", account, rights)
        association = bind_pods(self, f"{name}-association", account, role)
        self.role_arn = role.role.arn
        self.cluster_name = with_dependencies(cluster, association)
