"""Generate `<cloud>/schema.json`: what validate.py checks by. Needs the clouds' SDKs and models; checking needs none.

    python -m gpufleet_rehearsal.inputs.sdk_schema           write them (of all clouds, or of those named)
    python -m gpufleet_rehearsal.inputs.sdk_schema --check   exit 1 if a committed file differs

Per type: the SDK's input shapes (sdk_shapes), merged with what the cloud's own models of the call demand (aws_calls,
azure_models), the rows of `rules`, and the names of the outputs. One type per line, keys sorted, so that a diff shows
what changed. One process reads one cloud's SDK: `python -m` starts itself for each.
"""

import argparse
import importlib
import importlib.metadata
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from gpufleet_rehearsal.inputs import call_table, formats, rules, sdk_shapes
from gpufleet_rehearsal.inputs.validate import schema_file

MODELS = {"aws": "aws_calls", "azure-native": "azure_models"}
"""Cloud -> the module here that reads its models of calls."""
JUDGED = {
    # A provider of the Terraform bridge coerces plain values, and leaves empty texts out; Azure's sends what it gets.
    "aws": {},
    "azure-native": {"strict": True},
}

_ROW_WORDS = {"at", "where", "says", "source", "evidence"}
_EVIDENCE = {"observed", "documented", "assumed"}
_TAGS = {
    "aws": {
        "form": "tags",
        "source": "docs.aws.amazon.com/tag-editor/latest/userguide/best-practices-and-strats.html",
    },
    "azure-native": {
        "form": "azure-tags",
        "source": "learn.microsoft.com/azure/azure-resource-manager/management/tag-resources",
    },
}


class SchemaMismatch(Exception):
    """The data of calls/ does not fit the SDK or the models; the text has one line per fault."""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m gpufleet_rehearsal.inputs.sdk_schema", description="Generate the clouds' schema.json."
    )
    parser.add_argument("clouds", nargs="*", choices=[*MODELS, []], default=[], metavar="CLOUD")
    parser.add_argument("--check", action="store_true", help="exit 1 if a committed file differs")
    given = parser.parse_args(arguments)
    clouds = given.clouds or list(MODELS)
    if len(clouds) > 1:
        flags = ["--check"] if given.check else []
        ours = [sys.executable, "-m", "gpufleet_rehearsal.inputs.sdk_schema"]
        return max(subprocess.run([*ours, *flags, cloud], check=False).returncode for cloud in clouds)
    return _write(clouds[0], given.check)


def _write(cloud: str, check: bool) -> int:
    file = schema_file(cloud)
    try:
        text = generate(cloud)
    except (SchemaMismatch, sdk_shapes.UnknownSdkType) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if check and (not file.is_file() or file.read_text() != text):
        sys.stderr.write(
            f"{file.name}: not what the SDK and {cloud}/calls give; "
            "run python -m gpufleet_rehearsal.inputs.sdk_schema\n"
        )
        return 1
    if not check:
        file.write_text(text)
        sys.stdout.write(f"{file}: {len(call_table.call_table(cloud).types)} types, {len(text) // 1024} KiB\n")
    return 0


def generate(cloud: str) -> str:
    """The file's text; SchemaMismatch if a type, property, call, rule or form does not exist."""
    models, table = importlib.import_module(f"{__package__}.{MODELS[cloud]}"), call_table.call_table(cloud)
    faults = [
        f"{token}: in the table, but without a row in {cloud}/calls"
        for token in sorted(table_types(cloud) - table.types.keys())
    ]
    types: dict[str, Any] = {}
    for token, row in sorted(table.types.items()):
        properties = sdk_shapes.inputs_of(token)
        merged = models.merge(row, properties)
        faults += [
            f"{token}: {path}: neither a member of {', '.join(row.calls)} nor listed in local" for path in merged.loose
        ]
        faults += [f"{token}: {path}: in rename or local, but no such property" for path in sorted(merged.unused)]
        faults += [f"{token}: {fault}" for rule in row.rules for fault in rule_faults(rule, properties)]
        _close_enums(token.split(":")[1], properties, table.open_enums)
        types[token] = {
            "properties": properties,
            "outputs": sdk_shapes.outputs_of(token),
            **_unless_empty("rules", [*row.rules, *_tag_rules(cloud, properties)]),
            **_unless_empty("secrets", sdk_shapes.secrets_of(token)),
            **_unless_empty("replaced_on", sdk_shapes.replace_on_changes_of(token)),
        }
    if faults:
        raise SchemaMismatch("\n".join(faults))
    return _text(cloud, types, models.MADE_FROM)


def _tag_rules(cloud: str, properties: Mapping[str, Any]) -> list[dict[str, Any]]:
    rule = _TAGS[cloud]
    return [
        {"form": {path: rule["form"]}, "at": place, "source": rule["source"], "evidence": "documented"}
        for place, path in _tag_maps(properties)
    ]


def _close_enums(module: str, properties: Mapping[str, Any], opened: Mapping[str, str]) -> None:
    """Take the SDK's enums out of shapes where values beyond them are legal; their names go in any case."""
    for shape in properties.values():
        for each in (shape, shape.get("items", {})):
            if f"{module}.{each.pop('enum_name', '')}" in opened:
                del each["enum"]
            _close_enums(module, each.get("properties", {}), opened)


def table_types(cloud: str) -> set[str]:
    """Every type of the simulated cloud's table that a program can make."""
    return {
        token
        for path in sorted((schema_file(cloud).parent / "types").glob("*.yaml"))
        for token, row in (yaml.safe_load(path.read_text()) or {}).items()
        if ":" in token and not row.get("hidden")
    }


def _unless_empty(key: str, value: list[Any]) -> dict[str, Any]:
    return {key: value} if value else {}


def _text(cloud: str, types: Mapping[str, Any], made_from: tuple[str, ...]) -> str:
    made = {name: importlib.metadata.version(name) for name in made_from}
    lines = (
        f"{json.dumps(token)}: {json.dumps(one, sort_keys=True, separators=(',', ':'))}" for token, one in types.items()
    )
    keys = json.dumps(sdk_shapes.provider_keys(cloud))
    judged = "".join(f"{json.dumps(key)}: {json.dumps(value)},\n" for key, value in JUDGED[cloud].items())
    return (
        f'{{"made_from": {json.dumps(made, sort_keys=True)},\n"provider": {keys},\n{judged}"types": {{\n'
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
    yield from (f"rule: {word}: no such form" for word in words if word not in formats.FORMATS)
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
