"""Secrets are redacted from reports: by the engine's mark, by their name, or by their form.

A value that is hidden needlessly costs the reader a look at the program; a secret that is shown is a leak.
"""

from collections.abc import Iterable, Mapping

from gpufleet.plan.preview import BLINDED, SECRET, UNKNOWN_WORDS
from gpufleet.secret_patterns import is_secret_name, mask_patterns

REDACTED = "[secret]"
UNKNOWN = "(known after deployment)"
MASK = "[hidden]"

_SECRET_TYPES = {"kubernetes:core/v1:Secret": ("data", "stringData")}
"""Types of which some properties are secret in any program."""


class Redaction:
    """The secret properties of a resource, by its states. Paths are as in the engine's detailed diff."""

    def __init__(self, kind: str, states: Iterable[Mapping[str, object] | None]) -> None:
        self.everything = kind.startswith("pulumi:providers:")
        named = set(_SECRET_TYPES.get(kind, ()))
        for state in states:
            listed = (state or {}).get("additionalSecretOutputs")
            named |= {str(name) for name in listed} if isinstance(listed, list) else set()
        self.properties = frozenset(named)

    def hides(self, path: tuple[str | int, ...]) -> bool:
        """Whether the name of anything on the way to a value says that it is secret."""
        if self.everything or (path and path[0] in self.properties):
            return True
        return any(isinstance(part, str) and is_secret_name(part) for part in path)


def mask_secrets(text: str, secrets: Iterable[str] = ()) -> str:
    """A text of somebody else, a message or a name, without what looks like a secret or is known to be one."""
    for each in sorted(secrets, key=len, reverse=True):
        if len(each) >= SHORTEST_SECRET:
            text = text.replace(each, MASK)
    return mask_patterns(text, MASK)


SHORTEST_SECRET = 4
"""Characters of the shortest secret that is looked for in texts: a shorter one stands in any text by chance."""


def is_secret(value: object) -> bool:
    """Whether the engine has marked a value as secret, or has blinded it."""
    return value == BLINDED or (isinstance(value, Mapping) and SECRET in value)


def is_unknown(value: object) -> bool:
    return isinstance(value, str) and value in UNKNOWN_WORDS
