"""SharedFiles: one storage account, with containers for data and results, and file shares."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, NotRequired, TypedDict, Unpack

import pulumi
from pulumi_azure_native import storage

from gpufleet.azure.access_logs import record_account
from gpufleet.azure.batch_mounts import Mount
from gpufleet.azure.invoke import invoke_or_fail
from gpufleet.azure.links import AccessLogsLink, BlobUsersLink, EndpointLink, GroupLink, MountsLink, StorageLink
from gpufleet.azure.naming import legal_name
from gpufleet.azure.private_endpoint import dns_zone, private_endpoint
from gpufleet.azure.role_assignment import assign_role
from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.pulumi_outputs import with_dependencies, without_dependencies
from gpufleet.rules import Finding, coerce
from gpufleet.rules.azure.storage_files import LARGEST_SHARE, validate_azure_files
from gpufleet.typed_dicts import NumberRange

DEFAULT_CONTAINERS = ("scripts", "result")
DEFAULT_SHARES: tuple[str, ...] = ()
NAME_LENGTH = 24
LARGE_GIB = 5120
"""GiB above which a share is large, which its account has to allow."""
Access = Literal["service-endpoint", "private-endpoint"]
Redundancy = Literal[
    "Standard_LRS", "Standard_ZRS", "Standard_GRS", "Standard_RAGRS", "Standard_GZRS", "Standard_RAGZRS"
]


class SharedFilesConfig(TypedDict):
    """A storage account, and what is in it."""

    account_name: NotRequired[str]
    """Name of the account, 3 to 24 lower-case letters and digits, unique in the world. Default: made by Azure from the
    component's. A change replaces the account; a protected one cannot be replaced."""
    containers: NotRequired[Sequence[str]]
    """Blob containers, for data and results: fast, and mounted by identity. Default [scripts, result]."""
    shares: NotRequired[Sequence[str]]
    """File shares (SMB): slow, for small files that are appended to. Default: none."""
    share_gib: NotRequired[Annotated[int, NumberRange(1, LARGEST_SHARE)]]
    """Most that each share holds, 1 to 102400 GiB; only what is used is paid for. Default 100."""
    hierarchical: NotRequired[bool]
    """Directories that are renamed in one step (Data Lake Storage). Default: as ``nfs``. A change replaces the
    account."""
    nfs: NotRequired[bool]
    """Containers can be mounted by NFS 3.0 too, without credentials from the given networks. Default false. A change
    replaces the account."""
    redundancy: NotRequired[Redundancy]
    """Standard_LRS, Standard_ZRS, Standard_GRS, Standard_RAGRS, Standard_GZRS or Standard_RAGZRS. Default
    Standard_LRS: three copies in one place."""
    access: NotRequired[Access]
    """How nodes reach the account: service-endpoint, from the subnets in ``client_subnet_ids``; or private-endpoint,
    by addresses in ``endpoint_subnet_id``, which cost per hour and GB. Default service-endpoint."""
    allowed_cidrs: NotRequired[Sequence[str]]
    """Public addresses or ranges from which people may copy data too, for instance 203.0.113.7. Default: none."""
    dns_zone_ids: NotRequired[Mapping[str, pulumi.Input[str]]]
    """With private-endpoint: existing private DNS zones, by blob, file and dfs. Default: made here; a resource group
    has one of each name."""
    shared_keys: NotRequired[bool]
    """The account's keys open it too. Default false. Needed where Azure Batch mounts a file share, which it does by
    key only."""
    retention_days: NotRequired[int]
    """Days for which deleted blobs, containers and shares can be brought back; 0 = not at all. Default 7."""


class SharedFilesArgs(SharedFilesConfig, GroupLink, EndpointLink, BlobUsersLink):
    """The same, where it is made, and who reaches it from where."""

    access_logs: NotRequired[bool]
    """Record who reads, writes and deletes blobs and files, for 90 days, in a workspace of Log Analytics that is made
    for it. Most requests are recorded, not all. Default false: what it takes in is paid for."""
    client_subnet_ids: NotRequired[Mapping[str, pulumi.Input[str]]]
    """Who reaches the account: a short name of your choice to a subnet with a service endpoint of Microsoft.Storage.
    Nobody else does. Unused with private-endpoint."""
    erase: NotRequired[bool]
    """True: destroy deletes the data too, once an up has recorded it. Default false: what holds or governs the data is
    protected."""


class SharedFiles(Component):
    """A storage account without public access, with TLS 1.2, access by identities, containers and shares.

    Data outlives compute: account, containers, shares and what governs them are protected, so that
    ``pulumi destroy --exclude-protected`` keeps them and their resource group, and the next ``up`` continues with the
    same files. The network goes meanwhile. Deleting the resource group by other means deletes all of it.
    """

    account_name: pulumi.Output[str]
    """Name of the account."""
    account_id: pulumi.Output[str]
    """What an account of Azure Batch is given for its own files."""
    blob_endpoint: pulumi.Output[str]
    """Address of the containers: https://NAME.blob.core.windows.net/"""
    file_endpoint: pulumi.Output[str]
    """Address of the shares."""
    containers: pulumi.Output[Sequence[str]]
    """Names of the containers. Known once nodes can mount them: anything that mounts them waits for these."""
    shares: pulumi.Output[Sequence[str]]
    """Names of the shares, likewise."""
    account_key: pulumi.Output[str | None]
    """A key of the account, secret; None without ``shared_keys``."""
    log_workspace_id: pulumi.Output[str | None]
    """The workspace of the record of accesses; None without ``access_logs``."""

    def __init__(
        self, name: str, args: SharedFilesArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[SharedFilesArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: SharedFilesArgs) -> list[Finding]:
        return validate_azure_files(args)

    def create(self, name: str, args: SharedFilesArgs) -> None:
        self._kept = self.child(protect=not args.get("erase", False))
        account = self._account(name, args)
        self._retention(name, args, account)
        containers, shares = self._contents(name, args, account)
        ready: list[pulumi.Resource] = self._roles(name, args, containers)
        if args.get("access") == "private-endpoint":
            ready += self._private(name, args, account)
        self.account_name = account.name
        self.account_id = account.id
        self.blob_endpoint = account.primary_endpoints.apply(lambda each: each.blob)
        self.file_endpoint = account.primary_endpoints.apply(lambda each: each.file)
        self.containers = with_dependencies(pulumi.Output.all(*(each.name for each in containers)), *ready)
        self.shares = with_dependencies(pulumi.Output.all(*(each.name for each in shares)), *ready)
        self.account_key = self._key(args, account)
        workspace = record_account(f"{name}-access", account.id, args, self._kept) if args.get("access_logs") else None
        self.log_workspace_id = pulumi.Output.from_input(workspace)

    def for_account(self) -> StorageLink:
        """Where a `BatchAccount` keeps what it writes of jobs."""
        return {"storage_account_id": self.account_id, "storage_region": coerce.text(self.args, "region")}

    def for_access_logs(self) -> AccessLogsLink:
        """Where a `NfsShare` records who reads and writes it: as this; nowhere without ``access_logs``."""
        known = self.log_workspace_id.apply(lambda each: each or "")
        return {"log_workspace_id": known} if coerce.flag(self.args, "access_logs", False) else {}

    def for_pool(self, names: Sequence[str] | None = None) -> MountsLink:
        """What the nodes of a `BatchPool` mount under their names: these containers and shares; None: all containers.

        A name that is neither is taken for a container's.
        """
        containers = self._names("containers", DEFAULT_CONTAINERS)
        shares = set(self._names("shares", DEFAULT_SHARES)).difference(containers)
        return {"mounts": [self._mount(name, name in shares) for name in (containers if names is None else names)]}

    def _names(self, argument: str, usual: Sequence[str]) -> Sequence[str]:
        return usual if self.args.get(argument) is None else coerce.texts(self.args, argument)

    def _mount(self, name: str, is_share: bool) -> Mount:
        mount: Mount = {
            "kind": "files" if is_share else "blob",
            "path": name,
            "account": self.account_name,
            "region": coerce.text(self.args, "region"),
            "shared_keys": coerce.flag(self.args, "shared_keys", False),
        }
        if not is_share:
            return {**mount, "container": name}
        key = self.account_key.apply(lambda known: known or "")
        return {**mount, "share": name, "account_key": key, "endpoint": self.file_endpoint}

    def _account(self, name: str, args: SharedFilesArgs) -> "storage.StorageAccount":
        nfs = bool(args.get("nfs", False))
        private = args.get("access") == "private-endpoint"
        allowed = args.get("allowed_cidrs", ())
        subnets = {} if private else args.get("client_subnet_ids", {})
        return storage.StorageAccount(
            legal_name(name, NAME_LENGTH),
            account_name=args.get("account_name"),
            resource_group_name=args["resource_group_name"],
            location=args["region"],
            kind="StorageV2",
            sku=storage.SkuArgs(name=args.get("redundancy", "Standard_LRS")),
            allow_blob_public_access=False,
            allow_cross_tenant_replication=False,
            allow_shared_key_access=bool(args.get("shared_keys", False)),
            default_to_o_auth_authentication=True,
            enable_https_traffic_only=True,
            minimum_tls_version="TLS1_2",
            is_hns_enabled=bool(args.get("hierarchical", nfs)),
            enable_nfs_v3=nfs,
            large_file_shares_state="Enabled" if args.get("share_gib", 0) > LARGE_GIB else None,
            public_network_access="Disabled" if private and not allowed else "Enabled",
            network_rule_set=storage.NetworkRuleSetArgs(
                default_action=storage.DefaultAction.DENY,
                # Azure's own services that it vouches for, such as metrics and backup.
                bypass="AzureServices",
                virtual_network_rules=[
                    # A subnet may go before the account: Azure then drops its rule. Bound to it, protected data would
                    # keep the whole network, NAT gateway included.
                    storage.VirtualNetworkRuleArgs(virtual_network_resource_id=without_dependencies(subnet))
                    for subnet in subnets.values()
                ],
                ip_rules=[storage.IPRuleArgs(i_p_address_or_range=cidr) for cidr in allowed],
            ),
            tags=args.get("tags", {}),
            opts=self._kept,
        )

    def _retention(self, name: str, args: SharedFilesArgs, account: "storage.StorageAccount") -> None:
        """What was deleted by mistake comes back for some days."""
        days = int(args.get("retention_days", 7))
        policy = storage.DeleteRetentionPolicyArgs(enabled=days > 0, days=days or None)
        storage.BlobServiceProperties(
            f"{name}-blobs",
            account_name=account.name,
            resource_group_name=args["resource_group_name"],
            # Azure has one of each account, called so.
            blob_services_name="default",
            delete_retention_policy=policy,
            container_delete_retention_policy=policy,
            opts=self._kept,
        )
        storage.FileServiceProperties(
            f"{name}-shares",
            account_name=account.name,
            resource_group_name=args["resource_group_name"],
            file_services_name="default",
            share_delete_retention_policy=policy,
            opts=self._kept,
        )

    def _contents(
        self, name: str, args: SharedFilesArgs, account: "storage.StorageAccount"
    ) -> tuple[list["storage.BlobContainer"], list["storage.FileShare"]]:
        """Containers and shares. Their names are those asked for: scripts and jobs are written with them."""
        group = args["resource_group_name"]
        containers = [
            storage.BlobContainer(
                f"{name}-container-{container}",
                container_name=container,
                account_name=account.name,
                resource_group_name=group,
                public_access=storage.PublicAccess.NONE,
                opts=self._kept,
            )
            for container in args.get("containers", DEFAULT_CONTAINERS)
        ]
        shares = [
            storage.FileShare(
                f"{name}-share-{share}",
                share_name=share,
                account_name=account.name,
                resource_group_name=group,
                enabled_protocols="SMB",
                share_quota=int(args.get("share_gib", 100)),
                opts=self._kept,
            )
            for share in args.get("shares", DEFAULT_SHARES)
        ]
        return containers, shares

    def _roles(
        self, name: str, args: SharedFilesArgs, containers: Sequence["storage.BlobContainer"]
    ) -> list[pulumi.Resource]:
        """Clients read and write blobs as who they are, without a key; in these containers, and in no other that the
        account gets."""
        role = "Storage Blob Data Contributor"
        names = args.get("containers", DEFAULT_CONTAINERS)
        return [
            assign_role(f"{name}-{short}-of-{client}", self, role, container.id, principal)
            for client, principal in args.get("client_principal_ids", {}).items()
            for short, container in zip(names, containers, strict=True)
        ]

    def _private(self, name: str, args: SharedFilesArgs, account: "storage.StorageAccount") -> list[pulumi.Resource]:
        """A private address for each service of the account."""
        hierarchical = args.get("hierarchical", args.get("nfs", False))
        ready: list[pulumi.Resource] = []
        before: list[pulumi.Resource] = []
        for group in ("blob", "file", *(["dfs"] if hierarchical else [])):
            child = f"{name}-{group}"
            zone = args.get("dns_zone_ids", {}).get(group)
            if zone is None:
                zone, link = dns_zone(child, self, args, group)
                ready.append(link)
            # Those of one account get into each other's way: hashicorp/terraform-provider-azurerm#28112
            endpoint, entry = private_endpoint(child, self, args, group, with_dependencies(account.id, *before), zone)
            before = [endpoint]
            ready.append(entry)
        return ready

    def _key(self, args: SharedFilesArgs, account: "storage.StorageAccount") -> pulumi.Output[str | None]:
        if not args.get("shared_keys", False):
            return pulumi.Output.from_input(None)

        def ask(group: str, account: str) -> str:
            listed = storage.list_storage_account_keys(
                account_name=account, resource_group_name=group, opts=pulumi.InvokeOptions(parent=self)
            )
            return listed.keys[0].value

        # Not before the account is there: its name alone may be known in a preview.
        known = pulumi.Output.all(args["resource_group_name"], account.name, account.id)
        key: pulumi.Output[str | None] = known.apply(
            lambda of: invoke_or_fail(f"{of[1]}: the key of the storage account", lambda: ask(of[0], of[1]))
        )
        return pulumi.Output.secret(key)
