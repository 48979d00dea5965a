"""Checks of a Dockerfile before it is built."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from gpufleet.errors import UserError

NAMES = ("Dockerfile", "Containerfile")
"""Looked for in this order."""

_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?::-([^}]*))?\})")


def find_dockerfile(directory: Path, file: Path | None) -> Path:
    """The Dockerfile of a directory. file: another name, as seen from here, or from `directory`.

    Errors: UserError when the directory or the file is not there.
    """
    if not directory.exists():
        raise UserError(f"{directory}: directory not found; give the one with the Dockerfile")
    if not directory.is_dir():
        raise UserError(f"{directory}: is a file; give its directory: {directory.parent} --file {directory}")
    candidates = [directory / name for name in NAMES] if file is None else [file, directory / file]
    for candidate in candidates:
        if candidate.is_file():
            return candidate.resolve()
    if file is None:
        raise UserError(f"{directory}: has no {' or '.join(NAMES)}; write one, or name another with --file")
    raise UserError(f"file={file}: file not found, neither here nor in {directory}")


def advice(file: Path, build_args: Mapping[str, str]) -> list[str]:
    """Warnings about its base images, a line each. A name that is not known before the build is left out.

    Errors: UserError when the file cannot be read.
    """
    return [
        f"{file.name}:{number}: FROM {image}: {fault}"
        for number, image in base_images(_text(file), build_args)
        for fault in _faults(image)
    ]


def build_arguments(file: Path) -> set[str]:
    """Names of the build arguments that the file declares. Errors: UserError when it cannot be read."""
    arguments = (line.partition(" ")[2] for _, line in _instructions(_text(file)) if line.upper().startswith("ARG "))
    return {word.partition("=")[0] for words in arguments for word in words.split()}


def base_images(text: str, build_args: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    """Line number and name of every base image; `scratch`, earlier stages and names with open variables left out.

    Source: docs.docker.com/reference/dockerfile (FROM, ARG)
    """
    variables: dict[str, str] = {}
    stages: set[str] = set()
    for number, line in _instructions(text):
        word, _, rest = line.partition(" ")
        if word.upper() == "ARG" and not stages:
            for name, mark, value in (each.partition("=") for each in rest.split()):
                known = build_args.get(name, value.strip("\"'") if mark else None)
                if known is not None:
                    variables[name] = known
        if word.upper() != "FROM":
            continue
        words = [each for each in rest.split() if not each.startswith("--")]
        if not words:
            continue
        image = _filled(words[0], variables)
        if image != "scratch" and image.lower() not in stages and "$" not in image:
            yield number, image
        # A stage without a name still ends the arguments that FROM may use.
        stages.add(words[2].lower() if len(words) == 3 and words[1].upper() == "AS" else f"stage {number}")


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file}: cannot be read: {error}") from error


def _instructions(text: str) -> Iterator[tuple[int, str]]:
    """Number of its first line, and an instruction in one line, without comments."""
    began, parts = 0, list[str]()
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        began = began if parts else number
        parts.append(line.rstrip("\\").strip())
        if not line.endswith("\\"):
            yield began, " ".join(" ".join(parts).split())
            parts = []
    if parts:
        yield began, " ".join(" ".join(parts).split())


def _filled(image: str, variables: Mapping[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        found = variables.get(match[1] or match[2]) or match[3]
        return match[0] if found is None else found

    return _VARIABLE.sub(value, image)


def _faults(image: str) -> Iterator[str]:
    path, digest = image.partition("@")[::2]
    host, slash, _ = path.partition("/")
    # As Docker tells a registry's host from the first part of a path.
    names_host = bool(slash) and ("." in host or ":" in host or host == "localhost")
    tag = path.rpartition("/")[2].partition(":")[2]
    if not digest and tag in ("", "latest"):
        name = path.removesuffix(":latest")
        yield f"is another image after its next release; write a tag of one release, {name}:..., or a digest"
    if not names_host:
        yield (
            "names no registry, and builders without a Docker daemon have none by default; "
            f"write docker.io/{image if slash else f'library/{image}'}"
        )
