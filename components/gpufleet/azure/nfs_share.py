"""NfsShare: a premium file share with NFS, where every file keeps the owner that wrote it."""

from typing import Annotated, Literal, NotRequired, TypedDict, Unpack

import pulumi
from pulumi_azure_native import storage

from gpufleet.azure.access_logs import record_accesses
from gpufleet.azure.links import AccessLogsLink, ClientsLink, GroupLink
from gpufleet.azure.naming import legal_name
from gpufleet.azure.shared_files import NAME_LENGTH
from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.pulumi_outputs import with_dependencies, without_dependencies
from gpufleet.rules import Finding
from gpufleet.rules.azure.nfs_share import DEFAULT_GIB, LEAST_GIB, MOST_GIB, validate_nfs_share
from gpufleet.typed_dicts import NumberRange

Redundancy = Literal["Premium_LRS", "Premium_ZRS"]


class NfsShareConfig(TypedDict):
    """The share."""

    account_name: NotRequired[str]
    """Name of the storage account, unique in all of Azure. Default: Azure's, made from the component's."""
    share: NotRequired[str]
    """Name of the share. Default shared."""
    gib: NotRequired[Annotated[int, NumberRange(LEAST_GIB, MOST_GIB)]]
    """Its size in GiB, 100 to 102400; so many are paid for, written or not, and speed grows with them. Default 100."""
    redundancy: NotRequired[Redundancy]
    """Premium_LRS, or Premium_ZRS for copies in three zones. Default Premium_LRS."""


class NfsShareArgs(NfsShareConfig, GroupLink, ClientsLink, AccessLogsLink):
    """The same, where it is made, and from where it is mounted."""

    erase: NotRequired[bool]
    """True: destroy deletes the files, once an up has recorded it. Default false: they are protected."""


class NfsShare(Component):
    """A FileStorage account with one NFS 4.1 share.

    NFS has no credentials: who is in a client's subnet reads and writes with the uid of their process. Nothing is
    encrypted on the way, as Azure's NFS needs `enable_https_traffic_only` off; it stays within the virtual network.
    Data outlives compute: account and share are protected, so that ``pulumi destroy --exclude-protected`` keeps them.
    """

    account_name: pulumi.Output[str]
    """The storage account of the share."""
    share: pulumi.Output[str]
    """Its name."""
    place: pulumi.Output[str]
    """Source of a `gpufleet.kubernetes.SharedVolume`: <resource group>/<account>/<share>, once it can be mounted."""

    def __init__(
        self, name: str, args: NfsShareArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[NfsShareArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: NfsShareArgs) -> list[Finding]:
        return validate_nfs_share(args)

    def create(self, name: str, args: NfsShareArgs) -> None:
        kept = self.child(protect=not args.get("erase", False))
        account = storage.StorageAccount(
            legal_name(name, NAME_LENGTH),
            account_name=args.get("account_name"),
            resource_group_name=args["resource_group_name"],
            location=args["region"],
            kind="FileStorage",
            sku=storage.SkuArgs(name=args.get("redundancy", "Premium_LRS")),
            enable_https_traffic_only=False,
            minimum_tls_version="TLS1_2",
            allow_blob_public_access=False,
            allow_shared_key_access=False,
            network_rule_set=storage.NetworkRuleSetArgs(
                default_action=storage.DefaultAction.DENY,
                bypass="AzureServices",
                virtual_network_rules=[
                    # As of SharedFiles: the network may go while protected data stays.
                    storage.VirtualNetworkRuleArgs(virtual_network_resource_id=without_dependencies(subnet))
                    for subnet in args["client_subnet_ids"].values()
                ],
            ),
            tags=args.get("tags", {}),
            opts=kept,
        )
        share = storage.FileShare(
            f"{name}-share",
            account_name=account.name,
            resource_group_name=args["resource_group_name"],
            share_name=args.get("share", "shared"),
            enabled_protocols="NFS",
            # Files keep their users' uids; what root may do is for the pods' own limits.
            root_squash="NoRootSquash",
            share_quota=args.get("gib", DEFAULT_GIB),
            opts=kept,
        )
        workspace = args.get("log_workspace_id")
        if workspace is not None:
            record_accesses(f"{name}-access", "file", account.id, workspace, kept)
        self.account_name = account.name
        self.share = share.name
        self.place = with_dependencies(
            pulumi.Output.concat(args["resource_group_name"], "/", account.name, "/", share.name), share
        )
