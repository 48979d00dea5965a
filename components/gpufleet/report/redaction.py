"""Secrets are redacted from reports: by the engine's mark, by their name, or by their form.

A value that is hidden needlessly costs the reader a look at the program; a secret that is shown is a leak.
"""

import re
from collections.abc import Iterable, Mapping

from gpufleet.plan.preview import BLINDED, SECRET, UNKNOWN_WORDS

REDACTED = "[secret]"
UNKNOWN = "(known after deployment)"
MASK = "[hidden]"

_NAMES = re.compile(
    r"(pass(word|wd|phrase)?|secret|secrets|token|credential|credentials|kubeconfig|cert(ificate)?authoritydata|"
    r"connectionstring|activationcode|(access|secret|private|api|account|storage|shared|primary|secondary|host|client|"
    r"encryption|session|registration)[a-z0-9]*key([sv]?|data|value|pem|[0-9])|sas(token|url)?|keydata|userdata(base64)?|"
    r"customdata|authorization|bearer|dockerconfigjson|htpasswd)$"
)
"""Names of properties, in lower case without punctuation, or the ends of names, whose values are never shown.

User data and custom data are scripts that hold whatever somebody put there."""
_LOOKS = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----"  # any key file
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"  # access key of AWS
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"  # a signed token
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}"  # GitHub
    r"|\bpul-[0-9a-f]{32,}"  # Pulumi
    r"|\b(?:AccountKey|SharedAccessKey|sig)=[A-Za-z0-9+/%=]{16,}"  # Azure
    r"|client-key-data|certificate-authority-data"  # kubeconfig
    r"|(?i:\b(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key)\b[\"']?\s*[:=]\s*[\"']?[^\s\"',}]{3,})"
    r"|://[^/\s:@]+:[^/\s:@]+@"  # user:password@host
)
_HINTS = (
    "private key", "akia", "asia", "eyj", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "pul-", "accountkey",
    "sharedaccesskey", "sig=", "key-data", "authority-data", "passw", "passphrase", "secret", "token", "api", "access", "://",
)  # fmt: skip
"""In lower case, one word at least of each alternative of `_LOOKS`; a test checks that."""
_SECRET_TYPES = {"kubernetes:core/v1:Secret": ("data", "stringData")}
"""Types of which some properties are secret, whoever wrote the program."""


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


def is_secret_name(name: str) -> bool:
    """Whether values of this name are never shown."""
    return _NAMES.search(re.sub(r"[^a-z0-9]", "", name.lower())) is not None


def looks_secret(text: str) -> bool:
    """Whether a text holds what looks like a secret."""
    return _may_hold_secret(text) and _LOOKS.search(text) is not None


def _may_hold_secret(text: str) -> bool:
    """Whether any word of the pattern is in a text at all: ten times as fast as the pattern, and mostly no."""
    lower = text.lower()
    for word in _HINTS:  # noqa: SIM110 - half the time of any()
        if word in lower:
            return True
    return False


def mask_secrets(text: str, secrets: Iterable[str] = ()) -> str:
    """A text of somebody else, a message or a name, without what looks like a secret or is known to be one."""
    for each in sorted(secrets, key=len, reverse=True):
        if len(each) >= SHORTEST_SECRET:
            text = text.replace(each, MASK)
    return _LOOKS.sub(MASK, text) if _may_hold_secret(text) else text


SHORTEST_SECRET = 4
"""Characters of the shortest secret that is looked for in texts: a shorter one stands in any text by chance."""


def is_secret(value: object) -> bool:
    """Whether the engine has marked a value as secret, or has blinded it."""
    return value == BLINDED or (isinstance(value, Mapping) and SECRET in value)


def is_unknown(value: object) -> bool:
    return isinstance(value, str) and value in UNKNOWN_WORDS
