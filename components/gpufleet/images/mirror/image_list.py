"""The list of images that a team wants in its registry: a YAML file, read and checked as a whole."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from gpufleet.documents.yaml import read_yaml
from gpufleet.errors import UserError
from gpufleet.images.repository import Repository
from gpufleet.rules.messages import format_value, one_line

_REPOSITORY = re.compile(r"(?P<host>[\w.-]+(?::\d+)?)/[a-z0-9]+(?:[._/-]+[a-z0-9]+)*", re.ASCII)
_TAG = re.compile(r"(?P<tag>\w[\w.-]{0,127})(?:@(?P<digest>sha256:[0-9a-f]{64}))?", re.ASCII)
"""Source of both: github.com/distribution/reference, reference.go."""
_PROXY = re.compile(r"https?://[\w.:\[\]-]+/?", re.ASCII)


def _repository(text: str) -> str:
    found = _REPOSITORY.fullmatch(text)
    host = found["host"] if found else ""
    if not ("." in host or ":" in host or host == "localhost"):
        raise ValueError("must be HOST/PATH with the registry's host, such as nvcr.io/nvidia/pytorch")
    return text


def _tag(text: str) -> str:
    if not _TAG.fullmatch(text):
        raise ValueError("must be TAG or TAG@sha256:..., with a digest of 64 hexadecimal digits")
    return text


def _proxy(url: str) -> str:
    if urlsplit(url).password:
        raise ValueError("contains a password, which everybody could read in the image; use a proxy without one")
    if not _PROXY.fullmatch(url):
        raise ValueError("must be http://HOST:PORT")
    return url


RepositoryUrl = Annotated[str, AfterValidator(_repository)]
Tag = Annotated[str, AfterValidator(_tag)]
Url = Annotated[str, AfterValidator(_proxy)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Login(_Strict):
    """How a registry is logged in to that is of neither cloud and that the user has not logged in to."""

    registry: str
    """Its host, with its port."""
    user: str
    """For nvcr.io literally $oauthtoken."""
    password_env: str
    """The variable of the environment that holds the password or API key; never the password itself."""


class Proxy(_Strict):
    """What programs in the image reach the world through. Everybody can read it there: no passwords."""

    http: Url | None = None
    https: Url | None = None
    none_for: tuple[Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:/*-]+$")], ...] = ()
    """Hosts and domains that are reached without."""


class Wrap(_Strict):
    """What is put on top of an image, in this order; nothing by default."""

    proxy: Proxy | None = None
    certificates: tuple[str, ...] = ()
    """Files of CA certificates in PEM, beside the list."""
    mpi: bool = False
    """sshd and OpenMPI, where the image has none, and a user with the uid of jobs, 1000."""
    jupyter: Annotated[str, Field(pattern=r"^[0-9][A-Za-z0-9.]*$")] | None = None
    """The version of JupyterLab, for instance 4.4.1; jupyterhub-singleuser comes with it, in the version of the hub of
    gpufleet:notebooks. The image needs Python 3 with pip."""
    run: tuple[str, ...] = ()
    """Lines for a shell, as root."""
    user: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+(:[A-Za-z0-9_.-]+)?$")] | None = None
    """Name or uid that the image's programs run as. Default: the source's."""


class SourceImage(_Strict):
    """One repository of a source registry, and the tags that are wanted of it."""

    source: RepositoryUrl = Field(alias="from")
    tags: tuple[Tag, ...] = Field(min_length=1)
    """TAG, pinned by the lock file; or TAG@sha256:..., pinned by hand."""
    to: Annotated[str, Field(pattern=r"^[a-z0-9]+([._/-]+[a-z0-9]+)*$")] | None = None
    """Repository below the list's `to`. Default: the last part of the source's path."""
    platform: Annotated[str, Field(pattern=r"^linux/[a-z0-9]+$")] = "linux/amd64"
    wrap: Wrap = Wrap()


class Allowed(_Strict):
    """Something that was found, and that the team has decided to live with for a while."""

    id: str
    """What stands in brackets behind the message: a vulnerability, or the name of a pattern of secrets."""
    path: str = "*"
    """For secrets: the file in the image, * for any text."""
    reason: str = Field(min_length=1)
    expires: date


class Scan(_Strict):
    """What a scanner says of the image. Both `command` and `report` may hold {layout}, {name}, {tag} and {digest}."""

    command: tuple[str, ...] = ()
    """Run before the report is read; {report} is the file that it writes. Default: the report is there already."""
    report: str | None = None
    """SARIF or CycloneDX (JSON), beside the list. Default with a command: a temporary file."""
    refuse_from: Literal["low", "medium", "high", "critical"] = "high"
    unknown: Literal["refuse", "allow"] = "refuse"
    """What is done with findings that the scanner gives no severity."""
    allow: tuple[Allowed, ...] = ()

    @model_validator(mode="after")
    def _report_comes_from_somewhere(self) -> "Scan":
        if not self.command and self.report is None:
            raise ValueError("has neither a command nor a report; give one of them")
        if self.command and not any("{report}" in word for word in self.command) and self.report is None:
            raise ValueError("its command does not hold {report}; write it where the scanner takes its output file")
        return self


class Sbom(_Strict):
    """The bill of materials: CycloneDX JSON, made by a command that holds {layout} and {report}."""

    command: tuple[str, ...] = Field(min_length=1)


class Secrets(_Strict):
    """Secrets in layers are always looked for."""

    allow: tuple[Allowed, ...] = ()


class Organisation(_Strict):
    """The organisation's own rules; nothing is asked by default."""

    sources: tuple[str, ...] = ()
    """Images that may be built on, * for any text: nvcr.io/nvidia/*. Default: any."""
    refused_licences: tuple[str, ...] = ()
    """SPDX names, * for any text: AGPL-*. Needs an SBOM."""
    user: Literal["any", "non-root"] = "any"
    commands: tuple[tuple[str, ...], ...] = ()
    """Your own checks: each may hold {layout}, and refuses by an exit code other than 0."""


class Checks(_Strict):
    """What an image has to pass before it is pushed."""

    scans: tuple[Scan, ...] = ()
    sbom: Sbom | None = None
    secrets: Secrets = Secrets()
    organisation: Organisation = Organisation()


class ImageList(_Strict):
    """The whole list."""

    to: RepositoryUrl
    """Registry and path that repositories lie below."""
    unique_tags: bool = False
    """Whether every change gets its own tag, TAG-<12 digits>: for registries that keep tags immutable."""
    logins: tuple[Login, ...] = ()
    images: tuple[SourceImage, ...] = Field(min_length=1)
    checks: Checks = Checks()


@dataclass(frozen=True)
class ListItem:
    """One image of the list with one tag. digest: pinned by hand, or None. target: where it goes."""

    image: SourceImage
    tag: str
    digest: str | None
    target: Repository

    @property
    def source(self) -> str:
        """As people know it."""
        return f"{self.image.source}:{self.tag}"

    @property
    def name(self) -> str:
        """Its name in the lock file and in messages: the target, with the tag of the source."""
        return f"{self.target.url}:{self.tag}"


def read_image_list(file: Path) -> ImageList:
    """The list. Errors: UserError, with a line for each fault."""
    content = read_yaml(file, "give a list of images, see docs/images.md")
    if not isinstance(content, dict):
        raise UserError(f"{file}: must be a mapping with the keys `to` and `images`, see docs/images.md")
    try:
        wanted = ImageList.model_validate(content)
    except ValidationError as error:
        # A list whose only entry is wrong counts as empty: the entry's own fault is reported.
        faults = [each for each in error.errors() if not (each["type"] == "too_short" and each["input"])]
        raise UserError("\n".join(f"{file}: {_fault(each)}" for each in faults)) from error
    twice = _twice([item.name for item in items(wanted)])
    if twice:
        raise UserError(f"{file}: images: {twice} comes from two entries; give one of them another `to`")
    return wanted


def items(wanted: ImageList) -> Iterator[ListItem]:
    """Every image with every tag, in the list's order."""
    for image in wanted.images:
        target = Repository("", f"{wanted.to}/{image.to or image.source.rpartition('/')[2]}")
        for text in image.tags:
            found = _TAG.fullmatch(text)
            assert found is not None, "checked when it was read"
            yield ListItem(image, found["tag"], found["digest"], target)


def select_items(file: Path, wanted: ImageList, only: Sequence[str]) -> list[ListItem]:
    """The list's images, or those that are asked for. Errors: UserError for a name that the list does not have."""
    every = list(items(wanted))
    known = {name for each in every for name in (each.source, each.image.source)}
    if unknown := [name for name in only if name not in known]:
        raise UserError(f"{file}: only={' '.join(unknown)}: image not found in the list; use one of its `from`")
    return [each for each in every if not only or each.source in only or each.image.source in only]


def _twice(names: list[str]) -> str | None:
    return next((name for name in names if names.count(name) > 1), None)


def _fault(error: ErrorDetails) -> str:
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error["loc"]).lstrip(".")
    words = error["msg"].removeprefix("Value error, ")
    if error["type"] == "missing":
        return f"{where}: is missing"
    if error["type"] == "extra_forbidden":
        return f"{where}: unknown key; see docs/images.md for the known ones"
    value = re.sub(r"//[^/@]*@", "//...@", format_value(error["input"]))  # a password is not shown
    return one_line(f"{where}={value}: {words}")
