"""Errors of a storage account while files are copied: one line each, with a fix.

Source: learn.microsoft.com/rest/api/storageservices/common-rest-api-error-codes, blob-service-error-codes and
file-service-error-codes; roles: learn.microsoft.com/azure/role-based-access-control/built-in-roles/storage.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gpufleet.errors import UserError
from gpufleet.jobs.azure_batch.errors import AzureBatchError, AzureBusy, azure_errors
from gpufleet.jobs.azure_storage.paths import AzureStorage, StorageKind, StoragePath

_ROLES: dict[StorageKind, tuple[str, str]] = {
    "blob": ("Storage Blob Data Reader", "Storage Blob Data Contributor"),
    "files": ("Storage File Data Privileged Reader", "Storage File Data Privileged Contributor"),
}
"""To read, and to read and write."""
_WORDS: dict[StorageKind, str] = {"blob": "container", "files": "file share"}
NOT_FOUND_CODES = ("BlobNotFound", "ResourceNotFound", "ParentNotFound", "PathNotFound")
"""Codes for a file, or a directory that it is in, that is not there."""
CHANGED_CODES = ("ConditionNotMet", "InvalidRange")


@contextmanager
def storage_errors(storage: AzureStorage, place: StoragePath, writes: bool) -> Iterator[None]:
    """Errors: AzureBusy for transient errors; AzureBatchError, with Azure's code, for others."""
    host = _host(storage, place.kind)
    try:
        with azure_errors("Azure Storage", "put" if writes else "get", host):
            yield
    except AzureBusy:
        raise
    except AzureBatchError as error:
        if line := _line(storage, place, writes, error):
            raise AzureBatchError(line, error.status, error.code, error.azure_message) from error
        raise AzureBatchError(f"{place.full}: {error}", error.status, error.code, error.azure_message) from error


def error_code(error: Any) -> str:  # noqa: ANN401
    """Azure's own code of an error of the storage SDK; empty where it has none."""
    code = getattr(error, "error_code", None) or ""
    return str(getattr(code, "value", code))


def not_found_error(place: StoragePath) -> UserError:
    """The error for a path at which there is nothing."""
    return UserError(f"{place.full}: file not found in the {_WORDS[place.kind]} {place.root}")


def _host(storage: AzureStorage, kind: StorageKind) -> str:
    return (storage.blobs if kind == "blob" else storage.files).partition("://")[2]


def _line(storage: AzureStorage, place: StoragePath, writes: bool, error: AzureBatchError) -> str | None:
    """None where Azure's own words must do."""
    what, account = _WORDS[place.kind], storage.account
    match error.code:
        case "ContainerNotFound" | "ShareNotFound":
            names = storage.containers if place.kind == "blob" else storage.shares
            has = f"the stack has {', '.join(names)}" if names else f"the stack has no {what}"
            return (
                f"{place.full}: there is no {what} {place.root} in {account} ({has}); add it to "
                "gpufleet:files and run `pulumi up`"
            )
        case code if code in NOT_FOUND_CODES:
            return str(not_found_error(place))
        case "AuthorizationPermissionMismatch" | "InsufficientAccountPermissions":
            role = _ROLES[place.kind][writes]
            return (
                f"{place.full}: the identity in use may not {'write' if writes else 'read'} here; ask for the role "
                f"{role} on {account} (`az role assignment create --role '{role}'`), which holds after some minutes"
            )
        case "AuthorizationFailure" | "IpAuthorizationRejected":
            return (
                f"{place.full}: the network rules of {account} do not let this machine in; copy from inside the "
                "environment's network, or add this address to its rules"
            )
        case "KeyBasedAuthenticationNotPermitted":
            return f"{place.full}: {account} takes no account keys (shared keys are off); sign in with `az login`"
        case "SharingViolation" | "FileLockConflict":
            return (
                f"{place.full}: is open on a node, which lets nobody else write it; put it again when the job is over"
            )
        case "InvalidBlobType":
            return f"{place.full}: is a page or append blob, which another program writes; give another name"
        case "InvalidBlobOrBlock" | "InvalidBlockId" | "BlockListTooLong":
            return (
                f"{place.full}: another program has begun to upload this blob and has not ended; let it end, or give "
                "another name"
            )
        case "ContainerBeingDeleted" | "ShareBeingDeleted":
            return f"{place.full}: the {what} {place.root} is being deleted; run `pulumi up` in some minutes"
    return None
