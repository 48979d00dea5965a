"""Rules on storage accounts of Azure: NFS, and the region of what a pool reads."""

from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule, unverified

NFS_KINDS = ("StorageV2", "BlockBlobStorage")


@rule("azure-storage-nfs-namespace", Severity.ERROR)
def nfs_namespace(*, nfs: bool, hierarchical: bool, argument: str = "is_hns_enabled") -> Outcome:
    """A storage account with NFS 3.0 has a hierarchical namespace; `argument` is what switches that on.

    Source: hashicorp/terraform-provider-azurerm#14540: The value 'True' is not allowed for property isNfsv3Enabled.
    """
    if not nfs or hierarchical:
        return passed()
    return failed(argument, False, "NFS 3.0 needs a hierarchical namespace", f"set {argument}=true")


@rule("azure-storage-nfs-kind", Severity.ERROR)
def nfs_kind(*, nfs: bool, kind: str) -> Outcome:
    """A storage account with NFS 3.0 is of a kind that supports it.

    Source: hashicorp/terraform-provider-azurerm#14540; https://learn.microsoft.com/azure/storage/blobs/network-file-system-protocol-support
    """
    if not nfs or kind in NFS_KINDS:
        return passed()
    return failed("kind", kind, "has no NFS 3.0", "use StorageV2, or BlockBlobStorage for premium")


@rule("azure-storage-nfs-network", Severity.ERROR)
def nfs_network(*, nfs: bool, default_action: str) -> Outcome:
    """A storage account with NFS 3.0 denies what no network rule allows, since NFS has no credentials.

    Source: hashicorp/terraform-provider-azurerm#15968: NetworkAclsDefaultActionMisconfigured.
    """
    if not nfs or default_action == "Deny":
        return passed()
    problem = "NFS 3.0 has no credentials, and the account would be open to everybody"
    return failed("network_rule_set.default_action", default_action, problem, "use Deny and allow the nodes' subnet")


@rule("azure-files-nfs-kind", Severity.ERROR)
def files_nfs_kind(*, protocol: str, kind: str | None) -> Outcome:
    """A file share with NFS lies in a premium account for files; `kind` is the account's, None where not known.

    Source: https://learn.microsoft.com/azure/storage/files/files-nfs-protocol: on SSD file shares only.
    """
    if protocol.upper() != "NFS" or kind == "FileStorage":
        return passed()
    fix = "use a storage account of kind=FileStorage, or SMB"
    if kind is None:
        return unverified("enabled_protocols", protocol, "the kind of its storage account is not known", fix)
    return failed("enabled_protocols", protocol, f"is not available in a storage account of kind {kind}", fix)


@rule("azure-storage-near-pool", Severity.ERROR)
def storage_near_pool(*, argument: str, account: str, region: str | None, pool_region: str | None) -> Outcome:
    """The storage that a pool mounts, or uses otherwise, lies in the pool's region; None: a region is not known.

    Source: https://learn.microsoft.com/azure/storage/blobs/storage-performance-checklist (client proximity): across
    regions each read waits for the distance, and its bytes are billed.
    """
    if region is None or pool_region is None:
        problem = "whether it lies in the pool's region is not known before deployment"
        return unverified(argument, account, problem, "make sure that both are in one region")
    if region == pool_region:
        return passed()
    problem = f"this storage account lies in {region}, the pool in {pool_region}"
    return failed(argument, account, problem, f"use a storage account in {pool_region}")


@rule("azure-storage-kind", Severity.ERROR)
def kind_and_sku(*, kind: str, sku: str) -> Outcome:
    """The kind of a storage account goes with its SKU.

    Source: InvalidValuesForRequestParameters of hashicorp/terraform-provider-azurerm#8089 (StorageV2 with Premium_ZRS)
    and #4842 (BlockBlobStorage with Standard_LRS), #3750: FileStorage works with premium SKUs only. StandardV2_* is of
    FileStorage: Azure/bicep-registry-modules#3858.
    """
    if kind in ("FileStorage", "BlockBlobStorage") and sku.startswith("Standard_"):
        return failed("sku", sku, f"is not available for the kind {kind}", "use Premium_LRS, or kind=StorageV2")
    if kind == "StorageV2" and sku == "Premium_ZRS":
        fix = "use Premium_LRS, or kind=BlockBlobStorage or FileStorage"
        return failed("sku", sku, f"is not available for the kind {kind}", fix)
    return passed()
