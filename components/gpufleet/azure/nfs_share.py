"""NfsShare: a premium file share with NFS, where every file keeps the owner that wrote it."""

from collections.abc import Mapping
from typing import NotRequired, TypedDict

import pulumi
from pulumi_azure_native import storage

from gpufleet.azure.legal_name import legal_name
from gpufleet.azure.shared_files import NAME_LENGTH
from gpufleet.ordering import after, detached
from gpufleet.refusal import refuse_or_warn
from gpufleet.rules import judge_arguments
from gpufleet.rules.azure.nfs_share import DEFAULT_GIB, judge_nfs_share


class NfsShareArgs(TypedDict):
    """The share, and from where it is mounted."""

    region: str
    """Region of the share, that of its clients: eastus."""
    resource_group_name: pulumi.Input[str]
    """The resource group."""
    account_name: NotRequired[str]
    """Name of the storage account, unique in all of Azure. Default: Azure's, made from the component's."""
    share: NotRequired[str]
    """Name of the share. Default shared."""
    gib: NotRequired[int]
    """Its size in GiB, 100 to 102400; so many are paid for, written or not, and speed grows with them. Default 100."""
    redundancy: NotRequired[str]
    """Premium_LRS, or Premium_ZRS for copies in three zones. Default Premium_LRS."""
    client_subnet_ids: Mapping[str, pulumi.Input[str]]
    """Short name to a subnet with the service endpoint Microsoft.Storage; nobody else reaches the share."""
    erase: NotRequired[bool]
    """True: destroy deletes the files, once an up has recorded it. Default false: they are protected."""
    tags: NotRequired[Mapping[str, str]]
    """Tags of every resource."""


class NfsShare(pulumi.ComponentResource):
    """A storage account of kind FileStorage with one share, NFS 4.1.

    NFS has no credentials: who is in a client's subnet reads and writes with the uid of their process. Nothing is
    encrypted on the way, as Azure's NFS needs `enable_https_traffic_only` off; it stays within the virtual network.
    Data outlives compute: account and share are protected, so that ``pulumi destroy --exclude-protected`` keeps them.

    Raises :class:`gpufleet.refusal.Refused` with every fault of ``args`` before anything is registered.
    """

    account_name: pulumi.Output[str]
    """The storage account of the share."""
    share: pulumi.Output[str]
    """Its name."""
    place: pulumi.Output[str]
    """Source of a `gpufleet.kubernetes.SharedVolume`: <resource group>/<account>/<share>, once it can be mounted."""

    def __init__(self, name: str, args: NfsShareArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        refuse_or_warn(name, [*judge_arguments(args, NfsShareArgs), *judge_nfs_share(args)])
        # No inputs: a component's children wait until every value that the component registers with is known.
        super().__init__("gpufleet-azure:index:NfsShare", name, {}, opts)
        kept = pulumi.ResourceOptions(parent=self, protect=not args.get("erase", False))
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
                    storage.VirtualNetworkRuleArgs(virtual_network_resource_id=detached(subnet))
                    for subnet in args["client_subnet_ids"].values()
                ],
            ),
            tags=dict(args.get("tags", {})),
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
        self.account_name = account.name
        self.share = share.name
        self.place = after(pulumi.Output.concat(args["resource_group_name"], "/", account.name, "/", share.name), share)
        self.register_outputs({"account_name": self.account_name, "share": self.share, "place": self.place})
