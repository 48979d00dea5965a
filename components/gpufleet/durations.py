"""Durations as text: parse 150h, 6d or 2w, and format seconds as 3 h 20 min."""

import re
from datetime import UTC, datetime, timedelta

_SPAN = re.compile(r"([1-9]\d{0,3})([hdw])")
_HOURS = {"h": 1, "d": 24, "w": 168}


def parse_duration(text: str) -> timedelta | None:
    """Parse 1 to 9999 hours (h), days of 24 hours (d) or weeks (w); None if the text is not such a duration."""
    found = _SPAN.fullmatch(text)
    return timedelta(hours=int(found[1]) * _HOURS[found[2]]) if found else None


def format_duration(seconds: float) -> str:
    """A duration for display: 45 s, 10 min, 3 h 20 min."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = [(hours, "h"), (minutes, "min"), (0 if hours else rest, "s")]
    return " ".join(f"{amount} {unit}" for amount, unit in parts if amount) or "0 s"


def format_age(since: str, now: datetime | None = None) -> str:
    """Time elapsed since an RFC 3339 timestamp, for display; empty if the text is not a timestamp."""
    try:
        then = datetime.fromisoformat(since)
    except ValueError:
        return ""
    return format_duration(max(0.0, ((now or datetime.now(UTC)) - then).total_seconds()))
