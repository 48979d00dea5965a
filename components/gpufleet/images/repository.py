"""The repository of an environment that an image is pushed to."""

import ipaddress
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gpufleet.errors import UserError
from gpufleet.rules.messages import join_words

_TAG = re.compile(r"\w[\w.-]{0,127}", re.ASCII)
"""Source: github.com/distribution/reference, reference.go."""


@dataclass(frozen=True)
class Repository:
    """name: as the environment calls it. url: under which images are pushed and pulled, host and path."""

    name: str
    url: str

    @property
    def host(self) -> str:
        """With its port, where it has one."""
        return self.url.partition("/")[0]

    @property
    def on_this_machine(self) -> bool:
        """Whether the registry listens on loopback: only such a one may be spoken to without TLS."""
        name = re.sub(r":\d+$", "", self.host).strip("[]")
        try:
            return ipaddress.ip_address(name).is_loopback
        except ValueError:
            return name == "localhost"


def select_repository(repositories: Mapping[str, str], wanted: str | None, environment: str) -> Repository:
    """The only repository, or the one of this name. repositories: URL by name. Errors: UserError."""
    if not repositories:
        raise UserError(
            f"{environment}: the stack's outputs tell of no repository (registry_urls); "
            "name one in gpufleet:registry and run `pulumi up`"
        )
    if wanted is None:
        if len(repositories) > 1:
            raise UserError(f"{environment}: which repository? use --repository {join_words(repositories)}")
        name = next(iter(repositories))
    else:
        found = repository_named(repositories, wanted)
        if found is None:
            names = join_words(repositories)
            raise UserError(f"{environment}: repository={wanted}: repository not found; use {names}")
        name = found
    return Repository(name, repositories[name])


def repository_named(repositories: Iterable[str], name: str) -> str | None:
    """The repository of this name, or the only one whose path ends with it: training for dev/training."""
    names = list(repositories)
    if name in names:
        return name
    ends = [each for each in names if each.endswith(f"/{name}")]
    return ends[0] if len(ends) == 1 else None


def validate_tag(tag: str) -> str:
    """The tag, when a registry takes it. Errors: UserError."""
    if not _TAG.fullmatch(tag):
        raise UserError(
            f"tag={tag}: is not a valid tag; use up to 128 letters, digits, _ . and -, not beginning with . or -"
        )
    return tag
