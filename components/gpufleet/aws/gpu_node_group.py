"""GpuNodeGroup: a pool of GPU nodes of one EKS cluster, from nothing but its intent."""

from collections.abc import Mapping, Sequence
from typing import NotRequired, Unpack

import pulumi
from pulumi_aws import autoscaling, ec2, eks

from gpufleet.aws.autoscaler_tags import tag_name
from gpufleet.aws.efa import security_group
from gpufleet.aws.gpu_node_group_plan import GpuNodeGroupPlan, plan_gpu_node_group
from gpufleet.aws.iam_roles import role_with_policies, trust
from gpufleet.aws.launch_template import TemplateLinks, launch_template
from gpufleet.aws.links import ClusterLink, NodeNetwork
from gpufleet.aws.scheduled_actions import scheduled_actions
from gpufleet.aws.user_data import Join, amazon_linux, bottlerocket
from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.pools.node_labels import kubernetes_taints
from gpufleet.pools.schedule import ScheduledPool
from gpufleet.rules import Finding
from gpufleet.rules.aws.node_group_size import nodes_within_quota
from gpufleet.rules.aws.node_image import validate_node_image
from gpufleet.rules.aws.node_version import validate_node_version
from gpufleet.rules.aws.pool_arguments import validate_pool_arguments
from gpufleet.rules.coerce import whole
from gpufleet.rules.schedule import validate_schedule
from gpufleet.rules.subnet import validate_subnets

NODE_POLICIES = ("AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly", "AmazonEKS_CNI_Policy")
"""What a node needs to join, to pull images, and to give pods addresses before the CNI has its own identity."""


class GpuNodeGroupArgs(ScheduledPool, ClusterLink, NodeNetwork):
    """A pool's intent, and the cluster and network it goes to."""

    region: NotRequired[str]
    """Region of the cluster, for instance us-east-1. Default: the provider\'s; another one is rejected."""
    security_group_ids: NotRequired[Sequence[pulumi.Input[str]]]
    """More security groups of the nodes. Default: none."""
    kms_key_arn: NotRequired[pulumi.Input[str]]
    """Key of the nodes' disks; it must admit the service-linked role of EC2 Auto Scaling. Default: the account's."""
    tags: NotRequired[Mapping[str, str]]
    """Tags of every resource, nodes, disks and interfaces included."""


class GpuNodeGroup(Component):
    """A managed node group with GPUs: launch template, role, and optionally placement group and EFA security group.

    Pools share nothing, so one can be replaced or removed without touching another. The autoscaler owns the number of
    nodes: ``desired`` counts at creation only. So raise ``min`` above the nodes that run in two steps, nodes first
    (docs/ps.md, warm nodes): EKS rejects a minimum above its desired size. With a capacity block, scale to 0 before an
    upgrade.

    The cluster autoscaler learns from EKS what labels and taints an empty pool has. One that you run yourself has to be
    1.31 or newer and allowed to call eks:DescribeNodegroup; without that it may start GPU nodes for pods without GPUs.
    """

    node_group_name: pulumi.Output[str]
    """Its name."""
    node_group_arn: pulumi.Output[str]
    """ARN of the node group."""
    autoscaling_group_name: pulumi.Output[str]
    """EKS's Auto Scaling group of the nodes."""
    node_role_arn: pulumi.Output[str]
    """The role of the nodes: the given one, or the one made here."""
    launch_template_id: pulumi.Output[str]
    """What the nodes start with."""
    placement_group_name: pulumi.Output[str | None]
    """None without a placement group."""
    efa_security_group_id: pulumi.Output[str | None]
    """None without EFA."""
    labels: pulumi.Output[Mapping[str, str]]
    """Kubernetes labels of the nodes; ``gpufleet.dev/pool`` selects exactly this pool."""

    def __init__(
        self, name: str, args: GpuNodeGroupArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[GpuNodeGroupArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: GpuNodeGroupArgs) -> list[Finding]:
        return [
            *validate_pool_arguments(args, args.get("region", "")),
            *validate_subnets(args),
            *validate_node_image(args),
            *validate_node_version(args),
            nodes_within_quota(most=whole(args, "max", 0), limit=None, region=args.get("region", "")),
            *validate_schedule(args),
        ]

    def create(self, name: str, args: GpuNodeGroupArgs) -> None:
        plan = plan_gpu_node_group(name, args)
        template = self._template(name, args, plan)
        group = self._node_group(name, args, plan, template)
        self._tell_autoscaler(name, plan)
        scheduled_actions(name, self.autoscaling_group_name, args.get("schedule", []), args, self)
        self.launch_template_id = template.id
        self.node_group_name = group.node_group_name
        self.node_group_arn = group.arn
        self.labels = pulumi.Output.from_input(plan.labels)

    def _template(self, name: str, args: GpuNodeGroupArgs, plan: GpuNodeGroupPlan) -> "ec2.LaunchTemplate":
        """Placement group and EFA security group where the intent has them, and the template that names them."""
        groups: list[pulumi.Input[str]] = [args["cluster_security_group_id"]]
        self.efa_security_group_id = pulumi.Output.from_input(None)
        if plan.network == "efa":
            fabric = security_group(f"{name}-efa", args["vpc_id"], self)
            groups.append(fabric.id)
            self.efa_security_group_id = fabric.id
        groups += args.get("security_group_ids", [])
        placement: pulumi.Input[str] | None = plan.placement_group
        if plan.placement == "create":
            child = f"{name}-placement"
            placement = ec2.PlacementGroup(child, strategy="cluster", tags=self.tags(child), opts=self.child()).name
        self.placement_group_name = pulumi.Output.from_input(placement)
        links = TemplateLinks(groups, placement, _user_data(args, plan), args.get("kms_key_arn"))
        return launch_template(f"{name}-template", plan, links, self)

    def _node_group(
        self, name: str, args: GpuNodeGroupArgs, plan: GpuNodeGroupPlan, template: "ec2.LaunchTemplate"
    ) -> "eks.NodeGroup":
        child = f"{name}-nodes"
        given = args.get("node_role_arn")
        if given is None:
            trusted = trust("ec2.amazonaws.com")
            self.node_role_arn = role_with_policies(f"{name}-role", self, trusted, args["region"], NODE_POLICIES).arn
        else:
            self.node_role_arn = pulumi.Output.from_input(given)
        group = eks.NodeGroup(
            child,
            cluster_name=args["cluster_name"],
            node_role_arn=self.node_role_arn,
            subnet_ids=[args["subnet_ids"][zone] for zone in plan.zones],
            # An image of the customer's has its own version: EKS refuses another word on it.
            version=None if plan.image_id else args.get("version", args.get("cluster_version")),
            ami_type=plan.ami_type,
            capacity_type=plan.capacity_type,
            instance_types=plan.api_types,
            scaling_config=eks.NodeGroupScalingConfigArgs(
                min_size=plan.min_size, desired_size=plan.desired_size, max_size=plan.max_size
            ),
            launch_template=eks.NodeGroupLaunchTemplateArgs(
                id=template.id, version=template.latest_version.apply(lambda version: str(int(version)))
            ),
            labels=plan.labels,
            taints=[eks.NodeGroupTaintArgs(**taint) for taint in plan.taints],
            # Old nodes go before new ones come: a second set of GPUs is not available. A share, not a number, so
            # that it fits 2 nodes and 512 (EKS takes at most 100 at once).
            update_config=eks.NodeGroupUpdateConfigArgs(max_unavailable_percentage=33, update_strategy="MINIMAL"),
            node_repair_config=eks.NodeGroupNodeRepairConfigArgs(enabled=True),
            tags={**self.tags(child), **plan.resource_tags},
            opts=self.child(
                # The autoscaler's number.
                ignore_changes=["scalingConfig.desiredSize"],
                # The other order needs twice the GPUs: never available from a reservation, seldom otherwise, and a
                # replacement that waits for them keeps its nodes and their bill until it times out.
                delete_before_replace=True,
            ),
        )
        self.autoscaling_group_name = group.resources[0].autoscaling_groups[0].name
        return group

    def _tell_autoscaler(self, name: str, plan: GpuNodeGroupPlan) -> None:
        """What the cluster autoscaler learns from the Auto Scaling group only, while there is no node to look at."""
        for key, value in plan.taint_tags.items():
            autoscaling.Tag(
                tag_name(name, key),
                autoscaling_group_name=self.autoscaling_group_name,
                tag=autoscaling.TagTagArgs(key=key, value=value, propagate_at_launch=False),
                opts=self.child(),
            )


def _user_data(args: GpuNodeGroupArgs, plan: GpuNodeGroupPlan) -> pulumi.Input[str]:
    """User data for the plan's image; with an image of the customer's own it waits for the cluster's facts."""
    efa = plan.network == "efa"
    if plan.image == "bottlerocket":
        return bottlerocket(efa)
    if plan.image_id is None:
        return amazon_linux(efa)

    def join_data(known: Sequence[str]) -> str:
        name, endpoint, authority, services = known
        taints = kubernetes_taints(plan.taints)
        return amazon_linux(efa, Join(name, endpoint, authority, services, plan.labels, taints))

    return pulumi.Output.all(
        args["cluster_name"],
        args["cluster_endpoint"],
        args["cluster_certificate_authority"],
        args["service_cidr"],
    ).apply(join_data)
