"""Generate `aws/schema.json`: what inputs.py judges by. Needs pulumi_aws and botocore; judging needs neither.

    python -m gpufleet_rehearsal.inputs.sdk_schema           write it
    python -m gpufleet_rehearsal.inputs.sdk_schema --check   exit 1 if the committed file differs

Per type: the SDK's input shapes (sdk_shapes), merged with what botocore's model of the call demands (aws_calls), the
rows of `rules`, and the names of the outputs. One type per line, keys sorted, so that a diff shows what changed.
"""

import argparse
import importlib.metadata
import json
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from gpufleet_rehearsal.inputs import aws_calls, forms, rules, sdk_shapes
from gpufleet_rehearsal.inputs.problems import SCHEMA

TABLE = SCHEMA.parent / "types"
"""The simulated cloud's table; each type of it needs a row in aws/calls."""

_ROW_WORDS = {"at", "where", "says", "source", "evidence"}
_EVIDENCE = {"observed", "documented", "assumed"}


class Unfit(Exception):
    """The data of aws/calls does not fit the SDK or botocore; the text has one line per fault."""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m gpufleet_rehearsal.inputs.sdk_schema", description="Generate aws/schema.json."
    )
    parser.add_argument("--check", action="store_true", help="exit 1 if the committed file differs")
    check = parser.parse_args(arguments).check
    try:
        text = generate()
    except (Unfit, sdk_shapes.NotInTheSdk) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if check and (not SCHEMA.is_file() or SCHEMA.read_text() != text):
        sys.stderr.write(
            f"{SCHEMA.name}: not what the SDK and aws/calls give; run python -m gpufleet_rehearsal.inputs.sdk_schema\n"
        )
        return 1
    if not check:
        SCHEMA.write_text(text)
        sys.stdout.write(f"{SCHEMA}: {len(aws_calls.book().types)} types, {len(text) // 1024} KiB\n")
    return 0


def generate() -> str:
    """The file's text; Unfit if a type, property, call, rule or form does not exist."""
    book = aws_calls.book()
    faults = [
        f"{token}: in the table, but without a row in aws/calls" for token in sorted(table_types() - book.types.keys())
    ]
    types: dict[str, Any] = {}
    for token, row in sorted(book.types.items()):
        properties = sdk_shapes.inputs_of(token)
        merged = aws_calls.merge(row, properties)
        faults += [
            f"{token}: {path}: neither a member of {', '.join(row.calls)} nor listed in local" for path in merged.loose
        ]
        faults += [f"{token}: {path}: in rename or local, but no such property" for path in sorted(merged.unused)]
        faults += [f"{token}: {fault}" for rule in row.rules for fault in rule_faults(rule, properties)]
        tags = [{"form": {path: "tags"}, "at": place, **_TAGS} for place, path in _tag_maps(properties)]
        types[token] = {
            "properties": properties,
            "outputs": sdk_shapes.outputs_of(token),
            **_unless_empty("rules", [*row.rules, *tags]),
            **_unless_empty("secrets", sdk_shapes.secrets_of(token)),
            **_unless_empty("replaced_on", sdk_shapes.replace_on_changes_of(token)),
        }
    if faults:
        raise Unfit("\n".join(faults))
    return _text(types)


_TAGS = {
    "source": "docs.aws.amazon.com/tag-editor/latest/userguide/best-practices-and-strats.html",
    "evidence": "documented",
}


def table_types() -> set[str]:
    """Every type of the simulated cloud's table."""
    return {
        token
        for path in sorted(TABLE.glob("*.yaml"))
        for token in yaml.safe_load(path.read_text()) or ()
        if ":" in token
    }


def _unless_empty(key: str, value: list[Any]) -> dict[str, Any]:
    return {key: value} if value else {}


def _text(types: Mapping[str, Any]) -> str:
    made = {"pulumi_aws": importlib.metadata.version("pulumi_aws"), "botocore": importlib.metadata.version("botocore")}
    lines = (
        f"{json.dumps(token)}: {json.dumps(one, sort_keys=True, separators=(',', ':'))}" for token, one in types.items()
    )
    keys = json.dumps(sdk_shapes.provider_keys())
    return (
        f'{{"made_from": {json.dumps(made, sort_keys=True)},\n"provider": {keys},\n"types": {{\n'
        + ",\n".join(lines)
        + "\n}}\n"
    )


def _tag_maps(properties: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, str]]:
    """(place, name) of each map of tags, wherever it stands."""
    for name, shape in properties.items():
        if shape["type"] == "map" and name in ("tags", "resourceTags"):
            yield place, name
        inner = shape["items"] if shape["type"] == "list" else shape
        if "properties" in inner:
            mark = "[*]" if shape["type"] == "list" else ""
            yield from _tag_maps(inner["properties"], f"{place}.{name}{mark}".lstrip("."))


def rule_faults(rule: Mapping[str, Any], properties: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with a row of rules: its words, its evidence, paths that name no property, unknown forms."""
    demands = rule.keys() & rules.DEMANDS.keys()
    if len(demands) != 1 or rule.keys() - demands - _ROW_WORDS:
        yield f"rule {dict(rule)}: one demand of {', '.join(rules.DEMANDS)} and {', '.join(sorted(_ROW_WORDS))}"
        return
    if not rule.get("source") or rule.get("evidence") not in _EVIDENCE:
        yield f"rule {dict(rule)}: needs a source, and evidence of {', '.join(sorted(_EVIDENCE))}"
    demand = rule[demands.pop()]
    paths = [
        *demand,
        *rule.get("where", ()),
        *(path for wanted in rule.get("requires", {}).values() for path in wanted),
    ]
    for path in paths:
        full = f"{rule['at']}.{path}" if rule.get("at") else path
        if not _exists(full, properties):
            yield f"rule: {full}: no such property"
    words = demand.values() if "form" in rule else ()
    yield from (f"rule: {word}: no such form" for word in words if word not in forms.FORMS)
    for key in ("pattern", "unlike"):
        for pattern in rule.get(key, {}).values():
            re.compile(pattern)


def _exists(path: str, properties: Mapping[str, Any]) -> bool:
    *above, last = path.split(".")
    for part in above:
        shape = properties.get(part.removesuffix("[*]"), {})
        inner = shape.get("items", {}) if part.endswith("[*]") else shape
        properties = inner.get("properties", {})
    shape = properties.get(last.removesuffix("[*]"), {})
    return shape.get("type") == "list" if last.endswith("[*]") else bool(shape)


if __name__ == "__main__":
    sys.exit(main())
