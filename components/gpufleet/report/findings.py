"""Findings of our rules, of policy packs, and of the preview itself."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from gpufleet.cost.estimate import Estimate
from gpufleet.plan.resource import Plan
from gpufleet.policies.cost import read_limits, validate_estimate
from gpufleet.policies.feasibility import validate_feasibility
from gpufleet.policies.ownership import validate_ownership
from gpufleet.report.model import Issue, SuppressionRecord
from gpufleet.report.preview import Diagnostic, PolicyViolation, Preview
from gpufleet.report.redaction import mask_secrets
from gpufleet.rules.resource_finding import ResourceFinding
from gpufleet.rules.rule import Severity, Status
from gpufleet.rules.suppression import Suppression, SuppressionError, read_suppressions, suppression_of

POLICIES = ("zones", "cost", "ownership")
OWN_PACKS = ("gpufleet-zones", "gpufleet-cost")
PREVIEW = "preview"
OWN_SOURCES = ("gpufleet", *OWN_PACKS)
"""Sources of findings that can also be checked against the state before."""

_LINE = re.compile(
    r"(?P<resource>\S.*?): (?P<text>.+) \[(?P<rule>[a-z][a-z0-9]*(-[a-z0-9]+)+)\]"
    r"( \(suppressed until (?P<until>\d{4}-\d{2}-\d{2}): (?P<reason>.*)\))?"
)
_LEVELS: Mapping[str, Literal["error", "warning"]] = {"mandatory": "error"}
_WEIGHT = {"error": 0, "warning": 1, "info": 2}


@dataclass(frozen=True, slots=True)
class RuleResults:
    """The findings of our rules on one plan. passed: number of checks that passed."""

    issues: Sequence[Issue]
    passed: int


def validate_plan(
    plan: Plan, estimate: Estimate, config: Mapping[str, Mapping[str, object]], suppress: object, today: date
) -> RuleResults:
    """Check a plan by our rules. config: by policy, as in the packs. suppress: the stack's own suppressions.

    Errors: UserError for an invalid policy configuration.
    """
    zones, spent, owned = (_without_suppress(config.get(name, {})) for name in POLICIES)
    judged = [
        *validate_feasibility(plan, zones),
        *validate_estimate(plan, estimate, read_limits(plan.stack, spent)),
        *validate_ownership(plan, owned, today),
    ]
    places = [(suppress, "gpufleet:suppress")]
    places += [(config.get(name, {}).get("suppress"), f"{name}.suppress") for name in POLICIES]
    covered: list[Suppression] = []
    faults: list[Issue] = []
    for entries, where in places:
        try:
            covered += read_suppressions(entries, where, today)
        except SuppressionError as error:
            faults += [_fault(plan.stack, line) for line in str(error).splitlines()]
    found = [_issue(each, suppression_of(each.resource, each.finding, covered)) for each in judged if _weighs(each)]
    passed = sum(each.finding.status is Status.PASS for each in judged)
    return RuleResults(sort_findings([*faults, *found]), passed)


def _without_suppress(config: Mapping[str, object]) -> Mapping[str, object]:
    return {key: value for key, value in config.items() if key != "suppress"}


def _weighs(judged: ResourceFinding) -> bool:
    """Advice that is not verified says nothing."""
    status = judged.finding.status
    return status is Status.FAIL or (status is Status.UNVERIFIED and judged.finding.severity is not Severity.INFO)


def _issue(judged: ResourceFinding, entry: Suppression | None) -> Issue:
    finding = judged.finding
    return Issue(
        resource=judged.resource,
        urn=judged.urn,
        rule=finding.rule,
        severity=finding.severity.value,
        status="fail" if finding.status is Status.FAIL else "unverified",
        line=mask_secrets(finding.line(judged.resource)),
        fix=mask_secrets(finding.fix),
        source="gpufleet",
        known=None,
        suppressed=SuppressionRecord(mask_secrets(entry.reason), entry.expires.isoformat()) if entry else None,
    )


def _fault(stack: str, line: str) -> Issue:
    """An entry among the suppressions that does not hold: nothing is suppressed by it."""
    text = line.removesuffix(" [config-suppression]")
    return Issue(stack, "", "config-suppression", "error", "fail", line, _fix(text), "gpufleet", None, None)


def preview_findings(preview: Preview) -> list[Issue]:
    """Violations that policy packs reported, and errors and warnings of the program or a provider."""
    violations = [_violation(each, preview.secrets) for each in preview.violations]
    said = [issue for each in preview.diagnostics for issue in _said(each, preview)]
    return sort_findings([*said, *violations])


def _violation(violation: PolicyViolation, secrets: set[str]) -> Issue:
    lines = [line.strip() for line in violation.message.splitlines() if line.strip()]
    text = mask_secrets(lines[-1] if lines else violation.policy, secrets)
    severity = _LEVELS.get(violation.level, "warning")
    name = violation.urn.rsplit("::", 1)[-1]
    match = _LINE.fullmatch(text)
    if match is None:
        # Somebody else's policy: its message may have several lines.
        text = mask_secrets(" ".join(lines) or violation.policy, secrets)
        rule = f"{violation.pack}/{violation.policy}"
        return Issue(name, violation.urn, rule, severity, "fail", text, "", violation.pack, None, None)
    until, reason = match["until"], match["reason"]
    return Issue(
        resource=match["resource"],
        urn=violation.urn,
        rule=match["rule"],
        severity=severity,
        status="unverified" if "not verified: " in match["text"] else "fail",
        line=text.partition(" (suppressed until ")[0] if until else text,
        fix=_fix(match["text"]),
        source=violation.pack,
        known=None,
        suppressed=SuppressionRecord(reason, until) if until else None,
    )


def _said(said: Diagnostic, preview: Preview) -> Iterable[Issue]:
    if said.severity == "error" and said.message.strip() == "preview failed":
        return
    severity: Literal["error", "warning"] = "error" if said.severity == "error" else "warning"
    name = said.urn.rsplit("::", 1)[-1] or preview.name[1]
    lines = [" ".join(mask_secrets(line, preview.secrets).split()) for line in said.message.splitlines()]
    lines = [line for line in lines if line]
    ours = [issue for line in lines if (issue := violation_in(line, severity))]
    yield from (replace(each, urn=said.urn) for each in ours)
    if not ours and lines:
        yield Issue(name, said.urn, PREVIEW, severity, "fail", " ".join(lines), "", PREVIEW, None, None)


def violation_in(line: str, severity: Literal["error", "warning"]) -> Issue | None:
    """The finding in a line that one of our components wrote; None for any other line."""
    if (match := _LINE.fullmatch(line)) is None:
        return None
    status: Literal["fail", "unverified"] = "unverified" if "not verified: " in match["text"] else "fail"
    fix = _fix(match["text"])
    return Issue(match["resource"], "", match["rule"], severity, status, match[0], fix, PREVIEW, None, None)


def _fix(text: str) -> str:
    return text.rpartition("; ")[2] if "; " in text else ""


def merge_findings(ours: Sequence[Issue], others: Sequence[Issue], packs: Sequence[str]) -> list[Issue]:
    """Both lists without duplicates. If one of our packs ran, its findings replace ours."""
    mine = [] if any(pack in OWN_PACKS for pack in packs) else ours
    seen: set[tuple[str, str]] = set()
    found = []
    for each in (*mine, *others):
        if (key := (each.rule, each.line)) not in seen:
            seen.add(key)
            found.append(each)
    placed = {(each.rule, _text(each)): each.resource for each in found if each.urn}
    return sort_findings(each for each in found if not _is_told_of_part(each, placed))


def _is_told_of_part(issue: Issue, placed: Mapping[tuple[str, str], str]) -> bool:
    """Whether a component's finding is there again, word for word, of the resource that the component makes."""
    part = placed.get((issue.rule, _text(issue)), "")
    return not issue.urn and part.startswith(f"{issue.resource}-")


def _text(issue: Issue) -> str:
    return issue.line.removeprefix(f"{issue.resource}: ")


def sort_findings(issues: Iterable[Issue]) -> list[Issue]:
    """Rejections first, then by rule and resource, so the same plan gives the same list."""
    return sorted(
        issues, key=lambda each: (_WEIGHT[each.severity], each.status != "fail", each.rule, each.resource, each.line)
    )
