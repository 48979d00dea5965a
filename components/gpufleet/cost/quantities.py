"""Quantities that decide a charge and follow from several properties, or from another resource."""

from datetime import date

from gpufleet.catalog.eks_versions import eks_versions, minor_of
from gpufleet.plan.azure.graph import AzureGraph
from gpufleet.plan.property_values import get_path, value_of
from gpufleet.plan.resource import UNKNOWN, Resource

ACCOUNT = "storage:StorageAccount"
_FILES_ONLY = "FileStorage"


def file_tier(graph: AzureGraph, share: Resource) -> object:
    """Tier by which an Azure file share is billed: Premium in an account for files only, else TransactionOptimized
    where the program does not choose one."""
    if (tier := value_of(share, "accessTier")) is not None:
        return tier
    account = storage_account_of(graph, share)
    kind = value_of(account, "kind") if account else None
    return UNKNOWN if kind is UNKNOWN else "Premium" if kind == _FILES_ONLY else "TransactionOptimized"


def storage_account_of(graph: AzureGraph, resource: Resource) -> Resource | None:
    """The storage account that a share or a container lies in, if the plan has it; an account is its own."""
    return resource if graph.kind(resource) == ACCOUNT else graph.named(resource, "accountName", ACCOUNT, "accountName")


def redundancy(graph: AzureGraph, resource: Resource) -> object:
    """How often an account's bytes are kept: lrs, zrs, grs, gzrs. UNKNOWN where the account is not in the plan.

    Reading from the second region has a price of its own only for objects, so ragrs of files is grs. Accounts of the
    second version (StandardV2_LRS) are billed in another way and give their whole SKU, of which no price is known.
    """
    account = storage_account_of(graph, resource)
    sku = get_path(value_of(account, "sku"), "name") if account else UNKNOWN
    if not isinstance(sku, str):
        return UNKNOWN
    family, _, kind = sku.lower().partition("_")
    if family not in ("standard", "premium"):
        return sku.lower()
    return kind if resource is account else kind.removeprefix("ra")


def access_tier(account: Resource) -> object:
    """The access tier in which an account keeps objects: hot where the program does not choose one."""
    tier = value_of(account, "accessTier")
    return tier.lower() if isinstance(tier, str) else UNKNOWN if tier is UNKNOWN else "hot"


def account_content(graph: AzureGraph, account: Resource) -> object:
    """objects, or files: an account in which the program makes file shares and no container keeps no objects."""
    if (kind := value_of(account, "kind")) in (UNKNOWN, _FILES_ONLY):
        return UNKNOWN if kind is UNKNOWN else "files"

    def has(inner: str) -> bool:
        return any(graph.named(each, "accountName", ACCOUNT, "accountName") is account for each in graph.of(inner))

    return "files" if has("storage:FileShare") and not has("storage:BlobContainer") else "objects"


def eks_support(resource: Resource, today: date) -> object:
    """standard or extended: which support of its Kubernetes version an EKS cluster pays for.

    With upgrade policy STANDARD the cluster is upgraded instead when standard support ends.
    """
    policy = get_path(value_of(resource, "upgradePolicy"), "supportType")
    version = value_of(resource, "version")
    if policy == "STANDARD" or version is None:
        return "standard"
    if UNKNOWN in (policy, version):
        return UNKNOWN
    known = eks_versions()
    if (record := known.get(str(version))) is not None:
        return "extended" if date.fromisoformat(record.standard_until) <= today else "standard"
    return "extended" if minor_of(str(version)) < min(map(minor_of, known)) else "standard"
