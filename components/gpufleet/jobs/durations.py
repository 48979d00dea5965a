"""Spans of time as people read them."""

from datetime import UTC, datetime


def format_duration(seconds: float) -> str:
    """A time for a person: 45 s, 10 min, 3 h 20 min."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = [(hours, "h"), (minutes, "min"), (0 if hours else rest, "s")]
    return " ".join(f"{amount} {unit}" for amount, unit in parts if amount) or "0 s"


def age(since: str, now: datetime | None = None) -> str:
    """How long ago a time in RFC 3339 was; empty when it is none."""
    try:
        then = datetime.fromisoformat(since)
    except ValueError:
        return ""
    return format_duration(max(0.0, ((now or datetime.now(UTC)) - then).total_seconds()))
