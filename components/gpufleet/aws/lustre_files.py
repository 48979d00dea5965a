"""LustreFiles: one file system of FSx for Lustre, for training that reads more than NFS gives."""

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict, Unpack

import pulumi
from pulumi_aws import ec2, fsx, vpc

from gpufleet.aws.links import FilesNetwork, LustreClients
from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.kubernetes.volume_source import VolumeSource
from gpufleet.rules import Finding
from gpufleet.rules.aws.lustre import LEAST_GIB, THROUGHPUTS, validate_lustre_files
from gpufleet.rules.subnet import validate_subnets

PORTS = {"lnet": (988, 988), "lnet-more": (1018, 1023)}
"""docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html"""
EVENTS = ["NEW", "CHANGED", "DELETED"]


class LustreFilesConfig(TypedDict):
    """A file system of FSx for Lustre (deployment type PERSISTENT_2, on SSD), and the buckets behind it."""

    zone: str
    """Zone id of the file system, for instance use1-az1: that of the GPU nodes. A change replaces it."""
    gib: NotRequired[int]
    """Its size in GiB: 1200 or a multiple of 2400; with efa a multiple of 38400, 19200, 9600 or 4800, at 125, 250, 500
    or 1000 MB/s for each TiB. So many are paid for, written or not. It grows in place; a smaller size replaces it,
    which protection refuses. Default 1200."""
    throughput: NotRequired[int]
    """MB/s for each TiB: 125, 250, 500 or 1000. Default 125."""
    efa: NotRequired[bool]
    """Whether nodes with EFA can read over it, once their Lustre client is set up so. Others read over TCP. A change
    replaces the file system. Default false."""
    buckets: NotRequired[Mapping[str, str]]
    """Buckets that the file system shows: a directory of it to a path of S3, for instance {/imagenet:
    s3://images/train}. An object is loaded when it is first read. Default: none."""
    export: NotRequired[bool]
    """Whether what is written in the directories of buckets is written to the buckets too. Default false."""
    kms_key_arn: NotRequired[pulumi.Input[str]]
    """Key for encryption at rest. Default: the AWS-managed key of FSx; encryption is always on."""


class LustreFilesArgs(LustreFilesConfig, FilesNetwork, LustreClients):
    """The same, its network, and who may mount it."""

    region: NotRequired[str]
    """Region of the file system, for instance us-east-1. Default: the provider\'s; another one is rejected."""
    erase: NotRequired[bool]
    """True: destroy deletes the files too, once an up has recorded it. Default false: they are protected."""
    tags: NotRequired[Mapping[str, str]]
    """Tags of every resource."""


class LustreFiles(Component):
    """A file system of FSx for Lustre in one zone, behind a security group that only the given groups reach.

    Data outlives compute: the file system and its links to buckets are protected, so that
    ``pulumi destroy --exclude-protected`` keeps them, their subnet and security group, and the next ``up`` continues.
    """

    file_system_id: pulumi.Output[str]
    """The file system (fs-...)."""
    mount_address: pulumi.Output[str]
    """What a client mounts: <DNS name>@tcp:/<mount name>."""
    security_group_id: pulumi.Output[str]
    """Group of the file system."""

    def __init__(
        self, name: str, args: LustreFilesArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[LustreFilesArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: LustreFilesArgs) -> list[Finding]:
        return [*validate_lustre_files(args), *validate_subnets({**args, "zones": [args["zone"]]})]

    def create(self, name: str, args: LustreFilesArgs) -> None:
        efa, keep = args.get("efa", False), not args.get("erase", False)
        group = ec2.SecurityGroup(
            f"{name}-lnet",
            description="File system of FSx for Lustre",
            vpc_id=args["vpc_id"],
            tags=self.tags(f"{name}-lnet"),
            opts=self.child(),
        )
        own = self._rules(name, "itself", group.id, group.id, efa=efa)
        for client, client_group in args["client_security_group_ids"].items():
            self._rules(name, client, group.id, client_group, efa=efa)
            # Servers call their clients back.
            self._ingress(f"{name}-to-{client}", client_group, group.id, efa=efa)
        file_system = fsx.LustreFileSystem(
            f"{name}-lustre",
            deployment_type="PERSISTENT_2",
            file_system_type_version="2.15",
            storage_capacity=args.get("gib", LEAST_GIB),
            per_unit_storage_throughput=args.get("throughput", THROUGHPUTS[0]),
            efa_enabled=True if efa else None,
            metadata_configuration=fsx.LustreFileSystemMetadataConfigurationArgs(mode="AUTOMATIC") if efa else None,
            kms_key_id=args.get("kms_key_arn"),
            subnet_ids=args["subnet_ids"][args["zone"]],
            security_group_ids=[group.id],
            tags=self.tags(f"{name}-lustre"),
            # FSx looks for its port in the group's rules: aws/aws-parallelcluster#6181.
            opts=self.child(protect=keep, depends_on=own),
        )
        links = self._buckets(name, args, file_system.id, keep)
        self.file_system_id, self.security_group_id = file_system.id, group.id
        address = pulumi.Output.concat(file_system.dns_name, "@tcp:/", file_system.mount_name)
        # Who mounts it sees the buckets.
        self.mount_address = pulumi.Output.all(address, *(link.id for link in links)).apply(lambda known: str(known[0]))

    def for_volume(self) -> VolumeSource:
        """Where the files of a `SharedVolume` are."""
        return {"fsx_lustre": self.mount_address}

    def _rules(
        self, name: str, peer: str, group: pulumi.Input[str], peer_group: pulumi.Input[str], *, efa: bool
    ) -> list[pulumi.Resource]:
        """What a peer and the file system's servers say to each other."""
        made = self._ingress(f"{name}-from-{peer}", group, peer_group, efa=efa)
        for kind in _ports(efa):
            full, text = f"{name}-{kind}-out-to-{peer}", f"Lustre to {peer}"
            said = self._said(full, kind, group, peer_group, text, efa=efa)
            made.append(vpc.SecurityGroupEgressRule(full, **said, opts=self.child()))
        return made

    def _ingress(
        self, name: str, group: pulumi.Input[str], peer_group: pulumi.Input[str], *, efa: bool
    ) -> list[pulumi.Resource]:
        return [
            vpc.SecurityGroupIngressRule(
                full, **self._said(full, kind, group, peer_group, "Lustre", efa=efa), opts=self.child()
            )
            for kind, full in ((kind, f"{name}-{kind}") for kind in _ports(efa))
        ]

    def _said(
        self, name: str, kind: str, group: pulumi.Input[str], peer: pulumi.Input[str], description: str, *, efa: bool
    ) -> dict[str, Any]:
        """What a rule says, in whichever direction."""
        first, last = _ports(efa)[kind]
        return {
            "security_group_id": group,
            "referenced_security_group_id": peer,
            "ip_protocol": "-1" if efa else "tcp",
            "from_port": first,
            "to_port": last,
            "description": description,
            "tags": self.tags(name),
        }

    def _buckets(
        self, name: str, args: LustreFilesArgs, file_system_id: pulumi.Input[str], keep: bool
    ) -> "list[fsx.DataRepositoryAssociation]":
        """Links to buckets, by which the file system follows their objects.

        One after the other: of two at once, FSx fails all but one, and calls it a lack of permissions. Source:
        hashicorp/terraform-provider-aws#24678
        """
        export = fsx.DataRepositoryAssociationS3AutoExportPolicyArgs(events=EVENTS) if args.get("export") else None
        links: list[fsx.DataRepositoryAssociation] = []
        for directory, bucket in args.get("buckets", {}).items():
            full = f"{name}-bucket{directory.replace('/', '-').rstrip('-')}"
            link = fsx.DataRepositoryAssociation(
                full,
                file_system_id=file_system_id,
                file_system_path=directory,
                data_repository_path=bucket,
                batch_import_meta_data_on_create=True,
                s3=fsx.DataRepositoryAssociationS3Args(
                    auto_import_policy=fsx.DataRepositoryAssociationS3AutoImportPolicyArgs(events=EVENTS),
                    auto_export_policy=export,
                ),
                tags=self.tags(full),
                opts=self.child(protect=keep, depends_on=links[-1:]),
            )
            links.append(link)
        return links


def _ports(efa: bool) -> Mapping[str, tuple[int | None, int | None]]:
    """Ports of TCP; of EFA, whose security group lets everything through.

    Source: hashicorp/terraform-provider-aws#40568, of a group that is enabled for EFA.
    """
    return {"efa": (None, None)} if efa else dict(PORTS)
