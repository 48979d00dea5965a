"""What looks like a secret: one list, secret_patterns.yaml, for images, reports, jobs and configurations."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from gpufleet.documents.yaml import parse_yaml

_NAMES = re.compile(
    r"(pass(word|wd|phrase)?|secret|secrets|token|credential|credentials|kubeconfig|cert(ificate)?authoritydata|"
    r"connectionstring|activationcode|(access|secret|private|api|account|storage|shared|primary|secondary|host|client|"
    r"encryption|session|registration)[a-z0-9]*key([sv]?|data|value|pem|[0-9])|sas(token|url)?|keydata|userdata(base64)?|"
    r"customdata|authorization|bearer|dockerconfigjson|htpasswd)$"
)
"""Names of properties, in lower case without punctuation, or the ends of names, whose values are never shown.

User data and custom data are scripts that hold whatever somebody put there."""


@dataclass(frozen=True)
class SecretPattern:
    """id: its name. near: lower-case words, of which a text with a match has one at least. likely: whether other texts
    look the same, such as examples in documentation."""

    id: str
    near: tuple[str, ...]
    form: "re.Pattern[str]"
    likely: bool


@cache
def secret_patterns() -> tuple[SecretPattern, ...]:
    """All of them, in the order in which they are looked for."""
    return tuple(
        SecretPattern(
            each["id"], tuple(each["near"]), re.compile(each["pattern"], re.ASCII), bool(each.get("likely", False))
        )
        for each in _content()["patterns"]
    )


@cache
def secret_files() -> tuple[tuple[str, "re.Pattern[str]"], ...]:
    """Name and path of files that are secrets themselves."""
    return tuple((each["id"], re.compile(each["path"])) for each in _content()["files"])


def is_secret_name(name: str) -> bool:
    """Whether values of this name are never shown."""
    return _NAMES.search(re.sub(r"[^a-z0-9]", "", name.lower())) is not None


def matching_patterns(text: str) -> Iterator[SecretPattern]:
    """The patterns that a text matches.

    A search for plain words goes first: it takes a tenth of the time, and mostly nothing is there.
    """
    lower = text.lower()
    for pattern in secret_patterns():
        for word in pattern.near:
            if word in lower:
                if pattern.form.search(text):
                    yield pattern
                break


def looks_secret(text: str) -> bool:
    """Whether a text holds what looks like a secret."""
    return next(matching_patterns(text), None) is not None


def mask_patterns(text: str, mask: str) -> str:
    """A text with `mask` in place of all that looks like a secret."""
    for pattern in matching_patterns(text):
        text = pattern.form.sub(mask, text)
    return text


@cache
def patterns_version() -> str:
    """Changes with the list, so that what was searched with another one is searched again."""
    return hashlib.sha256(_text().encode()).hexdigest()[:12]


def _content() -> dict[str, Any]:
    content: dict[str, Any] = parse_yaml(_text(), "secret_patterns.yaml")
    return content


@cache
def _text() -> str:
    return (resources.files("gpufleet") / "secret_patterns.yaml").read_text(encoding="utf-8")
