"""Rules on what a Batch pool's arguments mount, and the door for all of them."""

import re
from collections.abc import Mapping, Sequence

from gpufleet.rules import coerce
from gpufleet.rules.arguments import argument_given, argument_kind, argument_known
from gpufleet.rules.azure.batch_mount_options import (
    data_on_blob,
    mount_count,
    mount_credential,
    mount_files_key,
    shared_key,
)
from gpufleet.rules.azure.storage import storage_near_pool
from gpufleet.rules.generic import distinct, legal_word
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

_REQUIRED: Mapping[str, tuple[str, ...]] = {
    "blob": ("kind", "path", "account", "container"),
    "files": ("kind", "path", "account", "share"),
    "nfs": ("kind", "path", "source"),
}
_OPTIONAL: Mapping[str, tuple[str, ...]] = {
    # account_key with a blob container is refused by the rule on credentials, which says more.
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
    return failed(argument, path, "is no plain relative path", fix)


@rule("azure-batch-mount-words", Severity.ERROR)
def mount_words(*, argument: str, given: str, is_one: bool) -> Outcome:
    """A mount is a mapping of words; `given` is what kind of value there is, `is_one` whether that is a mapping.

    Source: the docstring of `Mount`; TypedDicts are not checked when a program runs.
    """
    if is_one:
        return passed()
    fix = "give a list of mappings, each such as {kind: blob, account: store, container: scripts, path: scripts}"
    return failed(argument, f"({given})", "is no mapping that says what to mount", fix)


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
        return [mount_words(argument="mounts", given=type(given).__name__, is_one=False)]
    findings = [mount_count(count=len(given))]
    paths: list[str] = []
    shares: list[str] = []
    for number, mount in enumerate(given):
        argument = f"mounts[{number}]"
        is_one = isinstance(mount, Mapping)
        findings.append(mount_words(argument=argument, given=type(mount).__name__, is_one=is_one))
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
        return [legal_word(argument=f"{argument}.kind", word=kind, legal=tuple(_REQUIRED))]
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
