"""Change the expiry of an environment in its configuration file, and nothing else in it."""

import re
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from gpufleet.documents.yaml import parse_yaml, read_yaml
from gpufleet.durations import parse_duration
from gpufleet.errors import UserError
from gpufleet.report.configuration_files import environment_names
from gpufleet.rules.tags import MOST_YEARS, latest_day

KEY = "gpufleet:expires_at"
_LINE = re.compile(
    rf"""^(?P<before>\s+(?P<quote>["']?){KEY}(?P=quote)\s*:\s*)(?P<value>[^\s#][^#\n]*?)(?P<after>\s*(?:\s#.*)?)$"""
)
_CONFIG = re.compile(r"""^["']?config["']?\s*:\s*(?:#.*)?$""")
_SPAN = re.compile(r"(\d{1,4})([dw])")
_DAYS = {"d": 1, "w": 7}


def extended_expiry(wanted: str, now: date | timedelta | None, today: date) -> date | str:
    """The end that `7d`, `2w` or `2027-01-31` means for an environment that ends on `now`; one past its end continues
    from today. A lifetime becomes longer by a time, also by `36h`, and is written in hours.

    Errors: UserError for any other text, for an environment without expiry, for a date in the past or too far ahead.
    """
    end, latest = _wanted_end(wanted, now, today), latest_day(today)
    if end > latest - today if isinstance(end, timedelta) else end > latest:
        raise UserError(
            f"{wanted}: an environment that has an end must end within {MOST_YEARS} years; give a day until "
            f"{latest}, or remove {KEY} for no end"
        )
    return _lifetime(end) if isinstance(end, timedelta) else end


def _lifetime(span: timedelta) -> str:
    """In hours, of which a lifetime may have 9999, else in days."""
    hours = span // timedelta(hours=1)
    return f"{hours}h" if hours <= 9999 else f"{-(-hours // 24)}d"


def _wanted_end(wanted: str, now: date | timedelta | None, today: date) -> date | timedelta:
    if isinstance(now, timedelta) and (more := parse_duration(wanted)):
        return now + more
    if not isinstance(now, timedelta) and (span := _SPAN.fullmatch(wanted)):
        if now is None:
            raise UserError(f"{KEY}: is not set, so there is nothing to extend; give a day, such as {today}")
        return max(now, today) + timedelta(days=int(span[1]) * _DAYS[span[2]])
    try:
        day = date.fromisoformat(wanted)
    except ValueError as error:
        raise UserError(f"{wanted}: must be a duration or a date, such as 7d, 2w or {today}") from error
    if day < today:
        raise UserError(f"{wanted}: this day has passed; write 7d, 2w or a day from {today} on")
    return day


def read_expiry(text: str, where: str) -> date | timedelta | None:
    """The day in a configuration's text, or the lifetime; None where it has none. Errors: UserError."""
    value = _config(text, where).get(KEY)
    if value is None:
        return None
    try:
        # YAML knows a day as a date; in quotes it is a text.
        return value if type(value) is date else parse_duration(str(value)) or date.fromisoformat(str(value))
    except ValueError as error:
        raise UserError(f"{where}: {KEY}={value!r}: must be a date like 2027-01-31 or a lifetime like 150h") from error


def replace_expiry(text: str, day: date | str, where: str) -> str:
    """The same text with another end in it, and everything else as it was, comments and order included.

    Without the key it comes first under `config`. Errors: UserError where the file is written in another way.
    """
    lines = text.splitlines(keepends=True)
    found = [index for index, line in enumerate(lines) if _LINE.match(line.rstrip("\r\n"))]
    if len(found) == 1:
        lines[found[0]] = _moved(lines[found[0]], day)
    elif not found and KEY not in text:
        lines = _added(lines, day)
    changed = "".join(lines)
    try:
        right = _config(changed, where) == {**_config(text, where), KEY: day}
    except UserError:
        right = False
    if not right:
        raise UserError(f"{where}: {KEY} is not on its own line; write `  {KEY}: {day}`")
    return changed


def configuration_file(program: Path, environment: str) -> Path:
    """The configuration file of an environment. Errors: UserError without a project, or without the file."""
    start = program.resolve()
    for folder in (start, *start.parents):
        project = folder / "Pulumi.yaml"
        if project.is_file():
            content = read_yaml(project)
            place = content.get("stackConfigDir") if isinstance(content, dict) else None
            file = folder / str(place or ".") / f"Pulumi.{environment}.yaml"
            if file.is_file():
                return file.resolve()
            known = ", ".join(environment_names(folder)) or "none"
            raise UserError(f"{file}: environment not found; the project has {known}")
    raise UserError(f"{program}: no Pulumi.yaml here or above; give a Pulumi project with --program DIR")


def _config(text: str, where: str) -> dict[str, Any]:
    document = parse_yaml(text, where)
    config = document.get("config") if isinstance(document, dict) else None
    if not isinstance(config, dict):
        raise UserError(f"{where}: has no settings under `config`")
    return config


def _moved(line: str, day: date | str) -> str:
    ending = line[len(line.rstrip("\r\n")) :]
    found = _LINE.match(line.rstrip("\r\n"))
    assert found is not None
    return f"{found['before']}{day}{found['after']}{ending}"


def _added(lines: list[str], day: date | str) -> list[str]:
    """The key as the first one under `config`, indented like the one that was."""
    head = next((index for index, line in enumerate(lines) if _CONFIG.match(line.rstrip("\r\n"))), None)
    if head is None:
        return lines
    keys = [line for line in lines[head + 1 :] if line.strip() and not line.lstrip().startswith("#")]
    indent = keys[0][: len(keys[0]) - len(keys[0].lstrip())] if keys else "  "
    return [*lines[: head + 1], f"{indent}{KEY}: {day}\n", *lines[head + 1 :]]
