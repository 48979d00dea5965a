"""The schemas of our packages: what Pulumi's SDK infers from components, made fit to read and to compare."""

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_ABOUT = {"aws": "AWS", "azure": "Azure", "kubernetes": "Kubernetes"}


def written(schema: str) -> str:
    """A schema as its committed file has it."""
    return json.dumps(json.loads(schema), indent=2, sort_keys=True) + "\n"


def described(schema: dict[str, Any], cloud: str) -> dict[str, Any]:
    """A schema that Pulumi's SDK inferred, with what it does not know: licence, names of SDKs, texts made readable."""
    about = f"Multi-node GPU training on {_ABOUT[cloud]}: components that refuse before deployment what cannot work."
    language = schema.get("language", {})
    language["go"] = {
        **language.get("go", {}),
        "importBasePath": f"gpufleet.dev/sdk/go/gpufleet-{cloud}/gpufleet{cloud}",
    }
    language["nodejs"] = {**language.get("nodejs", {}), "packageName": f"@gpufleet/{cloud}"}
    own = {"description": about, "license": "Apache-2.0", "keywords": ["category/infrastructure", "gpu", cloud]}
    return {key: _cleaned(value) for key, value in {**schema, **own, "language": language}.items()}


def _cleaned(part: object, *, whole: bool = True) -> object:
    """Descriptions without Python's indentation and roles; what an item is, its list says already. whole: no item."""
    if isinstance(part, list):
        return [_cleaned(each) for each in part]
    if not isinstance(part, dict):
        return part
    holds = isinstance(part.get("type"), str)
    cleaned = {}
    for key, value in part.items():
        if key != "description" or not isinstance(value, str):
            cleaned[key] = _cleaned(value, whole=not (holds and key in ("items", "additionalProperties")))
        elif whole:
            cleaned[key] = _prose(value)
    if not whole and str(cleaned.get("$ref")).startswith("#/types/"):
        # Go's generator makes no type for arguments that are used only where all is plain, and then uses it.
        cleaned.pop("plain", None)
    return cleaned


def _prose(text: str) -> str:
    """A docstring as Markdown, for readers in any language."""
    text = re.sub(r":\w+:`~?([\w.]+)`", lambda found: f"`{found[1].rpartition('.')[2]}`", inspect.cleandoc(text))
    return text.replace("``", "`")


def breaks(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """What programs written for the schema `old` lose with `new`, one line each; additions are none.

    A component, an object type or a property that is gone, an input that has become required or has another type, an
    output that has another type or may be absent now.
    """
    lines: list[str] = []
    for kind in ("resources", "types"):
        was, is_ = old.get(kind, {}), new.get(kind, {})
        for token, before in was.items():
            if token not in is_:
                lines.append(f"{token}: is gone")
                continue
            after = is_[token]
            for properties, required, inward in (
                ("inputProperties", "requiredInputs", True),
                ("properties", "required", kind == "types"),
            ):
                label = f"{token}.{'' if inward else 'output '}"
                lines += [f"{label}{line}" for line in _changes(before, after, properties, required, inward=inward)]
    return lines


def _changes(
    before: Mapping[str, Any], after: Mapping[str, Any], properties: str, required: str, *, inward: bool
) -> Iterator[str]:
    """Of one list of properties. inward: programs write them; else they read them."""
    was, is_ = before.get(properties, {}), after.get(properties, {})
    for name in was:
        if name not in is_:
            yield f"{name}: is gone"
        elif (one := _type(was[name])) != (other := _type(is_[name])):
            yield f"{name}: was {one}, is {other}"
    must, did = set(after.get(required, ())), set(before.get(required, ()))
    if inward:
        yield from (f"{name}: is required now" for name in sorted(must - did))
    else:
        yield from (f"{name}: may be absent now" for name in sorted((did - must) & is_.keys()))


def _type(declared: Mapping[str, Any]) -> str:
    """For instance `list of plain string`. An item is plain or not as its list is."""
    inner = declared.get("items") or declared.get("additionalProperties")
    kind = str(declared.get("$ref") or declared.get("type"))
    of = f" of {_type(inner)}" if isinstance(inner, dict) else ""
    return f"{'plain ' if declared.get('plain') else ''}{kind}{of}"
