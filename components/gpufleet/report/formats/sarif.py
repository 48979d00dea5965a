"""The report as SARIF 2.1.0, for code scanning: one run for each stack, so that one stack's upload replaces its own.

Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html; what GitHub reads of it:
https://docs.github.com/en/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from gpufleet.report.config_lines import KeyLines, line_of
from gpufleet.report.model import Issue, Report, StackReport
from gpufleet.rules.rule import all_rules

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}


def render_sarif(report: Report, files: Mapping[str, str], lines: Mapping[str, KeyLines] | None = None) -> str:
    """files: stack name (project/stack) -> its configuration file, relative to the repository's root. lines: in it."""
    known = lines or {}
    log = {
        "$schema": SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            _run(report, stack, files.get(stack.name, f"Pulumi.{stack.stack}.yaml"), known.get(stack.name, {}))
            for stack in report.stacks
        ],
    }
    return json.dumps(log, ensure_ascii=False) + "\n"


def _run(report: Report, stack: StackReport, file: str, lines: KeyLines) -> dict[str, Any]:
    names = list(dict.fromkeys(issue.rule for issue in stack.issues))
    driver = {"name": "gpufleet", "version": report.footer.gpufleet, "rules": [_rule(name) for name in names]}
    return {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"gpufleet/{stack.name}/"},
        "invocations": [{"executionSuccessful": stack.verdict != "failed"}],
        "results": [_result(stack, issue, names.index(issue.rule), file, lines) for issue in stack.issues],
    }


def _rule(name: str) -> dict[str, Any]:
    rule = {each.name: each for each in all_rules()}.get(name)
    if rule is None:
        said = "What the preview or somebody else's policy pack says."
        return {"id": name, "shortDescription": {"text": said}, "help": {"text": said}}
    return {
        "id": name,
        "shortDescription": {"text": rule.sentence},
        "help": {
            "text": f"{rule.sentence} Source: {rule.source}",
            "markdown": f"{rule.sentence}\n\nSource: {rule.source}\n\nSee {rule.anchor}.",
        },
        "defaultConfiguration": {"level": _LEVELS[rule.severity.value]},
    }


def _result(stack: StackReport, issue: Issue, index: int, file: str, lines: KeyLines) -> dict[str, Any]:
    key = f"{stack.name}|{issue.rule}|{issue.urn or issue.resource}"
    result: dict[str, Any] = {
        "ruleId": issue.rule,
        "ruleIndex": index,
        # What is not verified refuses nothing, whatever the rule's severity.
        "level": _LEVELS[issue.severity] if issue.status == "fail" else "note",
        "message": {"text": issue.line},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": file},
                    "region": {"startLine": line_of(stack, issue, lines)},
                },
                "logicalLocations": [{"name": issue.resource, "fullyQualifiedName": issue.urn or stack.name}],
            }
        ],
        "partialFingerprints": {"gpufleet/v1": hashlib.sha256(key.encode()).hexdigest()[:32]},
    }
    if issue.suppressed is not None:
        said = f"until {issue.suppressed.until}: {issue.suppressed.reason}"
        result["suppressions"] = [{"kind": "external", "justification": said}]
    return result
