"""The operation on each resource, and the data that is lost with it."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import cast

from gpufleet.cost.resources import kind_of
from gpufleet.documents.json import read_json
from gpufleet.report.model import Property, ResourceChange
from gpufleet.report.parts import owner_of
from gpufleet.report.preview import Preview, PreviewStep, ResourceState
from gpufleet.report.property_diff import changed_properties

OPERATIONS: Mapping[str, str] = {
    "create": "create",
    "import": "import",
    "read": "read",
    "update": "update",
    "replace": "replace",
    "import-replacement": "replace",
    "read-replacement": "replace",
    "create-replacement": "replace",
    "delete": "delete",
    "delete-replaced": "replace",
}
"""The engine's word for a step -> ours. What is not in it (same, refresh, discard) changes nothing that stays."""

OPERATION_ORDER = ("replace", "delete", "update", "change", "create", "import", "read")
"""How reports sort changes: what can hurt first."""

_GONE = ("replace", "delete")
_VERSION = re.compile(r"^(kubernetes:[^:]+)/v[0-9a-z]+:")
"""Of the API in the token of a Kubernetes type; the rest names the type in the data file."""


def resource_changes(preview: Preview) -> list[ResourceChange]:
    """The changes of a preview, what can hurt first, then by name: the engine's own order is another each time."""
    found: dict[str, ResourceChange] = {}
    for step in preview.steps:
        operation = OPERATIONS.get(step.op)
        if operation is None or _is_component(step):
            continue
        known = found.get(step.urn)
        # A step of a replacement that the engine names apart from it says less than the replacement.
        if known is None or OPERATION_ORDER.index(operation) < OPERATION_ORDER.index(known.operation):
            found[step.urn] = _change(step, operation)
    return sorted(found.values(), key=_order)


def compare_previews(before: Preview, after: Preview) -> list[ResourceChange]:
    """The changes between two previews of the same stack from nothing, of which no state tells what happens."""
    old = {step.urn: step.new for step in before.steps if step.new}
    new = {step.urn: step.new for step in after.steps if step.new}
    found = []
    for urn in {**old, **new}:
        one, other = old.get(urn), new.get(urn)
        state = other or one
        if state is None or not state.get("custom"):
            continue
        if one and other:
            if (one.get("inputs") or {}) != (other.get("inputs") or {}):
                found.append(_change(PreviewStep("update", urn, one, other), "change"))
        elif other:
            found.append(_change(PreviewStep("create", urn, None, other), "create"))
        else:
            found.append(_change(PreviewStep("delete", urn, one, None), "delete"))
    return sorted(found, key=_order)


def _order(change: ResourceChange) -> tuple[int, str, str]:
    return OPERATION_ORDER.index(change.operation), change.name, change.urn


def _is_component(step: PreviewStep) -> bool:
    """Components and the stack itself are made of others, which are in the list."""
    state = step.new or step.old
    return state is None or not state.get("custom")


def _change(step: PreviewStep, operation: str) -> ResourceChange:
    state = step.old or step.new or ResourceState(urn=step.urn, type="")
    kind = str(state.get("type", ""))
    held = loss_record(kind) if operation in _GONE else {}
    inputs = state.get("inputs") or {}
    guard = held.get("guard", "")
    properties: list[Property] = []
    if operation in ("update", "replace", "change"):
        properties = changed_properties(step)
    return ResourceChange(
        urn=step.urn,
        type=kind,
        name=step.urn.rsplit("::", 1)[-1],
        operation=operation,
        holds=held.get("holds", "") if held.get("lost_by", operation) == operation else "",
        ends=held.get("ends", ""),
        guarded=held.get("guarded", "") if guard and inputs.get(guard) is not True else "",
        protected=bool(state.get("protect")),
        retained=bool(state.get("retainOnDelete")),
        replaced_for=sorted(step.replaces),
        properties=properties,
        part_of=owner_of(state),
    )


def loss_record(kind: str) -> Mapping[str, str]:
    """What is lost with a resource of a type, by the data file; nothing for a type that is not in it.

    lost_by=delete: a replacement has the same from the program, as with a rotated pull secret.
    """
    return _holdings().get(_VERSION.sub(r"\1:", kind_of(kind)), {})


def stores_data(kind: str) -> bool:
    return "holds" in loss_record(kind)


@cache
def _holdings() -> Mapping[str, Mapping[str, str]]:
    return cast("dict[str, dict[str, str]]", read_json(Path(__file__).with_name("holdings.json")))


def count_operations(changes: Iterable[ResourceChange]) -> dict[str, int]:
    """Operation -> number of resources, in the order of reports."""
    counted: dict[str, int] = {}
    for each in changes:
        counted[each.operation] = counted.get(each.operation, 0) + 1
    return {operation: counted[operation] for operation in OPERATION_ORDER if operation in counted}
