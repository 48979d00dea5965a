"""From findings to what Pulumi shows: one error with every line, or warnings; and what the stack has suppressed."""

import asyncio
import json
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

import pulumi
from pulumi.errors import InputPropertiesError, InputPropertyErrorDetails, RunError
from pulumi.runtime.settings import SETTINGS

from gpufleet.rules.resource_finding import ResourceFinding
from gpufleet.rules.rule import Finding, Severity, Status
from gpufleet.rules.suppression import Suppression, SuppressionError, read_suppressions, suppression_of
from gpufleet.stop_mode import stop_requested

SUPPRESS = "gpufleet:suppress"
"""Key of the stack's configuration: a list of `SuppressionArgs`."""


class InvalidArguments(RunError, InputPropertiesError):
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


@dataclass
class Gathering:
    """The errors inside of a `gathering` block. shared: arguments that all components get from the environment."""

    shared: frozenset[str]
    lines: list[str] = field(default_factory=list)
    reported: dict[tuple[bool, str], str] = field(default_factory=dict)

    def is_repeated(self, judged: ResourceFinding) -> bool:
        """Whether another component has reported something of the same value of what all of them share.

        A warning does not stand for an error.
        """
        if judged.finding.argument.partition(".")[0] not in self.shared:
            return False
        what = judged.refuses, repr(judged.finding.value)
        return self.reported.setdefault(what, judged.resource) != judged.resource


_GATHERING: ContextVar[Gathering | None] = ContextVar("_GATHERING", default=None)
_SPELLING: ContextVar[Callable[[Finding], Finding] | None] = ContextVar("_SPELLING", default=None)


@contextmanager
def gathering(shared: Iterable[str] = ("region", "tags")) -> Iterator[None]:
    """A block at whose end every error of every component inside is raised at once, one line each.

    Inside, a component with errors is a stand-in that registers nothing, and whose outputs are unknown; with errors
    nothing else of the block is registered either. shared: arguments that all components get alike; what is wrong with
    them is reported once. Errors: RunError.
    """
    if _GATHERING.get() is not None:
        yield  # The outer block raises.
        return
    block, before = Gathering(frozenset(shared)), _tasks()
    outer = _GATHERING.set(block)
    cause: Exception | None = None
    try:
        yield
    except RunError as error:
        block.lines.append(str(error))
    except Exception as error:
        # Without errors of the arguments it is a fault of the program's own; with them, it may come from a stand-in.
        if not block.lines:
            raise
        cause = error
    finally:
        _GATHERING.reset(outer)
    if block.lines:
        _cancel_registrations(before)
        raise RunError("\n".join(block.lines)) from cause


def _tasks() -> set[asyncio.Task[Any]]:
    """What the program has begun: Pulumi goes on with it when the program has run to its end, or after an exception."""
    try:
        return asyncio.all_tasks()
    except RuntimeError:
        return set()  # no event loop: not in a program


def _cancel_registrations(before: set[asyncio.Task[Any]]) -> None:
    for task in _tasks() - before:
        task.cancel()
    # Python remarks on what tasks would have awaited.
    warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
    # Pulumi waits for these when the program has ended.
    SETTINGS.outputs.intersection_update(before)


def gathered(error: RunError) -> bool:
    """Whether a `gathering` block has taken an error that is not of the arguments, to raise it with the others."""
    block = _GATHERING.get()
    if block is not None:
        block.lines.append(str(error))
    return block is not None


@contextmanager
def argument_spelling(spelling: Callable[[Finding], Finding]) -> Iterator[None]:
    """A block in which `validate` puts findings as `spelling` does: other languages have other names."""
    before = _SPELLING.set(spelling)
    try:
        yield
    finally:
        _SPELLING.reset(before)


def validate(resource: str, findings: Iterable[Finding]) -> bool:
    """Whether the component `resource` may be made.

    Broken WARNING rules and everything unverified are logged as warnings, broken INFO rules and what the stack's
    configuration suppresses as information. Errors: InvalidArguments with all broken ERROR rules, but inside of
    `gathering`, which raises at its end; RunError with a line for each fault of the suppressions.
    """
    refusing = _refusing(ResourceFinding(resource, finding) for finding in findings)
    block = _GATHERING.get()
    if refusing and block is None:
        raise InvalidArguments(resource, [each.finding for each in refusing])
    if block is not None:
        block.lines += [each.line for each in refusing if not block.is_repeated(each)]
    return not refusing


def validate_stack(findings: Iterable[ResourceFinding]) -> None:
    """The same for findings on several components together, and on the stack as such. Errors: RunError."""
    refusing = _refusing(findings)
    block = _GATHERING.get()
    if block is not None:
        block.lines += [each.line for each in refusing if not block.is_repeated(each)]
    elif refusing:
        raise RunError("\n".join(each.line for each in refusing))


def _refusing(findings: Iterable[ResourceFinding]) -> list[ResourceFinding]:
    """What refuses; the rest is logged, inside of `gathering` once for arguments that all components share."""
    spelling, block = _SPELLING.get(), _GATHERING.get()
    judged = suppressed(findings)
    if spelling is not None:
        judged = [replace(each, finding=spelling(each.finding)) for each in judged]
    for each in judged:
        if not each.refuses and not (block and block.is_repeated(each)):
            advice = each.finding.severity is Severity.INFO and each.finding.status is Status.FAIL
            log = pulumi.log.info if advice or each.suppression is not None else pulumi.log.warn
            log(each.line)
    return [each for each in judged if each.refuses]


def suppressed(findings: Iterable[ResourceFinding]) -> list[ResourceFinding]:
    """What has not passed, each with what suppresses it: the stack's configuration, or `gpufleet stop`.

    That makes nothing new, and must not wait for the repair of what has since become illegal, as by a day that passed.
    """
    judged = [each for each in findings if each.finding.status is not Status.PASS]
    suppressions = _while_stopping(judged) if stop_requested() else _configured()
    return [each if _is_built_on(each.finding) else _covered(each, suppressions) for each in judged]


def _covered(judged: ResourceFinding, suppressions: tuple[Suppression, ...]) -> ResourceFinding:
    covering = suppression_of(judged.resource, judged.finding, suppressions)
    return ResourceFinding(judged.resource, judged.finding, judged.urn, covering)


def _is_built_on(finding: Finding) -> bool:
    """Whether a component cannot be made at all from such arguments, so that no suppression helps here.

    An argument that is missing or of the wrong kind, and a name that the catalog does not hold. A policy pack, which
    only looks at what others make, suppresses these as well.
    """
    return finding.refuses and (finding.rule.startswith("any-argument-") or finding.rule.endswith("-known"))


def _while_stopping(judged: Iterable[ResourceFinding]) -> tuple[Suppression, ...]:
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
