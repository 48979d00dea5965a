"""BatchEnvironment: GPU nodes that AWS Batch starts for jobs and stops after them."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, NotRequired, Unpack

import pulumi
from pulumi_aws import batch, ec2, iam

from gpufleet.aws.batch_environment_plan import (
    IMAGE_TYPE,
    LONGEST_UPDATE_MINUTES,
    BatchEnvironmentPlan,
    plan_batch_environment,
)
from gpufleet.aws.efa import security_group
from gpufleet.aws.iam_roles import role_with_policies, trust
from gpufleet.aws.launch_template import TemplateLinks, launch_template
from gpufleet.aws.links import NodeNetwork
from gpufleet.aws.user_data import container_instance
from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.pools.ec2_pool import Ec2Pool
from gpufleet.pulumi_outputs import with_dependencies
from gpufleet.rules import Finding, validate_batch_environment
from gpufleet.rules.subnet import validate_subnets
from gpufleet.typed_dicts import NumberRange

NODE_POLICIES = ("service-role/AmazonEC2ContainerServiceforEC2Role",)
"""What a node needs to join its ECS cluster and to pull images. What jobs may do is the job role's."""

Capacity = Literal["on-demand", "spot", "reservation"]
Strategy = Literal["BEST_FIT_PROGRESSIVE", "BEST_FIT", "SPOT_PRICE_CAPACITY_OPTIMIZED", "SPOT_CAPACITY_OPTIMIZED"]


class BatchEnvironmentConfig(Ec2Pool):
    """The nodes of a Batch environment."""

    types: Sequence[str]
    """Instance types with the same number of vCPUs, for instance [p4d.24xlarge, p4de.24xlarge]; Batch takes what is
    available, or cheapest."""
    max: Annotated[int, NumberRange(1)]
    """Most nodes that may run, at least 1. Batch gets a limit in vCPUs: nodes times those of the smallest type."""
    zones: Sequence[str]
    """Zone ids, for instance [use1-az1]. One for multi-node jobs."""
    capacity: NotRequired[Capacity]
    """on-demand, spot or reservation. Default on-demand. Multi-node jobs never run on spot."""
    reservation_id: NotRequired[str]
    """Id of the reservation (cr-...), with capacity=reservation."""
    image: NotRequired[str]
    """al2023 (Batch's own image with NVIDIA's driver), or the id of your own image (ami-...). Default al2023."""
    disk_gib: NotRequired[int]
    """Size of the encrypted root disk in GiB, which also holds the images of jobs. Default 100."""
    strategy: NotRequired[Strategy]
    """Batch's allocation strategy. Default BEST_FIT_PROGRESSIVE, on spot SPOT_PRICE_CAPACITY_OPTIMIZED."""
    security_group_ids: NotRequired[Sequence[pulumi.Input[str]]]
    """More security groups of the nodes, at most 4. Default: none."""
    kms_key_arn: NotRequired[pulumi.Input[str]]
    """Key of the nodes' disks; it must admit the service-linked role of EC2 Auto Scaling. Default: the account's."""


class BatchEnvironmentArgs(BatchEnvironmentConfig, NodeNetwork):
    """The same, and the network that they go to."""

    region: NotRequired[str]
    """Region of the environment, for instance us-east-1. Default: the provider\'s; another one is rejected."""
    tags: NotRequired[Mapping[str, str]]
    """Tags of every resource, nodes, disks and interfaces included."""


class BatchEnvironment(Component):
    """A managed compute environment, which runs no nodes while there are no jobs, unless ``min`` is set.

    Types, number of nodes, image, disk and security groups change in place: Batch starts new nodes and lets jobs run
    on for up to six hours. Another placement group, and nearly everything with the strategy BEST_FIT, replaces the
    environment. It has no name of the customer's, so the new one is made first; :class:`BatchQueue` moves over, and
    then the old one goes.

    Batch's service-linked role belongs to the account and is not managed here: Batch makes it where it lacks.
    """

    environment_arn: pulumi.Output[str]
    """ARN of the compute environment, which queues name."""
    environment_name: pulumi.Output[str]
    """Its name."""
    instance_role_arn: pulumi.Output[str]
    """The role of its nodes."""
    security_group_id: pulumi.Output[str]
    """The nodes' own group. Let it in where jobs go: TCP 2049 of a shared file system, for instance."""
    launch_template_id: pulumi.Output[str]
    """What its nodes start with."""
    placement_group_name: pulumi.Output[str | None]
    """None without a placement group."""

    def __init__(
        self,
        name: str,
        args: BatchEnvironmentArgs = KEYWORDS,
        opts: Opts = None,
        **keywords: Unpack[BatchEnvironmentArgs],
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: BatchEnvironmentArgs) -> list[Finding]:
        return [*validate_batch_environment(args), *validate_subnets(args)]

    def create(self, name: str, args: BatchEnvironmentArgs) -> None:
        plan = plan_batch_environment(args)
        own = security_group(f"{name}-nodes", args["vpc_id"], self, traffic="Traffic", pool="Batch environment")
        self.security_group_id = own.id
        groups: list[pulumi.Input[str]] = [own.id, *args.get("security_group_ids", [])]
        # Placement is the environment's to say, not the template's.
        links = TemplateLinks(groups, None, container_instance(plan.network == "efa"), args.get("kms_key_arn"))
        template = launch_template(f"{name}-template", plan, links, self)
        environment = self._environment(name, args, plan, template, groups)
        self.environment_arn = environment.arn
        self.environment_name = environment.name
        self.launch_template_id = template.id

    def _environment(
        self,
        name: str,
        args: BatchEnvironmentArgs,
        plan: BatchEnvironmentPlan,
        template: "ec2.LaunchTemplate",
        groups: Sequence[pulumi.Input[str]],
    ) -> "batch.ComputeEnvironment":
        child = f"{name}-environment"
        return batch.ComputeEnvironment(
            child,
            type="MANAGED",
            state="ENABLED",
            compute_resources=batch.ComputeEnvironmentComputeResourcesArgs(
                type=plan.compute_type,
                allocation_strategy=plan.strategy,
                instance_types=list(plan.types),
                min_vcpus=plan.min_vcpus,
                max_vcpus=plan.max_vcpus,
                subnets=[args["subnet_ids"][zone] for zone in plan.zones],
                # They take the place of the template's, so they are the same.
                security_group_ids=list(groups),
                instance_role=self._profile(name, args["region"]),
                placement_group=self._placement(name, plan),
                ec2_configurations=[
                    batch.ComputeEnvironmentComputeResourcesEc2ConfigurationArgs(
                        image_type=IMAGE_TYPE, image_id_override=plan.image_override
                    )
                ],
                # A version, not $Latest: only then is a new one a change that Batch acts upon.
                launch_template=batch.ComputeEnvironmentComputeResourcesLaunchTemplateArgs(
                    launch_template_id=template.id,
                    version=template.latest_version.apply(lambda version: str(int(version))),
                ),
            ),
            # BEST_FIT knows no update of nodes, so it takes no policy for one.
            update_policy=None
            if plan.strategy == "BEST_FIT"
            else batch.ComputeEnvironmentUpdatePolicyArgs(
                job_execution_timeout_minutes=LONGEST_UPDATE_MINUTES, terminate_jobs_on_update=False
            ),
            tags=self.tags(child),
            opts=self.child(),
        )

    def _placement(self, name: str, plan: BatchEnvironmentPlan) -> pulumi.Input[str] | None:
        """The name of the placement group, made here where the intent says so."""
        placement: pulumi.Input[str] | None = plan.placement_group
        if plan.placement == "create":
            child = f"{name}-placement"
            placement = ec2.PlacementGroup(child, strategy="cluster", tags=self.tags(child), opts=self.child()).name
        self.placement_group_name = pulumi.Output.from_input(placement)
        return placement

    def _profile(self, name: str, region: str) -> pulumi.Output[str]:
        """The ARN of the nodes' instance profile. The environment outlives neither it nor what its role may do."""
        trusted = trust("ec2.amazonaws.com")
        role = role_with_policies(f"{name}-role", self, trusted, region, NODE_POLICIES)
        self.instance_role_arn = role.arn
        child = f"{name}-profile"
        profile = iam.InstanceProfile(child, role=role.role.name, tags=self.tags(child), opts=self.child())
        return with_dependencies(profile.arn, *role.attachments)
