"""The variables of a job: none holds a secret in plain text, and secrets are named, never given."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gpufleet.secret_patterns import is_secret_name, matching_patterns

_VARIABLE = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_SHORTEST = 8
"""Characters of a value that is taken for a secret because of its variable's name."""
_PLAIN = re.compile(r"[/~$.{]|[a-z0-9+]+://|[\d.eE+-]+$|(?:true|false|none|auto|default)$", re.IGNORECASE)
"""How a value begins that is a path, an address, a number or a word of a setting."""


def validate_variables(request: Mapping[str, Any], where: str) -> list[str]:
    """A line for every secret in plain text, in env, tags or command, and for every fault of `secrets`."""
    env, secrets = _texts(request.get("env")), _texts(request.get("secrets"))
    lines = [
        f"{where}: env={name}: {why}, and others could read it in the job's definition; store it with "
        f"`gpufleet secrets put`, and give --secret {name}=NAME"
        for name, value in env.items()
        if (why := _secret_variable(name, value))
    ]
    command = request.get("command")
    words = command if isinstance(command, Sequence) and not isinstance(command, str) else ()
    for key, texts in (("command", words), ("tags", _texts(request.get("tags")).values())):
        lines += [
            f"{where}: {key}: holds what looks like a secret ({found}), and others could read it; store it with "
            "`gpufleet secrets put`, give --secret VARIABLE=NAME, and read the variable in your program"
            for found in dict.fromkeys(each for text in texts for each in _certain(str(text)))
        ]
    for name, reference in secrets.items():
        if not _VARIABLE.fullmatch(name):
            lines.append(f"{where}: secrets={name}: is not a valid variable name; use letters, digits and _")
        elif name in env:
            lines.append(f"{where}: secrets={name}: env has this variable too; leave it out of one of them")
        if not reference or any(_certain(reference)):
            lines.append(
                f"{where}: secrets.{name}: has to be the name of a secret, not its value; store it with "
                "`gpufleet secrets put`"
            )
    return lines


def _secret_variable(name: str, value: str) -> str:
    """Why a variable is taken for a secret; empty where it is none."""
    pattern = next(matching_patterns(value), None)
    if pattern is not None:
        return f"looks like a secret ({pattern.id})"
    named = is_secret_name(name) and len(value) >= _SHORTEST and not _PLAIN.match(value)
    return "is a secret, by its name" if named else ""


def _certain(text: str) -> Iterator[str]:
    return (each.id for each in matching_patterns(text) if not each.likely)


def _texts(value: object) -> dict[str, str]:
    """The texts of a mapping, whatever it is: what it has to be is for others to say."""
    return {str(key): str(each) for key, each in value.items()} if isinstance(value, Mapping) else {}
