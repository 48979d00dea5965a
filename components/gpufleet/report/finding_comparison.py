"""Which findings are new, which were there before, and which are gone."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from gpufleet.report.changes import OPERATIONS
from gpufleet.report.findings import OWN_SOURCES, PREVIEW, sort_findings, violation_in
from gpufleet.report.model import Issue
from gpufleet.report.preview import Preview
from gpufleet.report.redaction import mask_secrets

Key = tuple[str, str, str]
"""Rule, resource, status: by this a finding is the same before and after, whatever figures its text has."""


@dataclass(frozen=True)
class FindingsBefore:
    """What is known of the findings before a change.

    judged: what our rules say of the state before, None where there is none to check. now: all that is found after the
    change, before what is there twice is left out. said: what the base's program and providers said when the base was
    deployed, None where that is not known. untouched: names of resources and components of which, with all that is in
    them, nothing changes.
    """

    judged: Sequence[Issue] | None = None
    now: Sequence[Issue] = ()
    said: Sequence[Issue] | None = None
    untouched: Collection[str] = field(default_factory=frozenset)

    @property
    def compared(self) -> bool:
        """Whether there is anything to compare with."""
        return self.judged is not None or self.said is not None


def mark_known(issues: Sequence[Issue], before: FindingsBefore) -> list[Issue]:
    """The findings, each with whether it was there before; None where that is not known."""
    if not before.compared:
        return list(issues)
    return [replace(each, known=_known(each, before)) for each in issues]


def _known(issue: Issue, before: FindingsBefore) -> bool | None:
    if issue.source in OWN_SOURCES:
        return None if before.judged is None else _key(issue) in map(_key, before.judged)
    if issue.source == PREVIEW and before.said is not None:
        if issue.rule == PREVIEW:
            return any(each.line == issue.line for each in before.said)
        return _key(issue) in map(_key, before.said)
    # Arguments of a component are in no state, and other policies cannot be asked again: what changes nothing of a
    # resource leaves its findings.
    return True if issue.resource in before.untouched else None


def gone_findings(issues: Sequence[Issue], before: FindingsBefore) -> list[Issue]:
    """The findings before that are there no more, without advice.

    Both sides are judged alike: a policy pack that did not run, or has another configuration, makes nothing disappear.
    """
    now = {_key(each) for each in (*issues, *before.now)}
    earlier = [*(before.judged or ()), *(each for each in before.said or () if each.rule != PREVIEW)]
    found = {_key(each): each for each in earlier if each.severity != "info" and each.suppressed is None}
    return sort_findings(each for key, each in found.items() if key not in now)


def _key(issue: Issue) -> Key:
    return issue.rule, issue.resource, issue.status


def untouched_names(preview: Preview) -> frozenset[str]:
    """Names of which every resource that has them, and all that is in it, stays as it is."""
    parents, changed = {}, set()
    for step in preview.steps:
        state = step.new or step.old
        parents[step.urn] = state.get("parent", "") if state is not None else ""
        if step.op in OPERATIONS:
            changed.add(step.urn)
    touched = set()
    for urn in changed:
        while urn and urn not in touched:
            touched.add(urn)
            urn = parents.get(urn, "")
    names = {urn.rsplit("::", 1)[-1] for urn in touched}
    return frozenset(name for urn in parents if (name := urn.rsplit("::", 1)[-1]) not in names)


def said_in_log(lines: Sequence[str], secrets: set[str]) -> list[Issue]:
    """Our warnings in the output of `pulumi up`, one line each."""
    return list(_said(lines, secrets))


def _said(lines: Sequence[str], secrets: set[str]) -> Iterator[Issue]:
    for line in lines:
        _, warning, said = line.partition("warning: ")
        text = " ".join(mask_secrets(said, secrets).split())
        if warning and text:
            yield violation_in(text, "warning") or Issue(
                "", "", PREVIEW, "warning", "fail", text, "", PREVIEW, None, None
            )
