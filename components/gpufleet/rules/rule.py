"""What a rule is, what it returns, and how rules are found.

A rule is one function with keyword-only plain arguments: no Pulumi, no SDK, no own look-up. Its docstring holds
one sentence that states the rule, then a line `Source: ...` that says where the rule comes from.
"""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, update_wrapper
from typing import Generic, ParamSpec

from gpufleet.rules.messages import format_value, one_line

P = ParamSpec("P")


class Status(StrEnum):
    """Outcome of one rule. UNVERIFIED: the facts at hand do not decide it, which is never the same as a pass."""

    PASS = "pass"
    FAIL = "fail"
    UNVERIFIED = "unverified"


class Severity(StrEnum):
    """How much a failure weighs: INFO is advice, WARNING is printed, ERROR rejects the resource."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the body of a rule returns: which argument, with which value, and what about it."""

    status: Status
    argument: str = ""
    value: object = None
    problem: str = ""
    fix: str = ""


_PASSED = Outcome(Status.PASS)


def passed() -> Outcome:
    """The rule holds."""
    return _PASSED


def failed(argument: str, value: object, problem: str, fix: str) -> Outcome:
    """The rule is broken: `problem` says what is illegal, `fix` what would be legal."""
    return Outcome(Status.FAIL, argument, value, problem, fix)


def unverified(argument: str, value: object, problem: str, fix: str) -> Outcome:
    """The rule cannot be checked: `problem` says what is not known, `fix` how to find out."""
    return Outcome(Status.UNVERIFIED, argument, value, problem, fix)


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule applied to one set of values. Every field but `rule`, `severity` and `status` is empty on a pass."""

    rule: str
    severity: Severity
    status: Status
    argument: str
    value: object
    problem: str
    fix: str

    @property
    def rejects(self) -> bool:
        """Whether the resource must not be created."""
        return self.severity is Severity.ERROR and self.status is Status.FAIL

    def line(self, resource: str) -> str:
        """The one line that users see: `<resource>: <argument>=<value>: <problem>; <fix> [<rule>]`."""
        if self.status is Status.PASS:
            return f"{resource}: ok [{self.rule}]"
        doubt = "not verified: " if self.status is Status.UNVERIFIED else ""
        text = f"{self.argument}={format_value(self.value)}: {doubt}{self.problem}; {self.fix}"
        return f"{resource}: {one_line(text)} [{self.rule}]"


class Rule(Generic[P]):
    """A named check; call it with the keyword arguments of the function that it wraps to get a `Finding`."""

    def __init__(self, name: str, severity: Severity, check: Callable[P, Outcome]) -> None:
        update_wrapper(self, check)
        self.name = name
        self.severity = severity
        self.check = check
        self._passed = Finding(name, severity, Status.PASS, "", None, "", "")

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Finding:
        outcome = self.check(*args, **kwargs)
        if outcome is _PASSED:
            return self._passed
        return Finding(
            self.name,
            self.severity,
            outcome.status,
            outcome.argument,
            outcome.value,
            outcome.problem,
            outcome.fix,
        )

    def __repr__(self) -> str:
        return f"Rule({self.name!r})"

    @property
    def anchor(self) -> str:
        """Its heading in the documentation of the rules."""
        return f"docs/rules.md#{self.name}"

    @property
    def sentence(self) -> str:
        """The rule in one sentence: its docstring up to the source."""
        return " ".join((self.check.__doc__ or "").partition("Source:")[0].split())

    @property
    def source(self) -> str:
        """Where the rule comes from: what follows `Source:` in its docstring."""
        return " ".join((self.check.__doc__ or "").partition("Source:")[2].split())


def rule(name: str, severity: Severity) -> Callable[[Callable[P, Outcome]], Rule[P]]:
    """Declare a pure function as the rule `name`: `<any|aws|azure>-<subject>-<what>`, in lower case with hyphens."""

    def declare(check: Callable[P, Outcome]) -> Rule[P]:
        return Rule(name, severity, check)

    return declare


@cache
def all_rules() -> tuple[Rule[...], ...]:
    """Every rule of the package `gpufleet.rules`, by name. Walks the package, so that no list can forget one.

    Raises ValueError if two rules have one name.
    """
    package = importlib.import_module("gpufleet.rules")
    found: dict[str, Rule[...]] = {}
    for info in pkgutil.walk_packages(package.__path__, prefix="gpufleet.rules."):
        module = importlib.import_module(info.name)
        for member in vars(module).values():
            if isinstance(member, Rule) and found.setdefault(member.name, member) is not member:
                raise ValueError(f"two rules are called {member.name}")
    return tuple(found[name] for name in sorted(found))
