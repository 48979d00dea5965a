"""The engine's event log: JSON lines, of which a few are about resources and policies.

`pulumi preview --event-log FILE` writes it (with PULUMI_DEBUG_COMMANDS=1), and `pulumi preview --json` prints the same
lines with PULUMI_ENABLE_STREAMING_JSON_PREVIEW=1. It has what policy packs found, which the plain JSON lacks, and lacks
which resource a value was made from. Its debug messages hold secrets in plain text (measured): they are never read.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, BinaryIO, cast

import msgspec

from gpufleet.documents.content import DocumentError
from gpufleet.documents.json import parse_json
from gpufleet.plan.preview import SECRET, UNKNOWN_WORDS
from gpufleet.report.preview import Diagnostic, InvalidPreview, PolicyViolation, Preview, PreviewStep, ResourceState

_PARTS = ("create-replacement", "delete-replaced", "discard-replaced")
"""A replacement comes as three events; `replace` is the one that counts."""
_UNKNOWN_RESOURCE = ""
"""In place of the resources that a value was made from, which the log does not tell."""


class _Difference(msgspec.Struct, rename="camel"):
    diff_kind: str = "update"


class _Metadata(msgspec.Struct, rename="camel"):
    """A step. diffs: properties that differ; keys: those that cannot be changed in place."""

    op: str
    urn: str
    old: ResourceState | None = None
    new: ResourceState | None = None
    detailed_diff: dict[str, _Difference] | None = None
    diffs: list[str] | None = None
    keys: list[str] | None = None


class _Resource(msgspec.Struct):
    metadata: _Metadata


class _Policy(
    msgspec.Struct,
    rename={"pack": "policyPackName", "policy": "policyName", "level": "enforcementLevel", "urn": "resourceUrn"},
):
    pack: str
    policy: str
    level: str
    message: str
    urn: str = ""


class _Diagnostic(msgspec.Struct):
    severity: str
    message: str
    urn: str = ""


class _Summary(msgspec.Struct, rename={"packs": "PolicyPacks"}):
    packs: dict[str, str] | None = None
    result: str = "succeeded"


class _Prelude(msgspec.Struct):
    config: dict[str, Any] | None = None


class _Event(msgspec.Struct, rename="camel"):
    """A line: one of these is there, or an event that nobody here needs."""

    resource_pre_event: _Resource | None = None
    policy_event: _Policy | None = None
    diagnostic_event: _Diagnostic | None = None
    summary_event: _Summary | None = None
    prelude_event: _Prelude | None = None


def read_event_log(stream: BinaryIO, file: str) -> Preview:
    """The preview in an event log. Errors: InvalidPreview, also for a log without an end."""
    preview = Preview(file, linked=False, ended=False)
    summary = None
    for number, line in enumerate(stream, 1):
        event = parse_json(line, file, "give the engine's event log", shape=_Event, line=number)
        summary = event.summary_event or summary
        _take(event, preview)
    if summary is None:
        raise InvalidPreview(f"{file}: the event log is incomplete: it has no summaryEvent; let the preview finish")
    preview.ended = summary.result == "succeeded"
    preview.packs = tuple(sorted(key.split("|")[0] for key in summary.packs or ()))
    preview.steps = list(_linked(preview.steps))
    return preview


def _linked(steps: Sequence[PreviewStep]) -> Iterator[PreviewStep]:
    """The steps with the resources that values were made from, as far as ids tell: of what is there already.

    A value that becomes unknown was made from the same resource before. What else it may be made from stays open.
    """
    urns = {state["id"]: step.urn for step in steps for state in (step.old, step.new) if state and state.get("id")}
    for step in steps:
        old = _with_links(step.old, urns, {})
        links = old["propertyDependencies"] if old else {}
        yield replace(step, old=old, new=_with_links(step.new, urns, links or {}))


def _with_links(
    state: ResourceState | None, urns: Mapping[str, str], before: Mapping[str, Sequence[str] | None]
) -> ResourceState | None:
    if state is None:
        return None
    found: dict[str, list[str] | None] = {}
    for key, value in (state.get("inputs") or {}).items():
        texts, unknown = _leaves(value)
        links = [urns[text] for text in texts if text in urns]
        links += [*(before.get(key) or ()), _UNKNOWN_RESOURCE] if unknown else []
        found[key] = list(dict.fromkeys(links))
    return cast(ResourceState, {**state, "propertyDependencies": found})


def _leaves(value: object) -> tuple[list[str], bool]:
    """The texts in a value, and whether something in it is not known."""
    if isinstance(value, str):
        return ([], True) if value in UNKNOWN_WORDS else ([value], False)
    if isinstance(value, Mapping) and SECRET in value:
        return [], True
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    found = [_leaves(each) for each in inner]
    return [text for texts, _ in found for text in texts], any(unknown for _, unknown in found)


def _take(event: _Event, preview: Preview) -> None:
    if event.resource_pre_event is not None:
        metadata = event.resource_pre_event.metadata
        if metadata.op not in _PARTS:
            preview.steps.append(_step(metadata))
            for state in (metadata.old, metadata.new):
                _collect(state.get("inputs") if state else None, preview.secrets)
    if (found := event.policy_event) is not None:
        violation = PolicyViolation(found.urn, found.pack, found.policy, found.level, found.message)
        # Advice of a policy that could not run comes once for each resource.
        if violation not in preview.violations:
            preview.violations.append(violation)
    # What else it says, on debugging, holds secrets.
    if (said := event.diagnostic_event) is not None and said.severity in ("error", "warning"):
        preview.diagnostics.append(Diagnostic(said.urn, said.severity, said.message))
    if event.prelude_event is not None:
        preview.config = event.prelude_event.config or {}


def _step(metadata: _Metadata) -> PreviewStep:
    differences = metadata.detailed_diff
    return PreviewStep(
        op=metadata.op,
        urn=metadata.urn,
        old=metadata.old or None,
        new=metadata.new or (metadata.old or None if metadata.op == "same" else None),
        diff=None if differences is None else {path: {"kind": each.diff_kind} for path, each in differences.items()},
        reasons=metadata.diffs or (),
        replaces=metadata.keys or (),
    )


def _collect(value: object, secrets: set[str]) -> None:
    """Plain texts that the engine has marked, as with --show-secrets."""
    if isinstance(value, Mapping):
        if SECRET in value:
            _texts(value.get("plaintext", value.get("value")), secrets)
        else:
            for each in value.values():
                _collect(each, secrets)
    elif isinstance(value, list):
        for each in value:
            _collect(each, secrets)


def _texts(plain: object, secrets: set[str]) -> None:
    if isinstance(plain, str):
        try:
            inner = parse_json(plain, "secret")
        except DocumentError:
            inner = plain
        if isinstance(inner, str):
            secrets.add(inner)
        else:
            _texts(inner, secrets)
    elif isinstance(plain, Mapping):
        for each in plain.values():
            _texts(each, secrets)
    elif isinstance(plain, list):
        for each in plain:
            _texts(each, secrets)
