"""docs/permissions.md: every role, who takes it, and each action with its resource and its reason."""

from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr
from importlib import import_module
from importlib.resources import files
from io import StringIO
from pathlib import Path
from typing import Any

import yaml

from gpufleet.aws.operator_roles import ROLES, operator_roles
from gpufleet.kubernetes.team_role import team_rules
from tools.generated_tables import between, markdown

PAGE = Path(__file__).resolve().parent.parent / "docs" / "permissions.md"
_PLACEHOLDERS = {
    "000000000000": "ACCOUNT",
    "123456789012": "ACCOUNT",
    "arn:aws:mock::ACCOUNT:": "",
    "us-east-1": "REGION",
}
"""Values of the recorded programs, and what stands for them in the page."""


def reasons() -> Mapping[str, Mapping[str, Any]]:
    """permissions.yaml of the components on AWS."""
    text = files("gpufleet.aws").joinpath("permissions.yaml").read_text(encoding="utf-8")
    known: Mapping[str, Mapping[str, Any]] = yaml.safe_load(text)
    return known


def page() -> str:
    """The whole page, with its tables as code and data are now."""
    text = PAGE.read_text(encoding="utf-8")
    # Programs warn; it is the tests that read their warnings.
    with redirect_stderr(StringIO()):
        roles = import_module("tests.unit.stacks.recorded_roles").recorded_roles()
    text = between(text, "aws", "".join(_section(role) for role in roles.values()))
    text = between(text, "operators", "".join(_operator(role) for role in ROLES))
    return between(text, "team", _team())


def _section(role: Any) -> str:  # noqa: ANN401
    why = reasons()[role.key]
    lines = [f"### {role.key}\n\n", f"For {why['for']}.", *(f" Taken by {each}." for each in _trusted(role)), "\n\n"]
    managed = [(f"`{name}` of AWS", "as AWS maintains it", "", why["managed"][name]) for name in sorted(role.managed)]
    rows = [*managed, *_own(role, why.get("actions", {}))]
    return "".join([*lines, markdown(("action", "resource", "condition", "reason"), rows), "\n"])


def _own(role: Any, why: Mapping[str, str]) -> Iterator[tuple[str, str, str, str]]:  # noqa: ANN401
    seen = set()
    for statement in role.statements:
        for action in _listed(statement["Action"]):
            resources = ", ".join(f"`{_plain(each)}`" for each in _listed(statement["Resource"]))
            effect = "" if statement["Effect"] == "Allow" else "deny "
            row = (f"{effect}`{action}`", resources, _condition(statement), str(why[action]))
            if row not in seen:
                seen.add(row)
                yield row


def _trusted(role: Any) -> Iterator[str]:  # noqa: ANN401
    for statement in role.trust:
        principal = ", ".join(_plain(each) for value in statement["Principal"].values() for each in _listed(value))
        condition = _condition(statement)
        yield f"`{principal}`" + (f" where {condition}" if condition else "")


def _condition(statement: Mapping[str, Any]) -> str:
    found = statement.get("Condition", {})
    return "; ".join(
        f"`{key}` {operator} `{_plain(', '.join(_listed(value)))}`"
        for operator, equal in found.items()
        for key, value in equal.items()
    )


def _plain(value: str) -> str:
    for told, meant in _PLACEHOLDERS.items():
        value = value.replace(told, meant)
    return value


def _operator(role: str) -> str:
    found = operator_roles()[role]
    more = f", and all that `{found['with']}` may" if "with" in found else ""
    rows = [
        (
            ("deny " if each.get("effect") == "Deny" else "") + ", ".join(f"`{action}`" for action in each["actions"]),
            ", ".join(f"`{one}`" for one in each.get("resources") or [f"all but {n}" for n in each["not_resources"]]),
            _condition({"Condition": each.get("condition", {})}),
            each["why"],
        )
        for each in found["statements"]
    ]
    table = markdown(("actions", "resources", "condition", "reason"), rows)
    return f"### {role}\n\nFor {found['for']}{more}.\n\n{table}\n"


def _team() -> str:
    rows = [
        (", ".join(f"`{each}`" for each in rule["resources"]), group, ", ".join(rule["verbs"]), rule["why"])
        for rule in team_rules()
        for group in [", ".join(each or "core" for each in rule["groups"])]
    ]
    return markdown(("resources", "API group", "verbs", "reason"), rows)


def _listed(value: object) -> list[Any]:
    """A policy's value, which may be one or several, as several."""
    return value if isinstance(value, list) else [value]
