"""GpuNodeGroup: a pool of GPU nodes of one EKS cluster, from nothing but its intent."""

from collections.abc import Mapping, Sequence
from typing import NotRequired

import pulumi
from pulumi_aws import autoscaling, ec2, eks

from gpufleet.aws.efa import security_group
from gpufleet.aws.launch_template import TemplateLinks, launch_template
from gpufleet.aws.pool_plan import PoolPlan, plan_pool
from gpufleet.aws.pool_schedule import scheduled
from gpufleet.aws.roles import role_with_policies, trust
from gpufleet.aws.scheduling import tag_name
from gpufleet.aws.user_data import Join, amazon_linux, bottlerocket
from gpufleet.node_labels import kubernetes_taints
from gpufleet.pool_hours import ScheduledPool
from gpufleet.refusal import refuse_or_warn
from gpufleet.rules import judge_pool
from gpufleet.rules.aws.node_image import judge_node_image
from gpufleet.rules.pool_hours import judge_schedule
from gpufleet.rules.subnet import judge_subnets

NODE_POLICIES = ("AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly", "AmazonEKS_CNI_Policy")
"""What a node needs to join, to pull images, and to give pods addresses before the CNI has an identity of its own."""


class GpuNodeGroupArgs(ScheduledPool):
    """A pool's intent, and the cluster and network it goes to."""

    region: str
    """Region of the cluster, for instance us-east-1."""
    cluster_name: pulumi.Input[str]
    """The EKS cluster."""
    vpc_id: pulumi.Input[str]
    """The cluster's VPC; the EFA security group is made in it."""
    subnet_ids: Mapping[str, pulumi.Input[str]]
    """Zone id to a private subnet with a way out. The pool takes those of its zones and no others."""
    cluster_security_group_id: pulumi.Input[str]
    """The group that EKS made for the cluster. Every node gets it: EKS stops adding it as soon as a template names
    any group, and nodes without it never join."""
    security_group_ids: NotRequired[Sequence[pulumi.Input[str]]]
    """More security groups of the nodes. Default: none."""
    node_role_arn: NotRequired[pulumi.Input[str]]
    """Role of the nodes. Default: the pool makes one of its own."""
    kms_key_arn: NotRequired[pulumi.Input[str]]
    """Key of the nodes' disks; it must admit the service-linked role of EC2 Auto Scaling. Default: the account's."""
    cluster_endpoint: NotRequired[pulumi.Input[str]]
    """URL of the Kubernetes API. Needed with an image of your own only, to which EKS adds no start-up data."""
    cluster_certificate_authority: NotRequired[pulumi.Input[str]]
    """The cluster's certificate, base64 of PEM. Needed with an image of your own."""
    service_cidr: NotRequired[pulumi.Input[str]]
    """IPv4 range of Kubernetes services. Needed with an image of your own."""
    tags: NotRequired[Mapping[str, str]]
    """Tags of every resource, nodes, disks and interfaces included."""


class GpuNodeGroup(pulumi.ComponentResource):
    """A managed node group of GPU nodes: launch template, and on demand placement group, EFA security group and role.

    Pools share nothing, so one can be replaced or removed without touching another. The autoscaler owns the number of
    nodes: ``desired`` counts at creation only. So raise ``min`` above the nodes that run in two steps, nodes first:
    EKS refuses a minimum above its desired size. With a capacity block, scale to 0 before an upgrade.

    Raises :class:`gpufleet.refusal.Refused` with every fault of ``args`` before anything is registered.
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

    def __init__(self, name: str, args: GpuNodeGroupArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        findings = judge_pool(args, args.get("region", ""), GpuNodeGroupArgs)
        findings += [*judge_subnets(args), *judge_node_image(args), *judge_schedule(args)]
        refuse_or_warn(name, findings)
        plan = plan_pool(name, args)
        # No inputs: a component's children wait until every value that the component registers with is known.
        super().__init__("gpufleet-aws:index:GpuNodeGroup", name, {}, opts)
        self._tags = dict(args.get("tags", {}))
        self._child = pulumi.ResourceOptions(parent=self)
        template = self._template(name, args, plan)
        group = self._node_group(name, args, plan, template)
        self._describe_nodes(name, plan)
        scheduled(name, self.autoscaling_group_name, args.get("schedule", []), args, self)
        self.launch_template_id = template.id
        self.node_group_name = group.node_group_name
        self.node_group_arn = group.arn
        self.labels = pulumi.Output.from_input(plan.labels)
        self.register_outputs(
            {
                "node_group_name": self.node_group_name,
                "node_group_arn": self.node_group_arn,
                "autoscaling_group_name": self.autoscaling_group_name,
                "node_role_arn": self.node_role_arn,
                "launch_template_id": self.launch_template_id,
                "placement_group_name": self.placement_group_name,
                "efa_security_group_id": self.efa_security_group_id,
                "labels": self.labels,
            }
        )

    def _template(self, name: str, args: GpuNodeGroupArgs, plan: PoolPlan) -> "ec2.LaunchTemplate":
        """Placement group and EFA security group where the intent has them, and the template that names them."""
        groups: list[pulumi.Input[str]] = [args["cluster_security_group_id"]]
        self.efa_security_group_id = pulumi.Output.from_input(None)
        if plan.network == "efa":
            fabric = security_group(f"{name}-efa", args["vpc_id"], self._tags, self)
            groups.append(fabric.id)
            self.efa_security_group_id = fabric.id
        groups += args.get("security_group_ids", [])
        placement: pulumi.Input[str] | None = plan.placement_group
        if plan.placement == "create":
            child = f"{name}-placement"
            placement = ec2.PlacementGroup(
                child, strategy="cluster", tags={**self._tags, "Name": child}, opts=self._child
            ).name
        self.placement_group_name = pulumi.Output.from_input(placement)
        links = TemplateLinks(groups, placement, _user_data(args, plan), args.get("kms_key_arn"))
        return launch_template(f"{name}-template", plan, links, self._tags, self)

    def _node_group(
        self, name: str, args: GpuNodeGroupArgs, plan: PoolPlan, template: "ec2.LaunchTemplate"
    ) -> "eks.NodeGroup":
        child = f"{name}-nodes"
        given = args.get("node_role_arn")
        if given is None:
            role = role_with_policies(
                f"{name}-role", self, trust("ec2.amazonaws.com"), args["region"], NODE_POLICIES, self._tags
            )
            self.node_role_arn = role.arn
        else:
            self.node_role_arn = pulumi.Output.from_input(given)
        group = eks.NodeGroup(
            child,
            cluster_name=args["cluster_name"],
            node_role_arn=self.node_role_arn,
            subnet_ids=[args["subnet_ids"][zone] for zone in plan.zones],
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
            # Old nodes go before new ones come: there is no second set of GPUs to be had. A share, not a number, so
            # that it fits 2 nodes and 512 (EKS takes at most 100 at once).
            update_config=eks.NodeGroupUpdateConfigArgs(max_unavailable_percentage=33, update_strategy="MINIMAL"),
            node_repair_config=eks.NodeGroupNodeRepairConfigArgs(enabled=True),
            tags={**self._tags, "Name": child},
            opts=pulumi.ResourceOptions(
                parent=self,
                # The autoscaler's number.
                ignore_changes=["scalingConfig.desiredSize"],
                # The other order needs twice the GPUs: never to be had from a reservation, seldom otherwise, and a
                # replacement that waits for them keeps its nodes and their bill until it times out.
                delete_before_replace=True,
            ),
        )
        self.autoscaling_group_name = group.resources[0].autoscaling_groups[0].name
        return group

    def _describe_nodes(self, name: str, plan: PoolPlan) -> None:
        """Tell the cluster autoscaler what a node would be like, for the time when there is none to look at."""
        for key, value in plan.template_tags.items():
            autoscaling.Tag(
                tag_name(name, key),
                autoscaling_group_name=self.autoscaling_group_name,
                tag=autoscaling.TagTagArgs(key=key, value=value, propagate_at_launch=False),
                opts=self._child,
            )


def _user_data(args: GpuNodeGroupArgs, plan: PoolPlan) -> pulumi.Input[str]:
    """User data for the plan's image; with an image of the customer's own it waits for the cluster's facts."""
    efa = plan.network == "efa"
    if plan.image == "bottlerocket":
        return bottlerocket(efa)
    if plan.image_id is None:
        return amazon_linux(efa)

    def told(known: Sequence[str]) -> str:
        name, endpoint, authority, services = known
        taints = kubernetes_taints(plan.taints)
        return amazon_linux(efa, Join(name, endpoint, authority, services, plan.labels, taints))

    return pulumi.Output.all(
        args["cluster_name"],
        args["cluster_endpoint"],
        args["cluster_certificate_authority"],
        args["service_cidr"],
    ).apply(told)
