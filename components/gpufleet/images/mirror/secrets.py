"""Secrets in an image: in the files of every layer, one by one, and in its variables and history.

Layer by layer, since a file that a later layer deletes can still be read by anyone who pulls the image. A secret itself
is never shown, and never kept. Patterns: those of gpufleet.secret_patterns that no documentation is full of. Not looked
into: files above MAX_BYTES, and binaries.
"""

import json
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpufleet.documents.content import DocumentError
from gpufleet.documents.json import read_json
from gpufleet.errors import UserError
from gpufleet.images.mirror.oci_layout import OciLayout
from gpufleet.secret_patterns import matching_patterns, patterns_version, secret_files, secret_patterns

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


def secrets_in(image: OciLayout, memory: Path) -> list[Secret]:
    """All of them. memory: a directory with the results of scanned layers. Errors: UserError."""
    found = list(_in_configuration(image.configuration))
    for layer in image.manifest["layers"]:
        digest = str(layer["digest"])
        kept = memory / f"{digest.partition(':')[2]}-{patterns_version()}.json"
        try:
            told = read_json(kept, shape=list[tuple[str, str]])
        except DocumentError:
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
        for pattern in _matching(text):
            yield Secret(pattern, place, "config")


def _in_layer(blob: Path) -> Iterator[Secret]:
    try:
        with tarfile.open(blob, mode="r|*") as files:
            for member in files:
                name = member.name.removeprefix("./")
                if not member.isfile():
                    continue
                for pattern, form in secret_files():
                    if form.search(name):
                        yield Secret(pattern, name, "")
                stream = files.extractfile(member) if 0 < member.size <= MAX_BYTES else None
                content = stream.read() if stream else b""
                if b"\0" in content[:_BINARY]:
                    continue
                # Every byte is a character: patterns are of ASCII, and files of any encoding.
                for pattern in _matching(content.decode("latin-1")):
                    yield Secret(pattern, name, "")
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise UserError(
            f"layer {blob.name[:12]}: cannot be read for secrets: {error}; layers have to be tar, alone or with gzip"
        ) from error


def _matching(text: str) -> Iterator[str]:
    return (each.id for each in matching_patterns(text) if not each.likely)


def known_patterns() -> list[str]:
    """Their names, for who allows one."""
    return [*(each.id for each in secret_patterns() if not each.likely), *(name for name, _ in secret_files())]
