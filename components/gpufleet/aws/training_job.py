"""TrainingJob: what a job on AWS Batch is, to be submitted any number of times."""

from collections.abc import Mapping, Sequence
from typing import Annotated, NotRequired, TypedDict, Unpack

import pulumi
from pulumi_aws import batch, cloudwatch, iam

from gpufleet.aws.ecr_repository import cache_statement
from gpufleet.aws.iam_roles import role_with_policies, trust_in_account
from gpufleet.aws.links import JobBucket
from gpufleet.aws.training_job_plan import TrainingJobLinks, TrainingJobPlan, container, nodes, plan_training_job
from gpufleet.aws.training_job_policies import (
    bucket_statements,
    environment_secrets,
    files_statement,
    policy,
    start_policy,
)
from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.jobs.aws_batch.entrypoint import overrides_length
from gpufleet.pools.ec2_pool import Fabric
from gpufleet.pulumi_outputs import with_dependencies
from gpufleet.rules import Finding, validate_training_job
from gpufleet.rules.aws.training_job import MOST_RETRIES, validate_command
from gpufleet.typed_dicts import NumberRange

TASKS = "ecs-tasks.amazonaws.com"
"""The roles' principal: Batch runs jobs as tasks of ECS."""
PULL_POLICIES = ("AmazonEC2ContainerRegistryPullOnly",)
SPOT_RECLAIM = "Host EC2*"
"""How Batch's reason begins when a job's instance was taken away:
https://docs.aws.amazon.com/batch/latest/userguide/job_retries.html"""


class JobFiles(TypedDict):
    """A shared file system that the job sees."""

    file_system_id: pulumi.Input[str]
    """The EFS file system, which needs a mount target in each zone of the environments."""
    access_point_id: NotRequired[pulumi.Input[str]]
    """Access point: its directory is all that the job sees, and its user owns what the job writes."""
    path: NotRequired[str]
    """Where it appears in the container. Default /mnt."""


class TrainingJobConfig(TypedDict):
    """How much of a node a job gets, and what is around it."""

    vcpus: NotRequired[int]
    """vCPUs on each node. Default: the GPUs' share of the instance type, without one 4 for each GPU."""
    memory_gib: NotRequired[int]
    """Memory on each node. Default: the GPUs' share of 90 % of the instance type's, without one 12 for each GPU."""
    instance_type: NotRequired[str]
    """Instance type, for instance p5.48xlarge. Needed with several nodes, which all have it, and with EFA; a job of
    one node runs on any type of its queue that has room."""
    shared_memory_gib: NotRequired[int]
    """Size of /dev/shm, a part of the memory. Default: half of the memory."""
    network: NotRequired[Fabric]
    """plain, or efa: the container gets the EFA devices of its node. Default plain."""
    environment: NotRequired[Mapping[str, pulumi.Input[str]]]
    """Variables of the container; anyone who may read the job definition can read them. Default: none."""
    secrets: NotRequired[Mapping[str, pulumi.Input[str]]]
    """Variable to the ARN of its secret (Secrets Manager, or a parameter of Systems Manager). Default: none."""
    retries: NotRequired[Annotated[int, NumberRange(0, MOST_RETRIES)]]
    """How often the job starts again when its instance was taken away; after any other failure it does not. Default
    3, at most 9."""
    timeout_minutes: NotRequired[int]
    """Minutes after which a try is ended. Default: none."""
    log_retention_days: NotRequired[int]
    """Days that logs are kept, 0 for ever. Default 30."""
    log_kms_key_arn: NotRequired[pulumi.Input[str]]
    """Key for the encryption of logs. Its policy lets logs.REGION.amazonaws.com
    use it: docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html. Default: a key of AWS."""


class TrainingJobArgs(TrainingJobConfig):
    """The same, what runs, on how many nodes, and what it may read and write."""

    region: NotRequired[str]
    """Region of the job, for instance us-east-1. Default: the provider\'s; another one is rejected."""
    image: pulumi.Input[str]
    """Image of the container, by digest or by the tag of one build."""
    command: NotRequired[Sequence[str]]
    """What is started once for each GPU, on all nodes; with several GPUs the image has OpenMPI and python3. Default:
    the image's own command, or that of a submission."""
    gpus: int
    """GPUs on each node; 0 for a job that needs none."""
    nodes: NotRequired[int]
    """Nodes that run the job together. Default 1. A submission may change it, from 2 upwards."""
    files: NotRequired[JobFiles]
    """A shared file system. Default: none."""
    secret_prefix: NotRequired[str]
    """How names of secrets (Secrets Manager) and parameters (Systems Manager) begin that submissions may give to jobs
    as variables, for instance gpufleet/dev/. Default: none, and only `secrets` can be read."""
    pull_through: NotRequired[Sequence[str]]
    """Prefixes of the pull-through caches that its images may come through, for instance [quay]. Default: none."""
    bucket: NotRequired[JobBucket]
    """Where outputs go. Default: none, and the job has no right on any bucket."""
    tags: NotRequired[Mapping[str, str]]
    """Tags of every resource, and of the jobs."""


class TrainingJob(Component):
    """A job definition with its own log group and two roles: one for the job, one for starting its container.

    The job may read and write its folders of the bucket and its file system, and nothing else. Each change makes a new
    revision; jobs that were submitted keep theirs.
    """

    definition_arn: pulumi.Output[str]
    """With the revision."""
    definition_name: pulumi.Output[str]
    """Name of the job definition, which a submission names."""
    log_group_name: pulumi.Output[str]
    """The log group of its jobs."""
    job_role_arn: pulumi.Output[str]
    """The role of the job's own program."""

    def __init__(
        self, name: str, args: TrainingJobArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[TrainingJobArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: TrainingJobArgs) -> list[Finding]:
        return [*validate_training_job(args), *validate_command(overrides_length(plan_training_job(args).command))]

    def create(self, name: str, args: TrainingJobArgs) -> None:
        plan = plan_training_job(args)
        logs = cloudwatch.LogGroup(
            f"{name}-logs",
            retention_in_days=int(args.get("log_retention_days", 30)),
            kms_key_id=args.get("log_kms_key_arn"),
            tags=self.tags(f"{name}-logs"),
            opts=self.child(),
        )
        files = args.get("files")
        trusted = logs.arn.apply(lambda arn: trust_in_account(TASKS, arn))
        links = TrainingJobLinks(
            image=args["image"],
            region=args["region"],
            stream_prefix=name,
            log_group=logs.name,
            job_role_arn=self._job_role(name, args, trusted),
            execution_role_arn=self._execution_role(name, args, logs.arn, trusted),
            environment=args.get("environment", {}),
            secrets=args.get("secrets", {}),
            file_system_id=None if files is None else files["file_system_id"],
            access_point_id=None if files is None else files.get("access_point_id"),
        )
        definition = self._definition(name, plan, links)
        self.definition_arn = definition.arn
        self.definition_name = definition.name
        self.log_group_name = logs.name

    def _definition(self, name: str, plan: TrainingJobPlan, links: TrainingJobLinks) -> "batch.JobDefinition":
        properties = container(plan, links)
        several = plan.nodes > 1
        exits = [
            # Anything else that ends a job is its own fault, and would be again.
            batch.JobDefinitionRetryStrategyEvaluateOnExitArgs(on_status_reason=SPOT_RECLAIM, action="RETRY"),
            batch.JobDefinitionRetryStrategyEvaluateOnExitArgs(on_reason="*", action="EXIT"),
        ]
        child = f"{name}-definition"
        return batch.JobDefinition(
            child,
            type="multinode" if several else "container",
            platform_capabilities=["EC2"],
            container_properties=None if several else pulumi.Output.json_dumps(properties, sort_keys=True),
            node_properties=pulumi.Output.json_dumps(nodes(plan, properties), sort_keys=True) if several else None,
            retry_strategy=batch.JobDefinitionRetryStrategyArgs(attempts=plan.attempts, evaluate_on_exits=exits),
            timeout=None
            if plan.timeout_seconds is None
            else batch.JobDefinitionTimeoutArgs(attempt_duration_seconds=plan.timeout_seconds),
            propagate_tags=True,
            tags=self.tags(child),
            opts=self.child(),
        )

    def _job_role(self, name: str, args: TrainingJobArgs, trusted: pulumi.Output[str]) -> pulumi.Output[str]:
        """The ARN of the job's role, for a definition that is made after its rights."""
        child = f"{name}-job-role"
        role = iam.Role(child, assume_role_policy=trusted, tags=self.tags(child), opts=self.child())
        self.job_role_arn = role.arn
        bucket, files = args.get("bucket"), args.get("files")
        rights: list[pulumi.Resource] = []
        if bucket is not None:
            prefixes = list(bucket["prefixes"])
            known = pulumi.Output.all(bucket["arn"], bucket.get("kms_key_arn"))
            document = known.apply(lambda told: policy(bucket_statements(told[0], prefixes, told[1])))
            rights.append(iam.RolePolicy(f"{name}-job-bucket", role=role.name, policy=document, opts=self.child()))
        if files is not None:
            region = args["region"]
            known = pulumi.Output.all(files["file_system_id"], files.get("access_point_id"))
            document = known.apply(lambda told: policy([files_statement(region, told[0], told[1])]))
            rights.append(iam.RolePolicy(f"{name}-job-files", role=role.name, policy=document, opts=self.child()))
        return with_dependencies(role.arn, *rights)

    def _execution_role(
        self, name: str, args: TrainingJobArgs, log_group_arn: pulumi.Output[str], trusted: pulumi.Output[str]
    ) -> pulumi.Output[str]:
        """The ARN of the role that pulls the image, opens the log and reads the secrets."""
        role = role_with_policies(f"{name}-start-role", self, trusted, args["region"], PULL_POLICIES)
        known = pulumi.Output.all(log_group_arn, dict(args.get("secrets", {})))
        caches = cache_statement(args["region"], prefixes) if (prefixes := args.get("pull_through")) else None
        own = environment_secrets(args["region"], prefix) if (prefix := args.get("secret_prefix")) else []
        rights = iam.RolePolicy(
            f"{name}-start",
            role=role.role.name,
            policy=known.apply(lambda told: start_policy(told[0], told[1], caches, own)),
            opts=self.child(),
        )
        return with_dependencies(role.role.arn, *role.attachments, rights)
