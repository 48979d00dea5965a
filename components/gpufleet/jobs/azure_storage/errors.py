"""What a storage account refuses while files are copied: one line with the way out.

Source: learn.microsoft.com/rest/api/storageservices/common-rest-api-error-codes, blob-service-error-codes and
file-service-error-codes; roles: learn.microsoft.com/azure/role-based-access-control/built-in-roles/storage.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gpufleet.errors import UserError
from gpufleet.jobs.azure_batch.errors import AzureBatchError, AzureBusy, in_one_line
from gpufleet.jobs.azure_storage.paths import AzureStorage, Kind, StoragePath

_ROLES: dict[Kind, tuple[str, str]] = {
    "blob": ("Storage Blob Data Reader", "Storage Blob Data Contributor"),
    "files": ("Storage File Data Privileged Reader", "Storage File Data Privileged Contributor"),
}
"""To read, and to read and write."""
_WORDS: dict[Kind, str] = {"blob": "container", "files": "file share"}
GONE = ("BlobNotFound", "ResourceNotFound", "ParentNotFound", "PathNotFound")
"""Codes for a file, or a directory that it is in, that is not there."""
CHANGED = ("ConditionNotMet", "InvalidRange")


@contextmanager
def refused(storage: AzureStorage, place: StoragePath, writes: bool) -> Iterator[None]:
    """Errors: AzureBusy for what may pass by itself; AzureBatchError, with Azure's code, for what does not."""
    host = _host(storage, place.kind)
    try:
        with in_one_line("Azure Storage", "put" if writes else "get", host):
            yield
    except AzureBusy:
        raise
    except AzureBatchError as error:
        if line := _line(storage, place, writes, error):
            raise AzureBatchError(line, error.status, error.code, error.words) from error
        raise AzureBatchError(f"{place.full}: {error}", error.status, error.code, error.words) from error


def code_of(error: Any) -> str:  # noqa: ANN401
    """Azure's own code of an error of the storage SDK; empty where it has none."""
    code = getattr(error, "error_code", None) or ""
    return str(getattr(code, "value", code))


def missing(place: StoragePath) -> UserError:
    """What to say of a path at which there is nothing."""
    return UserError(f"{place.full}: there is no such file in the {_WORDS[place.kind]} {place.holder}")


def _host(storage: AzureStorage, kind: Kind) -> str:
    return (storage.blobs if kind == "blob" else storage.files).partition("://")[2]


def _line(storage: AzureStorage, place: StoragePath, writes: bool, error: AzureBatchError) -> str | None:
    """None where Azure's own words must do."""
    what, account = _WORDS[place.kind], storage.account
    match error.code:
        case "ContainerNotFound" | "ShareNotFound":
            names = storage.containers if place.kind == "blob" else storage.shares
            has = f"the stack has {', '.join(names)}" if names else f"the stack has no {what}"
            return (
                f"{place.full}: there is no {what} {place.holder} in {account} ({has}); add it to "
                "gpufleet:files and run `pulumi up`"
            )
        case code if code in GONE:
            return str(missing(place))
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
            return f"{place.full}: the {what} {place.holder} is being deleted; run `pulumi up` in some minutes"
    return None
