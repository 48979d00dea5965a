"""The report as JSON, and the schema of that."""

import json
from typing import Any

import msgspec

from gpufleet.report.model import Report


def render_json(report: Report) -> str:
    """The whole report, as `schema.json` describes it."""
    return msgspec.json.format(msgspec.json.encode(report), indent=2).decode() + "\n"


def schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of a report, made from its classes: nothing is optional, nothing else allowed."""
    from pydantic import TypeAdapter

    made = TypeAdapter(Report).json_schema(mode="serialization")
    for each in (made, *made["$defs"].values()):
        if each.get("type") == "object":
            each["additionalProperties"] = False
            each["required"] = sorted(each["properties"])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": "Generated from components/gpufleet/report/model.py by tools/generate.py.",
        **made,
    }


def schema_text() -> str:
    return json.dumps(schema(), indent=2, sort_keys=True) + "\n"
