"""Previews made up for one test each, in the engine's shapes."""

import json
from pathlib import Path
from typing import Any

STACK = "dev"
PROJECT = "billing"


def urn(kind: str, name: str) -> str:
    return f"urn:pulumi:{STACK}::{PROJECT}::{kind}::{name}"


def state(kind: str, name: str, inputs: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"urn": urn(kind, name), "custom": True, "type": kind, "inputs": inputs, **more}


def step(op: str, kind: str, name: str, old: Any = None, new: Any = None, **more: Any) -> dict[str, Any]:
    """old, new: inputs; those of the state go into `old_state` and `new_state`."""
    sides = {}
    for word, inputs in (("oldState", old), ("newState", new)):
        if inputs is not None:
            sides[word] = state(kind, name, inputs, **more.pop(f"{word}s", {}))
    return {"op": op, "urn": urn(kind, name), **sides, **more}


def document(*steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"config": {"aws:region": "us-east-1"}, "steps": list(steps), "diagnostics": [], "changeSummary": {}, **more}


def written(folder: Path, document: dict[str, Any], name: str = "preview.json") -> Path:
    """As the engine writes it: indented by four blanks."""
    file = folder / name
    file.write_text(json.dumps(document, indent=4) + "\n")
    return file
