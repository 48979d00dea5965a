"""Rules on an API key of NVIDIA's registry. No rule is given the key, only what is seen of it: it is never shown."""

import re
from collections.abc import Mapping

from gpufleet.documents.content import DocumentError
from gpufleet.documents.json import parse_json
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

_PERSONAL = re.compile(r"nvapi-[A-Za-z0-9_-]{40,}")
_LEGACY = re.compile(r"[A-Za-z0-9+/]{40,}={0,2}")
_HIDDEN = "[secret]"


@rule("any-ngc-key-form", Severity.WARNING)
def key_form(*, seen: str) -> Outcome:
    """An API key of NGC is nvapi- and its letters, or one of the older ones; `seen` is what looks wrong, or empty.

    Source: https://docs.nvidia.com/ngc/latest/ngc-user-guide.html (personal and legacy keys). NVIDIA does not publish
    their form: that they have 40 characters or more, and of which kind, is a guess. So this warns, and rejects nothing.
    """
    if not seen:
        return passed()
    fix = "copy it from org.ngc.nvidia.com/setup/api-keys: nvapi- and what follows, in one piece"
    return failed("ngc_key", _HIDDEN, f"does not look like an API key of NGC, {seen}", fix)


@rule("any-ngc-login-once", Severity.ERROR)
def login_once(*, in_docker_config: bool) -> Outcome:
    """Either the key or docker_config logs in to nvcr.io, not both.

    Source: https://kubernetes.io/docs/concepts/containers/images/: an `auths` has one login for each registry.
    """
    if not in_docker_config:
        return passed()
    return failed("ngc_key", _HIDDEN, "docker_config has a login for nvcr.io too", "leave one of them out")


def validate_ngc(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on a team's key of NGC, nothing where it is not plain text here. Reads ngc_key, docker_config."""
    key = args.get("ngc_key")
    if not isinstance(key, str):
        return []
    return [key_form(seen=key_problem(key)), login_once(in_docker_config=_names_ngc(args.get("docker_config")))]


def key_problem(key: str) -> str:
    """What looks wrong with a key, in words that do not tell it; empty when it looks like one."""
    if key.strip("\"'") == "$oauthtoken":
        return "it is the user's name"
    if not key.strip():
        return "it is empty"
    if re.search(r"\s", key):
        return "it holds a space or a line's end"
    if _PERSONAL.fullmatch(key) or (_LEGACY.fullmatch(key) and not key.startswith("nvapi")):
        return ""
    if re.fullmatch(r"[A-Za-z0-9+/=_-]*", key):
        return f"it has {len(key)} characters" if len(key) < len("nvapi-") + 40 else "it does not begin with nvapi-"
    return "it holds other characters than letters, digits, _ and -"


def _names_ngc(docker_config: object) -> bool:
    if not isinstance(docker_config, str):
        return False
    try:
        document = parse_json(docker_config, "docker_config")
    except DocumentError:
        return False
    auths = document.get("auths") if isinstance(document, dict) else None
    return isinstance(auths, dict) and any(re.sub(r"^https?://", "", host).split("/")[0] == "nvcr.io" for host in auths)
