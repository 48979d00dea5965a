"""SharedFiles: one EFS file system that every node of a training fleet mounts."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NotRequired, TypedDict, Unpack, cast

import pulumi
from pulumi_aws import ec2, efs, vpc

from gpufleet.aws.links import FilesClients, FilesNetwork, FilesSync
from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.kubernetes.volume_source import VolumeSource
from gpufleet.rules import Finding, validate_shared_files
from gpufleet.rules.subnet import validate_subnets

NFS_PORT = 2049
DEFAULT_DIRECTORY = "/shared"

Throughput = Literal["elastic", "bursting", "provisioned"]


class SharedFilesConfig(TypedDict):
    """A shared file system: whose the files are, what it does, and what it keeps."""

    file_system_id: NotRequired[pulumi.Input[str]]
    """An existing file system; then none is made, and what governs it (encryption, backup, policy) is left alone."""
    uid: NotRequired[int]
    """POSIX user of everything written through the access point. Default 1000."""
    gid: NotRequired[int]
    """POSIX group of everything written through the access point. Default 1000."""
    directory: NotRequired[str]
    """Directory of the file system that the access point shows as its root. Default /shared."""
    permissions: NotRequired[str]
    """Octal mode of that directory when it is first made. Default 0755."""
    access_point: NotRequired[bool]
    """False: make no access point. Default true."""
    throughput: NotRequired[Throughput]
    """elastic, bursting or provisioned. Default elastic: pay per GB moved, no credits to run out of."""
    provisioned_mibps: NotRequired[float]
    """MiB/s, for provisioned throughput only."""
    kms_key_arn: NotRequired[pulumi.Input[str]]
    """Key for encryption at rest. Default: the AWS-managed key of EFS; encryption is always on."""
    require_tls: NotRequired[bool]
    """Refuse mounts without TLS; the EFS CSI driver and the EFS mount helper use it. Default true."""
    backup: NotRequired[bool]
    """Daily AWS Backup with 35 days' retention. Default true."""
    infrequent_access_days: NotRequired[int]
    """Days without access after which a file moves to infrequent access (1, 7, 14, 30, 60, 90, 180, 270 or 365); its
    first access moves it back. 0 = never. Default 30."""
    one_zone: NotRequired[str]
    """Zone id of a One Zone file system: about half the price, one mount target, lost with its zone."""


class SharedFilesArgs(SharedFilesConfig, FilesNetwork, FilesClients):
    """The same, the zones it is mounted in, and who may mount it."""

    region: NotRequired[str]
    """Region of the file system, for instance us-east-1. Default: the provider\'s; another one is rejected."""
    zones: Sequence[str]
    """Zone ids that get a mount target, for instance use1-az1: every zone that has nodes. At least one for a file
    system made here; may be empty for an existing one whose mount targets exist."""
    zone_names: NotRequired[Mapping[str, str]]
    """This account's zone id to zone name. Needed with one_zone only: EFS takes a name (us-east-1a), and names mean
    different zones in different accounts."""
    erase: NotRequired[bool]
    """True: destroy deletes the files too, once an up has recorded it. Default false: what holds or governs the files
    is protected."""
    tags: NotRequired[Mapping[str, str]]
    """Tags of every resource."""


@dataclass(frozen=True)
class FilesPlan:
    """What will be made, as plain data."""

    zones: list[str]
    one_zone_name: str | None
    lifecycle: list[dict[str, str]]
    uid: int
    gid: int
    keep: bool


def plan_files(args: SharedFilesArgs) -> FilesPlan:
    """Decide everything that does not come from another resource. ``args`` has passed the rules."""
    days = int(args.get("infrequent_access_days", 30))
    unit = "DAY" if days == 1 else "DAYS"
    moves = [
        {"transition_to_ia": f"AFTER_{days}_{unit}"},
        {"transition_to_primary_storage_class": "AFTER_1_ACCESS"},
    ]
    one_zone = args.get("one_zone")
    return FilesPlan(
        zones=list(args["zones"]),
        one_zone_name=args.get("zone_names", {})[one_zone] if one_zone else None,
        lifecycle=moves if days else [],
        uid=int(args.get("uid", 1000)),
        gid=int(args.get("gid", 1000)),
        keep=not args.get("erase", False),
    )


def creation_token(project: str, stack: str, name: str) -> str:
    """The token (at most 64 characters) under which EFS makes the file system, the same on every run.

    EFS refuses a second file system with the same token. So a stack that lost its state gets an error that names the
    file system, and never an empty second one beside the one with the data.
    """
    token = f"{project}-{stack}-{name}"
    return token if len(token) <= 64 else f"{token[:47]}-{hashlib.sha256(token.encode()).hexdigest()[:16]}"


def tls_policy(file_system_arn: str) -> str:
    """File system policy (JSON): any client that reaches a mount target may mount and write, over TLS only, and not as
    root.

    A policy replaces EFS's default of "anyone who reaches a mount target", so that has to be said again. EFS takes a
    client's root for nobody; root is who mounts with a role that has elasticfilesystem:ClientRootAccess, as DataSync
    and an administrator do. A directory of an access point is made by EFS itself, for its owner.
    https://docs.aws.amazon.com/efs/latest/ug/iam-access-control-nfs-efs.html
    """
    statement = {"Principal": {"AWS": "*"}, "Resource": file_system_arn}
    client = ["ClientMount", "ClientWrite"]
    allow = {
        "Sid": "ThroughMountTargets",
        "Effect": "Allow",
        **statement,
        "Action": [f"elasticfilesystem:{action}" for action in client],
        "Condition": {"Bool": {"elasticfilesystem:AccessedViaMountTarget": "true"}},
    }
    deny = {
        "Sid": "TlsOnly",
        "Effect": "Deny",
        **statement,
        "Action": "*",
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    }
    return json.dumps({"Version": "2012-10-17", "Statement": [allow, deny]})


class SharedFiles(Component):
    """An encrypted EFS file system with a mount target per zone and an access point for one POSIX user.

    Data outlives compute: file system, access point, backup and policy are protected, so that
    ``pulumi destroy --exclude-protected`` keeps them in the state and the next ``up`` continues with the same files.
    """

    file_system_id: pulumi.Output[str]
    """The file system (fs-...): the given one, or the one made here."""
    dns_name: pulumi.Output[str]
    """Host to mount in zones that have a mount target."""
    access_point_id: pulumi.Output[str | None]
    """None without an access point."""
    security_group_id: pulumi.Output[str | None]
    """Group of the mount targets; None without mount targets."""
    mount_target_ids: pulumi.Output[Mapping[str, str]]
    """Zone id to mount target. A pod or job that mounts must wait for these."""

    def __init__(
        self, name: str, args: SharedFilesArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[SharedFilesArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: SharedFilesArgs) -> list[Finding]:
        return [*validate_shared_files(args), *validate_subnets(args)]

    def create(self, name: str, args: SharedFilesArgs) -> None:
        plan = plan_files(args)
        existing = args.get("file_system_id")
        if existing is None:
            file_system = self._file_system(name, args, plan)
            self.file_system_id, self.dns_name = file_system.id, file_system.dns_name
        else:
            self.file_system_id = pulumi.Output.from_input(existing)
            self.dns_name = pulumi.Output.concat(existing, f".efs.{args['region']}.amazonaws.com")
        self._mount_targets(name, args, plan)
        self._access_point(name, args, plan)

    def _file_system(self, name: str, args: SharedFilesArgs, plan: FilesPlan) -> "efs.FileSystem":
        """The file system and what governs its data. All of it stays when the fleet is destroyed: backups continue."""
        throughput = args.get("provisioned_mibps")
        file_system = efs.FileSystem(
            f"{name}-files",
            creation_token=creation_token(pulumi.get_project(), pulumi.get_stack(), name),
            encrypted=True,
            kms_key_id=args.get("kms_key_arn"),
            throughput_mode=args.get("throughput", "elastic"),
            provisioned_throughput_in_mibps=None if throughput is None else float(throughput),
            lifecycle_policies=[efs.FileSystemLifecyclePolicyArgs(**move) for move in plan.lifecycle],
            availability_zone_name=plan.one_zone_name,
            tags=self.tags(f"{name}-files"),
            # The creation token is taken until the old one is gone.
            opts=self.child(protect=plan.keep, delete_before_replace=True),
        )
        if args.get("backup", True):
            efs.BackupPolicy(
                f"{name}-backup",
                file_system_id=file_system.id,
                backup_policy=efs.BackupPolicyBackupPolicyArgs(status="ENABLED"),
                opts=self.child(protect=plan.keep),
            )
        if args.get("require_tls", True):
            efs.FileSystemPolicy(
                f"{name}-policy",
                file_system_id=file_system.id,
                policy=file_system.arn.apply(tls_policy),
                opts=self.child(protect=plan.keep),
            )
        return file_system

    def for_volume(self) -> VolumeSource:
        """Where the files of a `SharedVolume` are."""
        source: VolumeSource = {"efs": self.file_system_id}
        if self.args.get("access_point", True):
            source["access_point"] = self.access_point_id.apply(str)
        return source

    def for_sync(self) -> FilesSync:
        """The first mount target, and the first of the groups that it lets in; nothing without mount targets."""
        return self._sync

    def _mount_targets(self, name: str, args: SharedFilesArgs, plan: FilesPlan) -> None:
        """A mount target per zone, behind one security group that only the given groups reach."""
        self._sync: FilesSync = {}
        if not plan.zones:
            self.security_group_id = pulumi.Output.from_input(None)
            self.mount_target_ids = pulumi.Output.from_input({})
            return
        group = ec2.SecurityGroup(
            f"{name}-nfs",
            description="Mount targets of a shared file system",
            vpc_id=args["vpc_id"],
            tags=self.tags(f"{name}-nfs"),
            opts=self.child(),
        )
        for client, client_group in args["client_security_group_ids"].items():
            vpc.SecurityGroupIngressRule(
                f"{name}-nfs-from-{client}",
                security_group_id=group.id,
                referenced_security_group_id=client_group,
                ip_protocol="tcp",
                from_port=NFS_PORT,
                to_port=NFS_PORT,
                description=f"NFS from {client}",
                tags=self.tags(f"{name}-nfs-from-{client}"),
                opts=self.child(),
            )
        targets = {
            zone: efs.MountTarget(
                f"{name}-mount-{zone}",
                file_system_id=self.file_system_id,
                subnet_id=args["subnet_ids"][zone],
                security_groups=[group.id],
                opts=self.child(),
            )
            for zone in plan.zones
        }
        zone, target = next(iter(targets.items()))
        self._sync = {
            # Of the mount target, so that it is there.
            "file_system_arn": target.file_system_arn,
            "subnet_id": args["subnet_ids"][zone],
            "security_group_ids": list(args["client_security_group_ids"].values())[:1],
        }
        self.security_group_id = group.id
        # from_input also waits for what is inside a mapping; only its type does not say so.
        ids = {zone: target.id for zone, target in targets.items()}
        self.mount_target_ids = pulumi.Output.from_input(cast("Mapping[str, str]", ids))

    def _access_point(self, name: str, args: SharedFilesArgs, plan: FilesPlan) -> None:
        """A separate directory, made on first mount and owned by the one user that everybody writes as."""
        if not args.get("access_point", True):
            self.access_point_id = pulumi.Output.from_input(None)
            return
        point = efs.AccessPoint(
            f"{name}-access",
            file_system_id=self.file_system_id,
            posix_user=efs.AccessPointPosixUserArgs(uid=plan.uid, gid=plan.gid),
            # Without creation_info a mount of a directory that does not exist yet hangs until it times out.
            root_directory=efs.AccessPointRootDirectoryArgs(
                path=args.get("directory", DEFAULT_DIRECTORY),
                creation_info=efs.AccessPointRootDirectoryCreationInfoArgs(
                    owner_uid=plan.uid, owner_gid=plan.gid, permissions=args.get("permissions", "0755")
                ),
            ),
            tags=self.tags(f"{name}-access"),
            opts=self.child(protect=plan.keep),
        )
        self.access_point_id = point.id
