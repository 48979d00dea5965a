"""Reports findings through Pulumi: one error with a line for each, or warnings, less what the stack suppresses."""

import asyncio
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

from gpufleet.rules.coerce import from_engine
from gpufleet.rules.resource_finding import ResourceFinding
from gpufleet.rules.rule import Finding, Severity, Status
from gpufleet.rules.suppression import Suppression, SuppressionError, read_suppressions, suppression_of

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

    def is_repeated(self, found: ResourceFinding) -> bool:
        """Whether another component has reported the same value of a shared argument.

        A warning does not stand for an error.
        """
        if found.finding.argument.partition(".")[0] not in self.shared:
            return False
        what = found.rejects, repr(found.finding.value)
        return self.reported.setdefault(what, found.resource) != found.resource


_GATHERING: ContextVar[Gathering | None] = ContextVar("_GATHERING", default=None)
_SPELLING: ContextVar[Callable[[Finding], Finding] | None] = ContextVar("_SPELLING", default=None)


@contextmanager
def gathering(shared: Iterable[str] = ("region", "tags")) -> Iterator[None]:
    """A block at whose end every error of every component inside is raised at once, one line each.

    Inside, a component with errors is a placeholder that registers nothing and whose outputs are unknown. If there are
    errors, nothing else of the block is registered either. shared: arguments that every component receives; an error in
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
        # Without errors of the arguments it is a fault of the program's own; with them, it may come from a placeholder.
        if not block.lines:
            raise
        cause = error
    finally:
        _GATHERING.reset(outer)
    if block.lines:
        _cancel_registrations(before)
        raise RunError("\n".join(block.lines)) from cause


def _tasks() -> set[asyncio.Task[Any]]:
    """Tasks that the program has started: Pulumi completes them when the program ends, also after an exception."""
    try:
        return asyncio.all_tasks()
    except RuntimeError:
        return set()  # no event loop: not in a program


def _cancel_registrations(before: set[asyncio.Task[Any]]) -> None:
    for task in _tasks() - before:
        task.cancel()
    # Python warns about what the tasks would have awaited.
    warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
    # Pulumi waits for these when the program has ended.
    SETTINGS.outputs.intersection_update(before)


def collect_error(error: RunError) -> bool:
    """Add an error that is not about arguments to the `gathering` block, if there is one; return whether there is."""
    block = _GATHERING.get()
    if block is not None:
        block.lines.append(str(error))
    return block is not None


@contextmanager
def argument_spelling(spelling: Callable[[Finding], Finding]) -> Iterator[None]:
    """A block in which `validate` rewrites findings by `spelling`: other languages spell arguments differently."""
    before = _SPELLING.set(spelling)
    try:
        yield
    finally:
        _SPELLING.reset(before)


def validate(resource: str, findings: Iterable[Finding]) -> bool:
    """Whether the component `resource` may be created.

    Broken WARNING rules and everything unverified are logged as warnings, broken INFO rules and what the stack's
    configuration suppresses as information. Errors: InvalidArguments with all broken ERROR rules, but inside of
    `gathering`, which raises at its end; RunError with a line for each fault of the suppressions.
    """
    rejecting = _rejecting(ResourceFinding(resource, finding) for finding in findings)
    block = _GATHERING.get()
    if rejecting and block is None:
        raise InvalidArguments(resource, [each.finding for each in rejecting])
    if block is not None:
        block.lines += [each.line for each in rejecting if not block.is_repeated(each)]
    return not rejecting


def validate_stack(findings: Iterable[ResourceFinding]) -> None:
    """The same for findings on several components together, or on the whole stack. Errors: RunError."""
    rejecting = _rejecting(findings)
    block = _GATHERING.get()
    if block is not None:
        block.lines += [each.line for each in rejecting if not block.is_repeated(each)]
    elif rejecting:
        raise RunError("\n".join(each.line for each in rejecting))


def _rejecting(findings: Iterable[ResourceFinding]) -> list[ResourceFinding]:
    """The findings that reject; the others are logged, inside of `gathering` once for shared arguments."""
    spelling, block = _SPELLING.get(), _GATHERING.get()
    failed = apply_suppressions(findings)
    if spelling is not None:
        failed = [replace(each, finding=spelling(each.finding)) for each in failed]
    for each in failed:
        if not each.rejects and not (block and block.is_repeated(each)):
            advice = each.finding.severity is Severity.INFO and each.finding.status is Status.FAIL
            log = pulumi.log.info if advice or each.suppression is not None else pulumi.log.warn
            log(each.line)
    return [each for each in failed if each.rejects]


def apply_suppressions(findings: Iterable[ResourceFinding]) -> list[ResourceFinding]:
    """Findings that have not passed, each with its suppression by the stack's configuration."""
    failed = [each for each in findings if each.finding.status is not Status.PASS]
    suppressions = _configured()
    return [each if _is_built_on(each.finding) else _covered(each, suppressions) for each in failed]


def _covered(found: ResourceFinding, suppressions: tuple[Suppression, ...]) -> ResourceFinding:
    covering = suppression_of(found.resource, found.finding, suppressions)
    return ResourceFinding(found.resource, found.finding, found.urn, covering)


def _is_built_on(finding: Finding) -> bool:
    """Whether the component cannot be created from such arguments at all, so that a suppression has no effect.

    That is an argument that is missing or of the wrong kind, or a name that the catalog lacks. A policy pack, which
    only inspects resources, suppresses these as well.
    """
    return finding.rejects and (finding.rule.startswith("any-argument-") or finding.rule.endswith("-known"))


def _configured() -> tuple[Suppression, ...]:
    """The suppressions of the stack's configuration. Errors: RunError with a line for each fault."""
    text = pulumi.Config("gpufleet").get("suppress")
    if text is None:
        return ()
    try:
        return read_suppressions(from_engine(text), SUPPRESS, date.today())
    except SuppressionError as error:
        raise RunError(str(error)) from error
