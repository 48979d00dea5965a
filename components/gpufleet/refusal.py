"""From findings to what Pulumi shows: one error with every line, or warnings; and what the stack has suppressed."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from datetime import date

import pulumi
from pulumi.errors import InputPropertiesError, InputPropertyErrorDetails, RunError

from gpufleet.rules.judged import Judged
from gpufleet.rules.rule import Finding, Severity, Status
from gpufleet.rules.suppression import Suppression, SuppressionError, read_suppressions, suppression_of
from gpufleet.stopping import stop_is_asked

SUPPRESS = "gpufleet:suppress"
"""Key of the stack's configuration: a list of `SuppressionArgs`."""
_SPELLING: ContextVar[Callable[[Finding], Finding]] = ContextVar("_SPELLING")


class Refused(RunError, InputPropertiesError):
    """Illegal arguments of one resource, all at once.

    A RunError, so that a Pulumi program ends with the lines and without a traceback; an InputPropertiesError, so that
    callers in other languages get path and reason. The lines are in the text because an InputPropertiesError, as text,
    is only its headline.
    """

    def __init__(self, resource: str, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        lines = [finding.line(resource) for finding in self.findings]
        details: list[InputPropertyErrorDetails] = [
            {"property_path": finding.argument, "reason": line}
            for finding, line in zip(self.findings, lines, strict=True)
        ]
        InputPropertiesError.__init__(self, "\n".join(lines), details)


@contextmanager
def spelt(spelling: Callable[[Finding], Finding]) -> Iterator[None]:
    """Within this, `refuse_or_warn` says what it found as `spelling` puts it: other languages have other names."""
    before = _SPELLING.set(spelling)
    try:
        yield
    finally:
        _SPELLING.reset(before)


def refuse_or_warn(resource: str, findings: Iterable[Finding], opts_resource: pulumi.Resource | None = None) -> None:
    """Raise `Refused` with all broken ERROR rules, or log the rest.

    `resource` is the logical name that messages begin with; `opts_resource` is what the engine attaches the log lines
    to. Broken WARNING rules and everything unverified are logged as warnings, broken INFO rules and what the stack's
    configuration suppresses as information. Errors: RunError with a line for each fault of the suppressions.
    """
    spelling = _SPELLING.get(None)
    judged = suppressed([Judged(resource, finding) for finding in findings])
    if spelling is not None:
        judged = [replace(each, finding=spelling(each.finding)) for each in judged]
    _log(judged, opts_resource)
    refusing = [each.finding for each in judged if each.refuses]
    if refusing:
        raise Refused(resource, refusing)


def refuse_stack(parts: Mapping[str, Iterable[Finding]], whole: Iterable[Judged] = ()) -> None:
    """Judge a whole stack before its first resource: raise one RunError with the lines of all its parts.

    parts: findings by the logical name of the component to be; what does not refuse is left to that component, which
    judges again and logs it. whole: findings on the stack as such, which nobody else logs. Errors: RunError, also for
    faults of the suppressions.
    """
    of_parts = suppressed([Judged(name, finding) for name, findings in parts.items() for finding in findings])
    of_stack = suppressed(whole)
    _log(of_stack, None)
    refused = [each.line for each in (*of_parts, *of_stack) if each.refuses]
    if refused:
        raise RunError("\n".join(refused))


def suppressed(judged: Iterable[Judged]) -> list[Judged]:
    """What has not passed, each with what suppresses it: the stack's configuration, or `gpufleet stop`.

    That makes nothing new, and must not wait for the repair of what has since become illegal, as by a day that passed.
    """
    judged = [each for each in judged if each.finding.status is not Status.PASS]
    suppressions = _while_stopping(judged) if stop_is_asked() else _configured()
    return [each if _is_built_on(each.finding) else _covered(each, suppressions) for each in judged]


def _covered(judged: Judged, suppressions: tuple[Suppression, ...]) -> Judged:
    covering = suppression_of(judged.resource, judged.finding, suppressions)
    return Judged(judged.resource, judged.finding, judged.urn, covering)


def _is_built_on(finding: Finding) -> bool:
    """Whether a component cannot be made at all from such arguments, so that no suppression helps here.

    An argument that is missing or of the wrong kind, and a name that the catalog does not hold. A policy pack, which
    only looks at what others make, suppresses these as well.
    """
    return finding.refuses and (finding.rule.startswith("any-argument-") or finding.rule.endswith("-known"))


def _log(judged: Iterable[Judged], resource: pulumi.Resource | None) -> None:
    for each in judged:
        if each.refuses:
            continue
        advice = each.finding.severity is Severity.INFO and each.finding.status is Status.FAIL
        log = pulumi.log.info if advice or each.suppression is not None else pulumi.log.warn
        log(each.line, resource)


def _while_stopping(judged: Iterable[Judged]) -> tuple[Suppression, ...]:
    today, reason = date.today(), "this `up` only stops pools; the next one is judged as always"
    return tuple(Suppression(name, reason, today) for name in {each.finding.rule for each in judged})


def _configured() -> tuple[Suppression, ...]:
    """The suppressions of the stack's configuration. Errors: RunError with a line for each fault."""
    text = pulumi.Config("gpufleet").get("suppress")
    if text is None:
        return ()
    try:
        return read_suppressions(_parsed(text), SUPPRESS, date.today())
    except SuppressionError as error:
        raise RunError(str(error)) from error


def _parsed(text: str) -> object:
    """Lists come from the engine as JSON; what is none is handed on as it is, for its fault to be named."""
    try:
        return json.loads(text)
    except ValueError:
        return text
