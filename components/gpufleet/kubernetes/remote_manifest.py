"""Manifests of others: fetched by address or read from a file, and taken only if they have the expected checksum."""

import hashlib
import os
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from gpufleet.atomic_file import write_atomically
from gpufleet.documents.yaml import parse_yaml_documents
from gpufleet.errors import UserError

KEPT_ONLY = "GPUFLEET_KEPT_MANIFESTS_ONLY"
"""Variable that says that nothing is fetched: what needs no manifest, such as a cost, waits for no network."""
_LARGEST = 8 * 1024 * 1024
_SECONDS = 10
"""For the connection, and for each part of the answer: a network that drops packets never refuses."""


class ManifestNotFetched(UserError):
    """A manifest is neither kept nor can be fetched; the text is one line."""


def cache_folder() -> Path:
    """Where fetched manifests are kept, by their checksum, so that the next preview needs no network."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gpufleet" / "manifests"


@cache
def read_manifest(source: str, sha256: str) -> Sequence[Mapping[str, Any]]:
    """The objects of a manifest, in its order.

    source: an https address, or the path of a file. sha256: of its bytes, 64 hexadecimal digits.
    Errors: UserError, one line, if it cannot be had, has another checksum, or is not a manifest; ManifestNotFetched
    where only the network is missing.
    """
    kept = cache_folder() / f"{sha256}.yaml"
    remote = source.startswith("https://")
    if remote and kept.is_file() and _digest(content := kept.read_bytes()) == sha256:
        return parse_manifest(content, source)
    content = _fetched(source) if remote else _read(Path(source))
    if (found := _digest(content)) != sha256:
        raise UserError(
            f"{source}: its checksum is {found}, not sha256={sha256}; somebody changed it, or the version is another: "
            "look at it before you take the new checksum"
        )
    objects = parse_manifest(content, source)
    if remote:
        _keep(kept, content)
    return objects


def parse_manifest(content: bytes, source: str) -> list[dict[str, Any]]:
    """The objects of a YAML stream; lists of objects are taken apart. Errors: UserError."""
    documents = parse_yaml_documents(content, source)
    objects: list[dict[str, Any]] = []
    for number, document in enumerate(documents, 1):
        items = document.get("items") if isinstance(document, dict) else None
        for each in items if isinstance(items, list) else [document]:
            if not _is_object(each):
                problem = "must be an object with apiVersion, kind and metadata.name"
                raise UserError(f"{source}: document {number} {problem}")
            objects.append(each)
    if not objects:
        raise UserError(f"{source}: holds no object")
    return objects


def _is_object(document: object) -> bool:
    if not isinstance(document, dict) or not isinstance(document.get("metadata"), dict):
        return False
    words = (document.get("apiVersion"), document.get("kind"), document["metadata"].get("name"))
    return all(isinstance(word, str) and word for word in words)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error


def _fetched(address: str) -> bytes:
    content = _answer(address)
    if isinstance(content, ManifestNotFetched):
        raise content
    return content


@cache
def _answer(address: str) -> bytes | ManifestNotFetched:
    """Asked once: a program that checks a manifest before it registers it does not wait for the network twice."""
    if os.environ.get(KEPT_ONLY):
        return ManifestNotFetched(f"{address}: is not kept, and {KEPT_ONLY} is set; unset it to fetch it")
    try:
        with urllib.request.urlopen(address, timeout=_SECONDS) as answer:
            content: bytes = answer.read(_LARGEST + 1)
    except (OSError, urllib.error.URLError) as error:
        reason = getattr(error, "reason", None) or error
        return ManifestNotFetched(
            f"{address}: cannot be fetched: {reason}; download it where there is a network and give the file's path"
        )
    if len(content) > _LARGEST:
        raise UserError(f"{address}: is larger than the {_LARGEST // 1024 // 1024} MiB that a manifest may be")
    return content


def _keep(path: Path, content: bytes) -> None:
    """Whole or not at all: two programs may write it at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, content, mode=0o600)
