"""What counts as found in a scanner's report, and what is no report at all."""

import json
from pathlib import Path
from typing import Any

import pytest

from gpufleet.errors import UserError
from gpufleet.images.mirror.scan_report import read_report


def sarif(*results: dict[str, Any], rules: list[dict[str, Any]] | None = None, **run: object) -> dict[str, Any]:
    driver = {"name": "scanner", "rules": rules or []}
    return {"version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": list(results), **run}]}


def figure(value: object) -> dict[str, Any]:
    return {"id": "CVE-1", "properties": {"security-severity": value}}


def cyclonedx(*found: dict[str, Any]) -> dict[str, Any]:
    return {"bomFormat": "CycloneDX", "vulnerabilities": [{"id": "CVE-1", **each} for each in found]}


ONE = {"ruleId": "CVE-1"}
FOUND = {
    "nothing": (sarif(), []),
    "figure of the rule": (sarif(ONE, rules=[figure("9.0")]), ["critical"]),
    "next to it": (sarif(ONE, rules=[figure("8.9")]), ["high"]),
    "medium": (sarif(ONE, rules=[figure(4.0)]), ["medium"]),
    "low": (sarif(ONE, rules=[figure("3.9")]), ["low"]),
    "figure of zero says nothing": (sarif(ONE, rules=[figure("0.0")]), ["unknown"]),
    "figure of the result wins": (
        sarif(ONE | {"properties": {"security-severity": "5"}}, rules=[figure("9")]),
        ["medium"],
    ),
    "rule by index": (sarif({"ruleIndex": 0}, rules=[figure("7.0")]), ["high"]),
    "level": (sarif(ONE | {"level": "error"}), ["high"]),
    "level of the rule": (sarif(ONE, rules=[{"id": "CVE-1", "defaultConfiguration": {"level": "note"}}]), ["low"]),
    "neither": (sarif(ONE), ["unknown"]),
    "passed": (sarif(ONE | {"kind": "pass"}), []),
    "suppressed": (sarif(ONE | {"suppressions": [{"kind": "external"}]}), []),
    "suppression not accepted": (sarif(ONE | {"suppressions": [{"status": "rejected"}], "level": "note"}), ["low"]),
    "worst of two packages": (sarif(ONE | {"level": "note"}, ONE | {"level": "error"}), ["high"]),
    "no vulnerabilities": (cyclonedx(), []),
    "rating": (cyclonedx({"ratings": [{"severity": "low"}, {"severity": "critical"}]}), ["critical"]),
    "no rating": (cyclonedx({}), ["unknown"]),
    "unknown rating": (cyclonedx({"ratings": [{"severity": "unknown"}]}), ["unknown"]),
    "not affected": (cyclonedx({"analysis": {"state": "not_affected"}}), []),
    "exploitable": (cyclonedx({"analysis": {"state": "exploitable"}, "ratings": [{"severity": "high"}]}), ["high"]),
}


@pytest.mark.parametrize("name", FOUND)
def test_severities(name: str, tmp_path: Path) -> None:
    content, severities = FOUND[name]
    (tmp_path / "report.json").write_text(json.dumps(content))
    found = read_report(tmp_path / "report.json").found
    assert [each.severity for each in found] == severities
    assert all(each.id == "CVE-1" for each in found)


NO_REPORT = {
    "no JSON": ("<sarif/>", "is not JSON"),
    "something else": ("{}", "must be SARIF 2.1.0 or CycloneDX"),
    "no run": (json.dumps({"version": "2.1.0", "runs": []}), "has no run, so nothing was scanned"),
    "no results": (json.dumps(sarif() | {"runs": [{"tool": {"driver": {}}}]}), "a run without results"),
    "failed": (json.dumps(sarif(invocations=[{"executionSuccessful": False}])), "the scanner reports that it failed"),
    "an SBOM": (json.dumps({"bomFormat": "CycloneDX", "components": []}), "is an SBOM and not a scan"),
    "broken": (json.dumps(sarif({})), "does not match its format"),
}


@pytest.mark.parametrize("name", NO_REPORT)
def test_what_says_that_nothing_was_scanned_never_passes(name: str, tmp_path: Path) -> None:
    text, words = NO_REPORT[name]
    (tmp_path / "report.json").write_text(text)
    with pytest.raises(UserError, match=r"report\.json: ") as raised:
        read_report(tmp_path / "report.json")
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)
