"""Secrets in an image: in the files of every layer, one by one, and in its variables and history.

Layer by layer, since a file that a later layer deletes can still be read by whoever pulls the image. A secret itself is
never shown, and never kept. Patterns: data/secret_patterns.yaml. Not looked into: files above MOST bytes, and binaries.
"""

import hashlib
import json
import re
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from gpufleet.errors import UserError
from gpufleet.images.mirror.oci_layout import OciLayout

MAX_BYTES = 1 << 20
"""Bytes: larger files are data, and would take the time."""
_BINARY = 8192
"""A zero byte among the first so many makes a file binary, as git has it."""


@dataclass(frozen=True, order=True)
class Secret:
    """pattern: its name. place: the file in the image, or `history` or a variable's name. where: layer, or config."""

    pattern: str
    place: str
    where: str


@dataclass(frozen=True)
class _Pattern:
    id: str
    near: tuple[bytes, ...]
    form: "re.Pattern[bytes]"


def secrets_in(image: OciLayout, memory: Path) -> list[Secret]:
    """All of them. memory: a directory with the results of scanned layers. Errors: UserError."""
    found = list(_in_configuration(image.configuration))
    for layer in image.manifest["layers"]:
        digest = str(layer["digest"])
        kept = memory / f"{digest.partition(':')[2]}-{_version()}.json"
        try:
            told = json.loads(kept.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            told = sorted({(each.pattern, each.place) for each in _in_layer(image.blob(digest))})
            memory.mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps(told), encoding="utf-8")
        found += [Secret(pattern, place, digest) for pattern, place in told]
    return sorted(set(found))


def _in_configuration(configuration: Mapping[str, Any]) -> Iterator[Secret]:
    run = configuration.get("config") or {}
    texts = [(f"variable {each.partition('=')[0]}", each) for each in run.get("Env") or ()]
    texts += [(f"label {name}", str(value)) for name, value in (run.get("Labels") or {}).items()]
    texts += [("history", str(each.get("created_by") or "")) for each in configuration.get("history") or ()]
    for place, text in texts:
        for pattern in _matching(text.encode()):
            yield Secret(pattern, place, "config")


def _in_layer(blob: Path) -> Iterator[Secret]:
    try:
        with tarfile.open(blob, mode="r|*") as files:
            for member in files:
                name = member.name.removeprefix("./")
                if not member.isfile():
                    continue
                for pattern, form in _rules()[1]:
                    if form.search(name):
                        yield Secret(pattern, name, "")
                stream = files.extractfile(member) if 0 < member.size <= MAX_BYTES else None
                content = stream.read() if stream else b""
                if b"\0" in content[:_BINARY]:
                    continue
                for pattern in _matching(content):
                    yield Secret(pattern, name, "")
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise UserError(
            f"layer {blob.name[:12]}: cannot be read for secrets: {error}; layers have to be tar, alone or with gzip"
        ) from error


def _matching(content: bytes) -> Iterator[str]:
    for pattern in _rules()[0]:
        if any(near in content for near in pattern.near) and pattern.form.search(content):
            yield pattern.id


@cache
def _text() -> str:
    return (resources.files("gpufleet.images.mirror") / "data" / "secret_patterns.yaml").read_text(encoding="utf-8")


@cache
def _version() -> str:
    """Version of the patterns; other patterns make all layers be scanned again."""
    return hashlib.sha256(_text().encode()).hexdigest()[:12]


@cache
def _rules() -> tuple[list[_Pattern], list[tuple[str, "re.Pattern[str]"]]]:
    content = yaml.safe_load(_text())
    patterns = [
        _Pattern(each["id"], tuple(near.encode() for near in each["near"]), re.compile(each["pattern"].encode()))
        for each in content["patterns"]
    ]
    return patterns, [(each["id"], re.compile(each["path"])) for each in content["files"]]


def known_patterns() -> list[str]:
    """Their names, for who allows one."""
    return [*(each.id for each in _rules()[0]), *(name for name, _ in _rules()[1])]
