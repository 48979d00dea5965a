"""Recipes for Apptainer from the same list: what the registry holds, or the source with the same put on top, as a SIF.

Sources: apptainer.org/docs/user/latest/{definition_files,appendix}.html (sections, `Bootstrap: docker`), and
github.com/apptainer/apptainer, pkg/build/types/parser/deffile.go: a line whose first word begins with %, or one that
begins with "bootstrap:", ends a section wherever it stands, and {{ }} is a template. So what a list may hold of free
text, lines for a shell, is in a script of its own beside the recipe, which then needs no quoting.
"""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from gpufleet.documents.json import parse_json
from gpufleet.errors import UserError
from gpufleet.images.mirror.derived_image import certificate_files, dockerfile, is_derived
from gpufleet.images.mirror.image_list import ListItem, Login
from gpufleet.images.mirror.lock import LockEntry
from gpufleet.images.registry_auth import ECR
from gpufleet.images.repository import Repository

_BUILD = '$(command -v apptainer || command -v singularity) build $([ "$(id -u)" = 0 ] || echo --fakeroot)'
"""Either program. SingularityCE refuses every recipe to a user who is not root without --fakeroot, for which the user
needs a range in /etc/subuid; Apptainer implies it, and needs no range.

Sources: sylabs/singularity v4.3.0, cmd/internal/cli/build_linux.go (rootNeeded), run for real in tests/singularity;
apptainer.org/docs/user/latest/fakeroot.html.
"""
_SCRIPT = "/usr/local/share/gpufleet/wrap.sh"
_CERTIFICATES = "/usr/local/share/ca-certificates/gpufleet"
"""Where the Dockerfile of `data/certificates.dockerfile` puts them."""


@dataclass(frozen=True)
class ApptainerRecipe:
    """One image. name: of its files, without suffix. command: what builds it, in the directory of its files."""

    name: str
    origin: str
    files: dict[str, bytes] = field(repr=False)
    command: str


def recipe_from_mirror(item: ListItem, locked: LockEntry, name: str) -> ApptainerRecipe:
    """The image as it was pushed: what is put on top is in it."""
    labels = _labels(item, locked.digest) | {
        "dev.gpufleet.inputs": locked.inputs,
        "dev.gpufleet.mirror": f"{item.target.url}@{locked.pushed}",
    }
    if locked.sbom:
        labels["dev.gpufleet.sbom.sha256"] = locked.sbom["sha256"]
    origin = f"{item.target.url}@{locked.pushed}"
    text = _header(origin) + _section("labels", _words(labels)) + _tested(item)
    return ApptainerRecipe(name, origin, {f"{name}.def": text.encode()}, _command(name, item.target))


def recipe_from_source(item: ListItem, digest: str, name: str, beside: Path) -> ApptainerRecipe:
    """The source's image with the same put on top, for a team without a registry. Errors: UserError."""
    wrap = item.image.wrap
    origin = f"{item.image.source}@{digest}"
    files, sections = {}, []
    if is_derived(wrap):
        # Apptainer takes names with spaces for two, and expands patterns.
        contents = certificate_files(wrap, beside).values()
        certificates = {f"{number}.crt": content for number, content in enumerate(contents, start=1)}
        copied = {f"{name}.sh": _SCRIPT} | {f"{name}.{each}": f"{_CERTIFICATES}/{each}" for each in certificates}
        instructions = list(_instructions(dockerfile(wrap, "base", "")))
        variables = [pair for word, rest in instructions if word == "ENV" for pair in shlex.split(rest)]
        exported = [
            f"export {key}={shlex.quote(value)}" for key, _, value in (pair.partition("=") for pair in variables)
        ]
        files = {f"{name}.sh": _script(instructions)}
        files |= {f"{name}.{each}": content for each, content in certificates.items()}
        sections.append(_section("files", [f"{here} {there}" for here, there in copied.items()]))
        sections.append(_section("post", [f"/bin/sh -e {_SCRIPT}"]))
        sections += [_section("environment", exported)] if exported else []
    text = _header(origin) + "".join(sections) + _section("labels", _words(_labels(item, digest))) + _tested(item)
    source = Repository("", item.image.source)
    return ApptainerRecipe(name, origin, {f"{name}.def": text.encode(), **files}, _command(name, source))


def notebook_recipe(text: str, base: str) -> dict[str, bytes]:
    """Files by name, beside a directory `notebook`, that build notebook.sif by the commands of a Dockerfile.

    base: a URI, or the path of a SIF.
    """
    scheme, mark, rest = base.partition("://")
    header = f"Bootstrap: {scheme}\nFrom: {rest}\n" if mark else f"Bootstrap: localimage\nFrom: {base}\n"
    copied = _section("files", [f"notebook.sh {_SCRIPT}", "notebook /"])
    post = _section("post", [f"/bin/sh -e {_SCRIPT}"])
    tested = _section("test", ["python3 -m papermill --version"])
    script = _script(list(_instructions(text)))
    return {"notebook.def": (header + copied + post + tested).encode(), "notebook.sh": script}


def login_line(repository: Repository, logins: tuple[Login, ...]) -> str:
    """What logs Apptainer in to a registry; it asks for the password, or takes it from the cloud.

    Source: apptainer.org/docs/user/latest/docker_and_oci.html: it reads no credential helpers.
    """
    host = repository.host
    login = "apptainer registry login --username"
    if found := ECR.fullmatch(host):
        password = f"aws ecr get-login-password --region {found['region']}"
        return f"{password} | {login} AWS --password-stdin docker://{host}"
    user = next((each.user for each in logins if each.registry == host), None)
    return f"{login} {shlex.quote(user) if user else 'USER'} docker://{host}"


def recipe_name(item: ListItem, to: str) -> str:
    """Of the recipe and the SIF: the repository below the list's `to`, and the tag."""
    return f"{item.target.url.removeprefix(to + '/').replace('/', '-')}-{item.tag}"


def write_recipe(recipe: ApptainerRecipe, folder: Path) -> Path:
    """Write its files; the recipe's own. Errors: UserError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in recipe.files.items():
            (folder / name).write_bytes(content)
    except OSError as error:
        raise UserError(f"to={folder}: {recipe.name}: cannot be written: {error.strerror}") from error
    return folder / f"{recipe.name}.def"


def _header(origin: str) -> str:
    return f"Bootstrap: docker\nFrom: {origin}\n"


def _section(name: str, lines: list[str]) -> str:
    return f"\n%{name}\n" + "".join(f"    {line}\n" for line in lines)


def _labels(item: ListItem, digest: str) -> dict[str, str]:
    return {
        "org.opencontainers.image.base.name": item.source,
        "org.opencontainers.image.base.digest": digest,
        "dev.gpufleet.platform": item.image.platform,
    }


def _words(labels: dict[str, str]) -> list[str]:
    return [f"{key} {value}" for key, value in labels.items()]


def _tested(item: ListItem) -> str:
    """What has to be there for mpirun on the hosts to start ranks in it."""
    wanted = [
        program
        for program, asked in (
            ("mpirun", item.image.wrap.mpi),
            ("jupyter", item.image.wrap.jupyter),
            ("jupyterhub-singleuser", item.image.wrap.jupyter),
        )
        if asked
    ]
    return _section("test", [f"command -v {program}" for program in wanted]) if wanted else ""


def _command(name: str, repository: Repository) -> str:
    plain = "--no-https " if repository.on_this_machine else ""
    return f"{_BUILD} {plain}{name}.sif {name}.def"


def _script(instructions: list[tuple[str, str]]) -> bytes:
    """The Dockerfile's commands for a shell, each in one of its own as a builder runs them."""
    lines = ["# Written by gpufleet images apptainer."]
    for word, rest in instructions:
        if word == "ENV":
            lines.append(f"export {shlex.join(shlex.split(rest))}")
        elif word == "RUN":
            command = parse_json(rest, "RUN", shape=list[str]) if rest.startswith("[") else ["/bin/sh", "-c", rest]
            lines.append(shlex.join(command))
    return ("\n".join(lines) + "\n").encode()


def _instructions(text: str) -> Iterator[tuple[str, str]]:
    """Word and rest of each instruction of our Dockerfiles: a comment has its own line."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    for whole in "\n".join(lines).replace("\\\n", " ").splitlines():
        word, _, rest = whole.partition(" ")
        yield word, " ".join(rest.split()) if word == "ENV" else rest.strip()
