"""The containers and shares of an environment's storage account, and which of them a path is in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Literal

from gpufleet.errors import UserError
from gpufleet.rules.messages import nearest, use_one_of

StorageKind = Literal["blob", "files"]
STORAGE_KINDS: Sequence[StorageKind] = ("blob", "files")


@dataclass(frozen=True)
class StoragePath:
    """kind: blob, or files for a file share. root: the container or share. path: in it, "" for all of it."""

    kind: StorageKind
    root: str
    path: str

    @property
    def full(self) -> str:
        """The path as a user gives it, with the container or share before it."""
        return f"{self.root}/{self.path}" if self.path else self.root


@dataclass(frozen=True)
class AzureStorage:
    """The storage account beside an environment's jobs. blobs, files: its URLs, without a slash at their end; files is
    empty if the stack has none."""

    environment: str
    account: str
    blobs: str
    files: str
    containers: Sequence[str]
    shares: Sequence[str]

    def resolve(self, remote: str, kind: StorageKind | None = None) -> StoragePath | None:
        """Where a path is: its first part names the container or share. None where it names none of them.

        kind: said by the user; then a name that the stack does not tell of is left to Azure to know.
        Errors: UserError for a path that leaves its container, and for a name that both kinds have.
        """
        pure = PurePosixPath(remote.strip("/"))
        if ".." in pure.parts or "\n" in remote or "\0" in remote:
            raise UserError(f"{remote}: leaves its container; give a path below it, for instance scripts/train.py")
        if not pure.parts:
            return None
        root, path = pure.parts[0], "/".join(pure.parts[1:])
        kinds = [each for each, names in self._names.items() if root in names]
        if kind is None and len(kinds) > 1:
            raise UserError(f"{remote}: {root} is a container and a file share; say which with --to blob or --to files")
        found = kind or next(iter(kinds), None)
        return None if found is None else StoragePath(found, root, path)

    def roots(self, kind: StorageKind | None = None) -> list[StoragePath]:
        """Every container and share of the stack."""
        return [
            StoragePath(each, name, "") for each in STORAGE_KINDS if kind in (each, None) for name in self._names[each]
        ]

    def unknown_path_error(self, remote: str) -> UserError:
        """The error for a path in none of them."""
        names = [*self.containers, *self.shares]
        first = remote.strip("/").partition("/")[0]
        return UserError(
            f"{self.environment}: {remote}: begins with no container or file share of {self.account}"
            + (f"; {use_one_of(first, names)}, or" if names else ";")
            + " add it to gpufleet:files and run `pulumi up`"
        )

    def misspelling_error(self, remote: str) -> UserError | None:
        """The error for a volume path whose first part resembles a container or share; else None."""
        first = remote.strip("/").partition("/")[0]
        near = nearest(first, [*self.containers, *self.shares], closeness=0.8)
        if near is None or near == first:
            return None
        return UserError(
            f"{self.environment}: {remote}: begins with no container or file share of {self.account}; did you mean "
            f"{near}? (--to volume for {first} on the shared volume)"
        )

    @property
    def _names(self) -> Mapping[StorageKind, Sequence[str]]:
        return {"blob": self.containers, "files": self.shares}


def azure_storage(jobs: Mapping[str, Any], environment: str) -> AzureStorage | None:
    """Read `azure_batch.storage` of a stack's output `jobs`; None if it has no storage account."""
    batch = jobs.get("azure_batch")
    told = batch.get("storage") if isinstance(batch, Mapping) else None
    if not isinstance(told, Mapping) or not told.get("blob_endpoint"):
        return None
    blobs = str(told["blob_endpoint"]).rstrip("/")
    return AzureStorage(
        environment=environment,
        account=str(told.get("account_name") or blobs.partition("://")[2].partition(".")[0]),
        blobs=blobs,
        files=str(told.get("file_endpoint") or "").rstrip("/"),
        containers=[str(each) for each in told.get("containers") or []],
        shares=[str(each) for each in told.get("shares") or []],
    )
