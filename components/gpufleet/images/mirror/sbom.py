"""An image's bill of materials (SBOM): made by the list's command, kept beside the lock file, named in the image.

Source: cyclonedx.org/docs/1.6/json (components, licenses)
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict

from gpufleet.documents.content import DocumentError
from gpufleet.documents.json import read_json
from gpufleet.errors import UserError
from gpufleet.images.mirror.skopeo import run_command

_NO_PACKAGES = ("file", "operating-system")
"""Types of components that syft lists beside packages, and that nobody states a licence of."""


class _Licence(TypedDict, total=False):
    id: str | None
    name: str | None


class _LicenceChoice(TypedDict, total=False):
    license: _Licence | None
    expression: str | None


class _Component(TypedDict, total=False):
    type: str
    name: str
    version: str | None
    licenses: list[_LicenceChoice] | None
    components: "list[_Component] | None"


class _Sbom(TypedDict, total=False):
    bomFormat: str
    components: list[_Component] | None


def write_sbom(command: list[str], file: Path, beside: Path) -> str:
    """Run the command that writes `file`; its sha256. Errors: UserError when the file is not CycloneDX afterwards."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    code, said = run_command(command, lambda line: None, beside)
    if code or not file.is_file():
        told = " ".join(said.split())[-300:] or "no output"
        raise UserError(f"sbom={command[0]}: wrote no {file.name} (exit code {code}): {told}")
    _read(file)
    return hashlib.sha256(file.read_bytes()).hexdigest()


def licences(file: Path) -> Iterator[tuple[str, str]]:
    """Package and licence; a licence nobody has stated is `NOASSERTION`. Errors: UserError."""
    for component in _components(_read(file)):
        package = f"{component.get('name')} {component.get('version') or ''}".rstrip()
        stated = list(_stated(component))
        silent = [] if component.get("type") in _NO_PACKAGES else ["NOASSERTION"]
        for licence in stated or silent:
            yield package, licence


def _stated(component: "_Component") -> Iterator[str]:
    for entry in component.get("licenses") or ():
        licence = entry.get("license") or {}
        if identifier := licence.get("id"):
            yield str(identifier)
        elif name := entry.get("expression") or licence.get("name"):
            yield from _parts(str(name))


def _parts(name: str) -> Iterator[str]:
    """Of `A OR B` and the like every part is asked after: the stricter reading. A name in plain words stays whole."""
    words = name.replace("(", " ").replace(")", " ").split()
    if not {"OR", "AND", "WITH"}.intersection(words) and len(words) > 1:
        yield name
    else:
        yield from (word for word in words if word not in ("OR", "AND", "WITH"))


def _components(content: "_Sbom | _Component") -> Iterator["_Component"]:
    for component in content.get("components") or ():
        yield component
        yield from _components(component)


def _read(file: Path) -> _Sbom:
    fix = "let the command write CycloneDX JSON"
    content = read_json(file, fix, shape=_Sbom)
    if content.get("bomFormat") != "CycloneDX":
        raise DocumentError(str(file), "is not CycloneDX JSON", fix)
    return content
