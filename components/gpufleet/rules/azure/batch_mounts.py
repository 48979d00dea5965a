"""Rules on what a Batch pool mounts, and their validation."""

import re
from collections.abc import Mapping, Sequence

from gpufleet.rules import coerce
from gpufleet.rules.arguments import argument_given, argument_kind, argument_known
from gpufleet.rules.azure.storage import storage_near_pool
from gpufleet.rules.generic import allowed_choice, distinct
from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule, unverified

MOST_MOUNTS = 10
CREDENTIALS = ("account_key", "sas_key", "identity_reference")

_REQUIRED: Mapping[str, tuple[str, ...]] = {
    "blob": ("kind", "path", "account", "container"),
    "files": ("kind", "path", "account", "share"),
    "nfs": ("kind", "path", "source"),
}
_OPTIONAL: Mapping[str, tuple[str, ...]] = {
    # account_key with a blob container is rejected by the rule on credentials, which says more.
    "blob": ("options", "account_key", "region", "shared_keys"),
    "files": ("options", "account_key", "endpoint", "region", "shared_keys"),
    "nfs": ("options",),
}
_PATH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")


@rule("azure-batch-mount-path", Severity.ERROR)
def mount_path(*, argument: str, path: str) -> Outcome:
    """A file system is mounted at a plain path below the directory that Batch has for mounts.

    Source: relativeMountPath of Microsoft.Batch/batchAccounts/pools 2024-07-01: relative to AZ_BATCH_NODE_MOUNTS_DIR.
    A node where mounting fails is unusable (https://learn.microsoft.com/azure/batch/virtual-file-mount).
    """
    if _PATH.fullmatch(path):
        return passed()
    fix = "use one such as scripts: it lies under $AZ_BATCH_NODE_MOUNTS_DIR on each node"
    return failed(argument, path, "must be a plain relative path", fix)


@rule("azure-batch-mount-words", Severity.ERROR)
def mount_mapping(*, argument: str, given: str, is_one: bool) -> Outcome:
    """A mount is a mapping; `given` is the kind of the value, `is_one` whether that is a mapping.

    Source: the docstring of `Mount`; TypedDicts are not checked when a program runs.
    """
    if is_one:
        return passed()
    fix = "give a list of mappings, each such as {kind: blob, account: store, container: scripts, path: scripts}"
    return failed(argument, f"({given})", "must be a mapping that describes a mount", fix)


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
    problem = f"has {join_words(given, 'and')}" if given else "has no credential"
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
    """Training data is read from blob containers, not from file shares; `others` counts mounts of other kinds.

    Source: https://learn.microsoft.com/azure/storage/files/storage-files-scale-targets: one share has a throughput of
    its own that all nodes divide, far below that of a storage account's blobs.
    """
    if not shares or others:
        return passed()
    problem = "a file share is slow for training data that many nodes read"
    return failed("mount_configuration", list(shares), problem, "mount a blob container for data, and keep logs here")


def validate_batch_mounts(args: Mapping[str, object], region: str) -> list[Finding]:
    """Every finding on `mounts` of a Batch pool in a region ("" where it is not known), passes included.

    A mount is a mapping: kind (blob, files, nfs) and path, both plain; of blob account and container, of files account,
    share and account_key, of nfs source; options. region and shared_keys say of a mount's storage account, where the
    stack knows it, where it lies and whether it takes its keys. Never raises, whatever the values.
    """
    given = args.get("mounts")
    if given is None:
        return []
    if not isinstance(given, Sequence) or isinstance(given, str | bytes):
        return [mount_mapping(argument="mounts", given=type(given).__name__, is_one=False)]
    findings = [mount_count(count=len(given))]
    paths: list[str] = []
    shares: list[str] = []
    for number, mount in enumerate(given):
        argument = f"mounts[{number}]"
        is_one = isinstance(mount, Mapping)
        findings.append(mount_mapping(argument=argument, given=type(mount).__name__, is_one=is_one))
        if not isinstance(mount, Mapping):
            continue
        findings += _mount(argument, {str(word): value for word, value in mount.items()}, region)
        path = coerce.text(mount, "path")
        paths += [path] if path else []
        shares += [path] if mount.get("kind") == "files" else []
    findings.append(distinct(argument="mounts", values=paths))
    findings.append(data_on_blob(shares=shares, others=len(given) - len(shares)))
    return findings


def _mount(argument: str, mount: Mapping[str, object], region: str) -> list[Finding]:
    kind = mount.get("kind")
    if not isinstance(kind, str) or kind not in _REQUIRED:
        if not isinstance(kind, str):
            return [argument_given(name=f"{argument}.kind", given=False, says="blob, files or nfs")]
        return [allowed_choice(argument=f"{argument}.kind", word=kind, legal=tuple(_REQUIRED))]
    known = tuple(f"{argument}.{word}" for word in (*_REQUIRED[kind], *_OPTIONAL[kind]))
    findings = [
        argument_known(name=f"{argument}.{word}", value=_shown(word, value), known=known)
        for word, value in mount.items()
    ]
    for word in _REQUIRED[kind]:
        findings.append(argument_given(name=f"{argument}.{word}", given=bool(mount.get(word)), says="a string"))
    for word, plain in (("path", str), ("region", str), ("shared_keys", bool)):
        if mount.get(word) is not None:
            findings.append(argument_kind(name=f"{argument}.{word}", value=mount[word], kind=plain))
    if path := coerce.text(mount, "path"):
        findings.append(mount_path(argument=f"{argument}.path", path=path))
    return [*findings, *_account(argument, kind, mount, region)]


def _account(argument: str, kind: str, mount: Mapping[str, object], region: str) -> list[Finding]:
    """The findings on the storage account of a mount, and on how it is reached."""
    if kind == "nfs":
        return []
    has_key = mount.get("account_key") is not None
    account = coerce.text(mount, "account", "(an account)")
    there = coerce.text(mount, "region") or None
    near = storage_near_pool(argument=argument, account=account, region=there, pool_region=region or None)
    if kind == "blob":
        ways = ["identity_reference", *(["account_key"] if has_key else [])]
        return [near, mount_credential(argument=argument, given=ways)]
    allowed = coerce.flag(mount, "shared_keys", False) if isinstance(mount.get("shared_keys"), bool) else None
    return [
        near,
        mount_files_key(argument=argument, has_key=has_key),
        shared_key(argument=argument, needs="its account key", account=account, allowed=allowed),
    ]


def _shown(word: str, value: object) -> object:
    """A key is a secret: never in a message."""
    return "(a key)" if "key" in word and isinstance(value, str) else value
