"""A plan from what `pulumi preview --json` prints."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, NotRequired, TypedDict, cast

from msgspec import Meta

from gpufleet.documents.content import DocumentError
from gpufleet.documents.json import check_shape, parse_json, read_json
from gpufleet.errors import UserError
from gpufleet.plan.resource import UNKNOWN, Plan, Resource
from gpufleet.urn import stack_of_urn

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


_FIX = "give the output of `pulumi preview --json`"
_Urn = Annotated[str, Meta(pattern="^urn:pulumi:[^:]+::[^:]+::.*::")]


class _State(TypedDict):
    """What is read of a resource's state. Source: pulumi/pulumi, sdk/go/common/apitype, ResourceV3."""

    urn: _Urn
    type: str
    inputs: NotRequired[dict[str, Any] | None]
    propertyDependencies: NotRequired[dict[str, list[str] | None] | None]
    dependencies: NotRequired[list[str] | None]
    parent: NotRequired[str]
    provider: NotRequired[str]


class _Step(TypedDict):
    op: str
    newState: NotRequired[_State | None]


class _Preview(TypedDict):
    steps: list[_Step]
    config: NotRequired[dict[str, Any] | None]


def read_preview(file: Path) -> object:
    """What a file with the output of `pulumi preview --json` says, for `plan_of`. Errors: DocumentError."""
    said: object = read_json(file, _FIX)
    return said


def config_of(preview: object) -> Mapping[str, object]:
    """The stack's configuration, which a parsed preview repeats; structured values are JSON in it."""
    config = preview.get("config") if isinstance(preview, Mapping) else None
    return config if isinstance(config, Mapping) else {}


def setting(config: Mapping[str, object], key: str) -> object:
    """A gpufleet key in a stack's configuration, as a preview has it."""
    value = config.get(f"gpufleet:{key}")
    try:
        return parse_json(value, key) if isinstance(value, str) else value
    except DocumentError:
        return value


def plan_of(preview: object, where: str = "preview") -> Plan:
    """The plan in a parsed preview. What the stack already has and keeps must be in it: --show-sames.

    Errors: DocumentError when it is not a preview, PreviewError when it ended with an error.
    """
    if not isinstance(preview, Mapping) or not isinstance(preview.get("steps"), list):
        said = preview.get("diagnostics") if isinstance(preview, Mapping) else None
        said = said if isinstance(said, list) else []
        reason = " ".join(str(each.get("message", "")).strip() for each in said if isinstance(each, Mapping))
        raise PreviewError(f"{where}: {reason or f'no steps in it; {_FIX}'}")
    document = check_shape(preview, _Preview, where, _FIX)
    states = ((state, step["op"]) for step in document["steps"] if (state := step.get("newState")))
    return plan_of_states(((state, op) for state, op in states if op not in GONE), document.get("config") or {})


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
    stack = stack_of_urn(resources[0].urn)[1] if resources else ""
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
