"""The output of `pulumi preview --json`: of a text as large as a state only what is named here becomes objects."""

from typing import Any

import msgspec

from gpufleet.documents.json import check_shape, parse_json
from gpufleet.report.preview import Diagnostic, InvalidPreview, Preview, PreviewStep, ResourceState

_FIX = "give the output of `pulumi preview --json`"


class _Step(msgspec.Struct, rename="camel"):
    op: str
    urn: str
    old_state: ResourceState | None = None
    new_state: ResourceState | None = None
    detailed_diff: dict[str, Any] | None = None
    diff_reasons: list[str] | None = None
    replace_reasons: list[str] | None = None


class _Diagnostic(msgspec.Struct):
    severity: str
    message: str = ""
    urn: str = ""


class _Document(msgspec.Struct, rename="camel"):
    steps: list[_Step] | None = None
    diagnostics: list[_Diagnostic] | None = None
    config: dict[str, Any] | None = None
    change_summary: dict[str, int] | None = None


def read_preview_json(text: bytes, file: str) -> Preview:
    """The preview in a text. Errors: DocumentError, InvalidPreview."""
    return _preview(parse_json(text, file, _FIX, shape=_Document), file)


def parse_preview(document: object, file: str) -> Preview:
    """The preview in a parsed document. Errors: DocumentError, InvalidPreview."""
    return _preview(check_shape(document, _Document, file, _FIX), file)


def _preview(document: _Document, file: str) -> Preview:
    if document.steps is None and document.diagnostics is None:
        raise InvalidPreview(f"{file}: no steps in it; give the output of `pulumi preview --json --show-sames`")
    preview = Preview(file, steps=[_step(step) for step in document.steps or ()], config=document.config or {})
    for each in document.diagnostics or ():
        if each.severity in ("error", "warning"):
            preview.diagnostics.append(
                Diagnostic(each.urn, each.severity, each.message.removeprefix(f"{each.severity}: "))
            )
    counted = (document.change_summary or {}).get("same", 0)
    preview.left_out = max(0, counted - sum(step.op == "same" for step in preview.steps))
    preview.ended = not any(each.severity == "error" for each in preview.diagnostics)
    return preview


def _step(step: _Step) -> PreviewStep:
    new = step.new_state or None
    return PreviewStep(
        op=step.op,
        urn=step.urn,
        old=new if step.op == "same" else step.old_state or None,
        new=new,
        diff=step.detailed_diff,
        reasons=step.diff_reasons or (),
        replaces=step.replace_reasons or (),
    )
