"""Rules on what the nodes of an Azure Batch pool mount."""

from collections.abc import Sequence

from gpufleet.rules.messages import listed
from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule, unverified

MOST_MOUNTS = 10
CREDENTIALS = ("account_key", "sas_key", "identity_reference")


@rule("azure-mount-count", Severity.ERROR)
def mount_count(*, count: int) -> Outcome:
    """A Batch pool mounts at most 10 file systems.

    Source: https://learn.microsoft.com/azure/batch/virtual-file-mount
    """
    if count <= MOST_MOUNTS:
        return passed()
    problem = f"is more than the {MOST_MOUNTS} file systems that a pool can mount"
    return failed("mount_configuration", count, problem, f"mount {MOST_MOUNTS} or fewer, such as parents of them")


@rule("azure-mount-one-kind", Severity.ERROR)
def mount_one_kind(*, argument: str, kinds: Sequence[str]) -> Outcome:
    """Each entry of a pool's mounts is one file system.

    Source: mountConfiguration of Microsoft.Batch/batchAccounts/pools 2024-07-01: its properties exclude each other.
    """
    if len(kinds) == 1:
        return passed()
    problem = "mounts several file systems in one entry" if kinds else "mounts nothing"
    fix = "make an entry for each" if kinds else "give a blob container, a file share, NFS or CIFS"
    return failed(argument, list(kinds), problem, fix)


@rule("azure-mount-credential", Severity.ERROR)
def mount_credential(*, argument: str, given: Sequence[str]) -> Outcome:
    """A blob mount has one of account key, SAS key and identity.

    Source: azureBlobFileSystemConfiguration of Microsoft.Batch/batchAccounts/pools 2024-07-01: exactly one of them.
    """
    if len(given) == 1:
        return passed()
    problem = f"has {listed(given, 'and')}" if given else "has no credential"
    fix = "keep one of them; identity_reference needs no key" if given else "give identity_reference"
    return failed(argument, list(given), problem, fix)


@rule("azure-mount-files-key", Severity.ERROR)
def mount_files_key(*, argument: str, has_key: bool) -> Outcome:
    """A file share is mounted with an account key, since Batch takes nothing else.

    Source: azureFileShareConfiguration of Microsoft.Batch/batchAccounts/pools 2024-07-01: accountKey is required.
    """
    if has_key:
        return passed()
    problem = "Batch mounts file shares by account key only"
    return failed(
        argument, "file share", problem, "give the account key as a secret, or mount a blob container by identity"
    )


@rule("azure-mount-identity", Severity.ERROR)
def mount_identity(*, argument: str, has_identity: bool) -> Outcome:
    """A pool that mounts by identity, or pulls images by it, has a user-assigned identity.

    Source: https://learn.microsoft.com/azure/batch/managed-identity-pools: a node has the identities of its pool only.
    """
    if has_identity:
        return passed()
    problem = "the pool has no user-assigned identity"
    return failed(argument, "(an identity)", problem, "give identity.user_assigned_identities with this identity")


@rule("azure-storage-shared-key", Severity.ERROR)
def shared_key(*, argument: str, needs: str, account: str, allowed: bool | None) -> Outcome:
    """What uses a key or SAS of a storage account has one that allows that; `allowed` is None where it is not known.

    Source: hashicorp/terraform-provider-azurerm#17341, #25218, #11460: 403 KeyBasedAuthenticationNotPermitted.
    """
    if allowed:
        return passed()
    if allowed is None:
        problem = f"whether the storage account allows {needs} is not known"
        return unverified(argument, account, problem, "make sure that allow_shared_key_access is not false there")
    problem = f"needs {needs}, and the storage account has allow_shared_key_access=false"
    fix = "use an identity and blob containers, or set shared_keys=true of the files"
    return failed(argument, account, problem, fix)


@rule("azure-mount-data-blob", Severity.INFO)
def data_on_blob(*, shares: Sequence[str], others: int) -> Outcome:
    """Training data is read from blob containers, not from file shares; `others` are mounts that are no file share.

    Source: https://learn.microsoft.com/azure/storage/files/storage-files-scale-targets: one share has a throughput of
    its own that all nodes divide, far below that of a storage account's blobs.
    """
    if not shares or others:
        return passed()
    problem = "a file share is slow for training data that many nodes read"
    return failed("mount_configuration", list(shares), problem, "mount a blob container for data, and keep logs here")
