"""DataSync: a copy of own files in the cloud, kept by a schedule, and results brought back."""

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, NotRequired, TypedDict, Unpack

import pulumi
from pulumi_aws import datasync, iam

from gpufleet.aws.iam_roles import trust_in_account
from gpufleet.aws.links import FilesSync
from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.pulumi_outputs import with_dependencies
from gpufleet.rules import Finding
from gpufleet.rules.aws.data_sync import DEFAULT_PATH, MOST_HOURS, validate_data_sync
from gpufleet.typed_dicts import NumberRange

BYTES_PER_MBIT = 125_000

Target = Literal["efs", "s3"]


class DataSyncConfig(TypedDict):
    """What is copied from own files and back, and how often."""

    nfs_server: str
    """Host of the own files, as the agent reaches it: a name or an address."""
    nfs_path: str
    """Directory that it exports, or one below, for instance /export/data."""
    agent_arns: Sequence[str]
    """DataSync agents that were activated beside the own files, by their ARNs: a virtual machine that nobody can make
    from here."""
    cloud_path: NotRequired[str]
    """Directory of the file system, or prefix in the bucket, that the copy goes to. Default: its root."""
    bucket_arn: NotRequired[pulumi.Input[str]]
    """For s3: ARN of the bucket."""
    every_hours: Annotated[int, NumberRange(1, MOST_HOURS)]
    """Hours from one run to the next, 1 to 168. A run that takes longer delays the next."""
    back_from: NotRequired[str]
    """Directory in the cloud whose content is brought back, apart from ``cloud_path``. Default: nothing is."""
    back_to: NotRequired[str]
    """Directory on the NFS server that it goes to, apart from ``nfs_path``."""
    mirror: NotRequired[bool]
    """True: what is deleted at the source goes from the copy, too. Default false."""
    limit_mbit: NotRequired[int]
    """Mbit/s that a run takes of the line at most. Default: all of it."""


class DataSyncArgs(DataSyncConfig, FilesSync):
    """The same, and where it goes."""

    region: NotRequired[str]
    """Region of the copy, for instance us-east-1. Default: the provider\'s; another one is rejected."""
    to: Target
    """efs or s3."""
    tags: NotRequired[Mapping[str, str]]
    """Tags of every resource."""


def schedule(hours: int) -> str:
    """The interval as DataSync takes it."""
    return f"rate({hours} hour{'s' if hours > 1 else ''})"


def arns_beside(file_system_arn: str, kind: str, ids: Sequence[str]) -> list[str]:
    """ARNs of EC2's things in the region and account of a file system: a program knows these only by their ids."""
    _, partition, _, region, account, _ = file_system_arn.split(":", 5)
    return [f"arn:{partition}:ec2:{region}:{account}:{kind}/{id_}" for id_ in ids]


def bucket_policy(bucket_arn: str) -> str:
    """What DataSync may do with a bucket (JSON): list it, read, write, and delete where it mirrors.

    https://docs.aws.amazon.com/datasync/latest/userguide/create-s3-location.html
    """
    of_bucket = ["s3:GetBucketLocation", "s3:ListBucket", "s3:ListBucketMultipartUploads"]
    of_objects = ["AbortMultipartUpload", "DeleteObject", "GetObject", "GetObjectTagging", "GetObjectVersion"]
    of_objects += ["GetObjectVersionTagging", "ListMultipartUploadParts", "PutObject", "PutObjectTagging"]
    statements = [
        {"Effect": "Allow", "Action": of_bucket, "Resource": bucket_arn},
        {"Effect": "Allow", "Action": [f"s3:{each}" for each in of_objects], "Resource": f"{bucket_arn}/*"},
    ]
    return json.dumps({"Version": "2012-10-17", "Statement": statements})


def files_policy(file_system_arn: str) -> str:
    """What DataSync may do with a file system (JSON): read and write, as root, who alone may give files to owners.

    https://docs.aws.amazon.com/datasync/latest/userguide/create-efs-location.html
    """
    actions = [f"elasticfilesystem:Client{each}" for each in ("Mount", "Write", "RootAccess")]
    statement = {"Effect": "Allow", "Action": actions, "Resource": file_system_arn}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


class DataSync(Component):
    """AWS DataSync tasks between an NFS export and EFS or S3, which preserve owners and permissions.

    Only what has changed is copied, over TLS; nothing is deleted unless asked. The first run copies everything: it
    starts at the first hour of the schedule, or by ``aws datasync start-task-execution``.
    """

    task_arn: pulumi.Output[str]
    """The task that copies to the cloud."""
    back_task_arn: pulumi.Output[str | None]
    """The task that brings results back; None without one."""

    def __init__(
        self, name: str, args: DataSyncArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[DataSyncArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: DataSyncArgs) -> list[Finding]:
        return validate_data_sync(args)

    def create(self, name: str, args: DataSyncArgs) -> None:
        role = self._access(name, args)
        site = self._site(f"{name}-site", args, args["nfs_path"])
        cloud = self._cloud(f"{name}-cloud", args, args.get("cloud_path", DEFAULT_PATH), role)
        self.task_arn = self._task(f"{name}-in", args, site, cloud, "to-cloud").arn
        self.back_task_arn = pulumi.Output.from_input(None)
        back_from, back_to = args.get("back_from"), args.get("back_to")
        if back_from is not None and back_to is not None:
            results = self._cloud(f"{name}-back-cloud", args, back_from, role)
            home = self._site(f"{name}-back-site", args, back_to)
            self.back_task_arn = self._task(f"{name}-back", args, results, home, "to-site").arn

    def _site(self, child: str, args: DataSyncArgs, path: str) -> pulumi.Output[str]:
        """The own end, read or written by the agents."""
        location = datasync.NfsLocation(
            child,
            server_hostname=args["nfs_server"],
            subdirectory=path,
            on_prem_config=datasync.NfsLocationOnPremConfigArgs(agent_arns=list(args["agent_arns"])),
            tags=self.tags(child),
            opts=self.child(),
        )
        return location.arn

    def _cloud(self, child: str, args: DataSyncArgs, path: str, role: pulumi.Output[str]) -> pulumi.Output[str]:
        """The cloud's end: a bucket, or a file system by an interface in a subnet; each by the role."""
        if args["to"] == "s3":
            return datasync.S3Location(
                child,
                s3_bucket_arn=args["bucket_arn"],
                subdirectory=path,
                s3_config=datasync.S3LocationS3ConfigArgs(bucket_access_role_arn=role),
                tags=self.tags(child),
                opts=self.child(),
            ).arn
        files = pulumi.Output.from_input(args["file_system_arn"])
        groups = pulumi.Output.all(files, *args["security_group_ids"])
        subnets = pulumi.Output.all(files, args["subnet_id"])
        return datasync.EfsLocation(
            child,
            efs_file_system_arn=files,
            subdirectory=path,
            # The file systems made here let nobody in without it.
            in_transit_encryption="TLS1_2",
            file_system_access_role_arn=role,
            ec2_config=datasync.EfsLocationEc2ConfigArgs(
                subnet_arn=subnets.apply(lambda known: arns_beside(known[0], "subnet", known[1:])[0]),
                security_group_arns=groups.apply(lambda known: arns_beside(known[0], "security-group", known[1:])),
            ),
            tags=self.tags(child),
            opts=self.child(),
        ).arn

    def _access(self, name: str, args: DataSyncArgs) -> pulumi.Output[str]:
        """ARN of a role that opens the cloud's end, once it does: a location is refused where its role may not list."""
        child = f"{name}-role"
        # A task and its agents lie in one account.
        trusted = trust_in_account("datasync.amazonaws.com", args["agent_arns"][0])
        role = iam.Role(child, assume_role_policy=trusted, tags=self.tags(child), opts=self.child())
        if args["to"] == "s3":
            kind, policy = "bucket", pulumi.Output.from_input(args["bucket_arn"]).apply(bucket_policy)
        else:
            kind, policy = "files", pulumi.Output.from_input(args["file_system_arn"]).apply(files_policy)
        rights = iam.RolePolicy(f"{child}-{kind}", role=role.name, policy=policy, opts=self.child())
        return with_dependencies(role.arn, rights)

    def _task(
        self,
        child: str,
        args: DataSyncArgs,
        source: pulumi.Input[str],
        destination: pulumi.Input[str],
        direction: str,
    ) -> "datasync.Task":
        limit = args.get("limit_mbit")
        return datasync.Task(
            child,
            source_location_arn=source,
            destination_location_arn=destination,
            schedule=datasync.TaskScheduleArgs(schedule_expression=schedule(int(args["every_hours"]))),
            options=datasync.TaskOptionsArgs(
                transfer_mode="CHANGED",
                verify_mode="ONLY_FILES_TRANSFERRED",
                overwrite_mode="ALWAYS",
                preserve_deleted_files="REMOVE" if args.get("mirror", False) else "PRESERVE",
                uid="INT_VALUE",
                gid="INT_VALUE",
                posix_permissions="PRESERVE",
                mtime="PRESERVE",
                atime="BEST_EFFORT",
                bytes_per_second=None if limit is None else int(limit) * BYTES_PER_MBIT,
            ),
            # What leaves the cloud is billed: the cost table finds it by this tag.
            tags={**self.tags(child), "direction": direction},
            opts=self.child(),
        )
