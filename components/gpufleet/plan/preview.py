"""A plan from what `pulumi preview --json` prints."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from gpufleet.errors import UserError
from gpufleet.plan.resource import UNKNOWN, Plan, Resource

# The words by which the engine says that a value of some kind is not known yet (pulumi/sdk: resource/plugin/rpc.go).
UNKNOWN_WORDS = frozenset(
    {
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",  # boolean
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",  # number
        "04da6b54-80e4-46f7-96ec-b56ff0331ba9",  # string
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",  # array
        "030794c1-ac77-496b-92df-f27374a8bd58",  # asset
        "e48ece36-62e2-4504-bad9-02848725956a",  # archive
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",  # object
    }
)
SECRET = "4dabf18193072939515e22adb298388d"
"""The key that marks an object as a wrapped value (pulumi/sdk: resource.SigKey)."""
BLINDED = "[secret]"
"""What `pulumi preview --json` writes in place of a secret, and of each property of a provider that is one."""
GONE = ("delete", "delete-replaced", "discard", "discard-replaced", "remove-pending-replace", "read-discard")
"""What is done to a resource that the plan has no more."""


class PreviewError(UserError):
    """A file that is not a preview; the text is the one line for the user."""


def read_preview(file: Path) -> object:
    """What a file with the output of `pulumi preview --json` says, for `plan_of`. Errors: PreviewError."""
    try:
        said: object = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else f"not JSON: {error}"
        raise PreviewError(f"{file}: {reason}; give the output of `pulumi preview --json`") from error
    return said


def config_of(preview: object) -> Mapping[str, object]:
    """The stack's configuration, which a parsed preview repeats; structured values are JSON in it."""
    config = preview.get("config") if isinstance(preview, Mapping) else None
    return config if isinstance(config, Mapping) else {}


def setting(config: Mapping[str, object], key: str) -> object:
    """A key of ours in a stack's configuration, as a preview has it."""
    value = config.get(f"gpufleet:{key}")
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


def plan_of(preview: object, where: str = "preview") -> Plan:
    """The plan in a parsed preview. What the stack already has and keeps must be in it: --show-sames.

    Errors: PreviewError when it is not a preview, or one that ended with an error.
    """
    if not isinstance(preview, Mapping) or not isinstance(preview.get("steps"), list):
        said = preview.get("diagnostics") if isinstance(preview, Mapping) else None
        reason = " ".join(str(each.get("message", "")).strip() for each in said or [] if isinstance(each, Mapping))
        raise PreviewError(f"{where}: {reason or 'no steps in it; give the output of `pulumi preview --json`'}")
    kept = (step for step in preview["steps"] if step.get("op") not in GONE and step.get("newState"))
    return plan_of_states(((step["newState"], step["op"]) for step in kept), config_of(preview))


def plan_of_states(
    states: Iterable[tuple[Mapping[str, Any], str]],
    config: Mapping[str, Any],
    made: Mapping[str, Resource] | None = None,
) -> Plan:
    """The plan that states of resources make, each with what is to happen to it. config: the stack's, as the engine
    says it; providers may have their region from it. made: by URN, those that another plan has in the same state."""
    found: dict[str, Mapping[str, Any]] = {}
    operations: dict[str, str] = {}
    for state, operation in states:
        found[state["urn"]] = state
        operations.setdefault(state["urn"], operation)
    resources = [
        (made or {}).get(urn)
        or Resource(
            urn=urn,
            type=state["type"],
            inputs=cast("dict[str, object]", _plain(state.get("inputs") or {})),
            depends=state.get("propertyDependencies") or {},
            parent=state.get("parent", ""),
            provider_region=_provider_region(state, found, config),
            operation=operations[urn],
            waits_for=frozenset(state.get("dependencies") or ()),
        )
        for urn, state in found.items()
    ]
    stack = resources[0].urn.split(":")[2].split("::")[0] if resources else ""
    return Plan(stack, resources)


def _provider_region(state: Mapping[str, Any], states: Mapping[str, Any], config: Mapping[str, Any]) -> str | None:
    """The region of a resource's provider: its own inputs say it, or the stack's configuration."""
    package = str(state["type"]).split(":")[0]
    urn = str(state.get("provider", "")).rsplit("::", 1)[0]
    inputs = states.get(urn, {}).get("inputs") or {}
    word = {"aws": "region", "azure-native": "location"}.get(package)
    said = (inputs.get(word) or config.get(f"{package}:{word}")) if word else None
    return said if isinstance(said, str) and said not in UNKNOWN_WORDS else None


def _plain(value: object) -> object:
    """A value of the preview with `UNKNOWN` in place of the engine's words; secrets too are unknown here."""
    # A dict and not any Mapping: JSON makes nothing else, and asking for that is several times as fast.
    if isinstance(value, dict):
        if SECRET in value:
            return UNKNOWN
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, str):
        return value
    return UNKNOWN if value == BLINDED or value in UNKNOWN_WORDS else value
