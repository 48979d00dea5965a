"""One line for what a program that copies images has said when it failed."""

import re
from functools import cache
from pathlib import Path
from typing import Any

from gpufleet.documents.yaml import read_yaml
from gpufleet.rules.messages import one_line

_FATAL = re.compile(r'level=(?:fatal|error) msg="(?P<text>(?:[^"\\]|\\.)*)"')
_LONGEST = 300  # characters of a program's own words


@cache
def _rows() -> list[dict[str, Any]]:
    return list(read_yaml(Path(__file__).parent / "data" / "failures.yaml"))


def explain(said: str, during: str, what: str, login: str) -> str:
    """`what: problem (the program's own words); fix`. during: pull, push or look. login: how the registry was asked.

    Output that matches no row is shown as it is.
    """
    own = own_words(said)
    for row in _rows():
        if during not in row.get("during", (during,)):
            continue
        if any(words in own.lower() for words in row["words"]):
            return f"{what}: {row['problem']} ({own}); {row['fix'].format(login=login)}"
    return f"{what}: {own}"


def unknown_image(said: str) -> bool:
    """Whether a registry's answer means that the image does not exist."""
    return any(words in said.lower() for words in ("manifest unknown", "name unknown", "status: 404"))


def own_words(said: str) -> str:
    """The reason in what a program has said, in one line."""
    found = _FATAL.findall(said)
    text = found[-1].replace('\\"', '"') if found else " ".join(said.split()) or "no output"
    text = re.sub(r'^Error parsing image name "[^"]*": ', "", text)
    return one_line(text if len(text) <= _LONGEST else "..." + text[-_LONGEST:])
