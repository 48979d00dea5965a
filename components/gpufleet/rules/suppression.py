"""Rules that a team has decided to live with, for a while: by name, with a reason and an expiry date."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from typing import NotRequired, TypedDict

from gpufleet.errors import UserError
from gpufleet.rules.messages import format_value, nearest
from gpufleet.rules.rule import Finding, all_rules


class SuppressionArgs(TypedDict):
    """A rule that is suppressed for a while."""

    rule: str
    """Name of the rule, as it stands in brackets behind its message."""
    reason: str
    """Why, for readers of the report."""
    expires: str
    """Day (2027-01-31) up to which it holds. Afterwards the rule applies again, and this entry is an error."""
    resource: NotRequired[str]
    """Logical name of the resource, with * as wildcard. Default: every resource."""


@dataclass(frozen=True, slots=True)
class Suppression:
    """One suppressed rule."""

    rule: str
    reason: str
    expires: date
    resource: str = "*"

    def covers(self, resource: str, finding: Finding) -> bool:
        """Whether it is about this finding on the resource of this logical name."""
        return self.rule == finding.rule and fnmatchcase(resource, self.resource)

    @property
    def text(self) -> str:
        """What every report says of it."""
        return f"suppressed until {self.expires.isoformat()}: {self.reason}"


_MISSING = {
    "rule": "name the rule as it stands in brackets behind its message",
    "reason": "say why the rule does not matter here",
    "expires": "write a day like 2027-01-31",
}
"""How to mend a missing key."""


class SuppressionError(UserError):
    """Suppressions that cannot be used; the text has one line for each fault."""


def read_suppressions(entries: object, where: str, today: date) -> tuple[Suppression, ...]:
    """Suppressions as a configuration holds them: a list of `SuppressionArgs`, or None for none.

    where: the configuration's key, which the lines begin with. Errors: SuppressionError for an unknown rule, a missing
    reason, a date that is none or has passed, an unknown key.
    """
    if entries is None:
        return ()
    if not isinstance(entries, Sequence) or isinstance(entries, str):
        raise SuppressionError(
            f"{where}: must be a list; write [{{rule: ..., reason: ..., expires: 2027-01-31}}] [config-suppression]"
        )
    lines: list[str] = []
    found: list[Suppression] = []
    for number, entry in enumerate(entries):
        faults = _faults(entry, today)
        lines += [f"{where}[{number}]{fault}" for fault in faults]
        if not faults:
            day = date.fromisoformat(_day(entry["expires"]))
            # One line, whatever is in it: reports quote it.
            reason = " ".join(entry["reason"].split())
            found.append(Suppression(entry["rule"], reason, day, entry.get("resource", "*")))
    if lines:
        raise SuppressionError("\n".join(lines))
    return tuple(found)


def suppression_of(resource: str, finding: Finding, suppressions: Sequence[Suppression]) -> Suppression | None:
    """The suppression that covers a finding, if any."""
    return next((each for each in suppressions if each.covers(resource, finding)), None)


def _faults(entry: object, today: date) -> list[str]:
    """What is wrong with one entry, each as `key=value: problem; fix [config-suppression]`."""
    if not isinstance(entry, Mapping):
        return [": must be a mapping; write {rule: ..., reason: ..., expires: 2027-01-31} [config-suppression]"]
    faults: list[tuple[str, str]] = []
    for key in entry:
        if key not in SuppressionArgs.__annotations__:
            near = nearest(str(key), SuppressionArgs.__annotations__) or "rule, reason, expires or resource"
            faults.append((f"{key}", f"is not a key of a suppression; did you mean {near}?"))
    missing = [key for key in ("rule", "reason", "expires") if entry.get(key) is None]
    faults += [(key, f"is missing; {_MISSING[key]}") for key in missing]
    known = [rule.name for rule in all_rules()]
    name = entry.get("rule")
    if "rule" not in missing and name not in known:
        meant = nearest(str(name), known)
        fix = f"did you mean {meant}?" if meant else "docs/rules.md lists them"
        faults.append((f"rule={format_value(name)}", f"unknown rule; {fix}"))
    reason = entry.get("reason")
    if "reason" not in missing and (not isinstance(reason, str) or not reason.strip()):
        faults.append((f"reason={format_value(reason)}", f"says nothing; {_MISSING['reason']}"))
    if not isinstance(entry.get("resource", "*"), str):
        faults.append(
            (f"resource={format_value(entry['resource'])}", "must be a string; give a logical name, * for any")
        )
    faults += [] if "expires" in missing else _date_faults(entry["expires"], today)
    return [f".{where}: {text} [config-suppression]" for where, text in faults]


def _date_faults(value: object, today: date) -> list[tuple[str, str]]:
    try:
        day = date.fromisoformat(_day(value))
    except ValueError:
        return [(f"expires={format_value(value)}", f"is not a date; {_MISSING['expires']}")]
    if day < today:
        return [(f"expires={day}", "has passed; fix what the rule reports, or give a later date")]
    return []


def _day(value: object) -> str:
    """The engine reads a day that YAML knows as a date and hands it on as a moment."""
    return str(value).removesuffix(" 00:00:00 +0000 UTC")
