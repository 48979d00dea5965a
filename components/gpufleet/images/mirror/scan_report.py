"""What a scanner has found, read from SARIF or CycloneDX.

Sources: docs.oasis-open.org/sarif/sarif/v2.1.0 (3.27 result, 3.49 reportingDescriptor); cyclonedx.org/docs/1.6/json
(vulnerabilities). The figure `security-severity` and its steps: docs.github.com, SARIF support for code scanning.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpufleet.documents.json import read_json
from gpufleet.errors import UserError

SEVERITIES = ("none", "low", "medium", "high", "critical")
"""In rising order; beside them there is `unknown`."""
_STEPS = ((9.0, "critical"), (7.0, "high"), (4.0, "medium"), (0.1, "low"))
_OF_LEVEL = {"error": "high", "warning": "medium", "note": "low", "none": "none"}
"""Where a SARIF result has no figure: as scanners of images turn their severities into levels (Trivy, Grype)."""
_OF_CYCLONEDX = {"info": "none", **{each: each for each in SEVERITIES}}
_NOT_AFFECTED = ("not_affected", "false_positive", "resolved", "resolved_with_pedigree")


@dataclass(frozen=True)
class Vulnerability:
    """id: as the scanner calls it, for instance CVE-2024-3094. severity: of SEVERITIES, or unknown."""

    id: str
    severity: str


@dataclass(frozen=True)
class ScanReport:
    """format: sarif or cyclonedx."""

    format: str
    found: tuple[Vulnerability, ...]


def read_report(file: Path) -> ScanReport:
    """Errors: UserError for a file that is neither, or that says that nothing was scanned."""
    content = read_json(file, "let the scanner write SARIF or CycloneDX")
    try:
        if isinstance(content, dict) and content.get("version") == "2.1.0" and "runs" in content:
            return ScanReport("sarif", tuple(_once(_of_sarif(content, file))))
        if isinstance(content, dict) and content.get("bomFormat") == "CycloneDX":
            return ScanReport("cyclonedx", tuple(_once(_of_cyclonedx(content, file))))
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        raise UserError(f"report={file}: does not match its format: {type(error).__name__} {error}") from error
    raise UserError(f"report={file}: must be SARIF 2.1.0 or CycloneDX JSON; let the scanner write one of them")


def _once(found: Iterator[Vulnerability]) -> list[Vulnerability]:
    """One for each id, the worst: a scanner tells one for every package that has it. Unknown counts above all."""
    order = (*SEVERITIES, "unknown")
    worst: dict[str, Vulnerability] = {}
    for each in found:
        known = worst.get(each.id)
        if known is None or order.index(each.severity) > order.index(known.severity):
            worst[each.id] = each
    return sorted(worst.values(), key=lambda each: (-order.index(each.severity), each.id))


def _of_sarif(content: Mapping[str, Any], file: Path) -> Iterator[Vulnerability]:
    if not content["runs"]:
        raise UserError(f"report={file}: has no run, so nothing was scanned; see the scanner's output")
    for run in content["runs"]:
        if any(each.get("executionSuccessful") is False for each in run.get("invocations") or ()):
            raise UserError(f"report={file}: the scanner reports that it failed; see its output")
        if run.get("results") is None:
            raise UserError(f"report={file}: has a run without results, so nothing was scanned")
        rules = run["tool"]["driver"].get("rules") or []
        by_id = {rule["id"]: rule for rule in rules}
        for result in run["results"]:
            if result.get("kind", "fail") != "fail" or _suppressed(result):
                continue
            index = result.get("ruleIndex", -1)
            rule = rules[index] if 0 <= index < len(rules) else by_id.get(result.get("ruleId"), {})
            yield Vulnerability(str(result.get("ruleId") or rule["id"]), _sarif_severity(result, rule))


def _suppressed(result: Mapping[str, Any]) -> bool:
    return any(each.get("status", "accepted") == "accepted" for each in result.get("suppressions") or ())


def _sarif_severity(result: Mapping[str, Any], rule: Mapping[str, Any]) -> str:
    for holder in (result, rule):
        figure = (holder.get("properties") or {}).get("security-severity")
        if figure is not None:
            return next((name for least, name in _STEPS if float(figure) >= least), "unknown")
    level = result.get("level") or (rule.get("defaultConfiguration") or {}).get("level")
    return _OF_LEVEL.get(str(level), "unknown")


def _of_cyclonedx(content: Mapping[str, Any], file: Path) -> Iterator[Vulnerability]:
    if content.get("vulnerabilities") is None:
        raise UserError(
            f"report={file}: has no `vulnerabilities`, so it is an SBOM and not a scan; "
            "let the scanner report vulnerabilities"
        )
    for each in content["vulnerabilities"]:
        if (each.get("analysis") or {}).get("state") in _NOT_AFFECTED:
            continue
        said = {_OF_CYCLONEDX.get(rating.get("severity"), "unknown") for rating in each.get("ratings") or ()}
        known = [name for name in SEVERITIES if name in said]
        yield Vulnerability(str(each["id"]), known[-1] if known else "unknown")
