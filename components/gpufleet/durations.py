"""How long something lasts, as people write it: 150h, 6d, 2w."""

import re
from datetime import timedelta

_SPAN = re.compile(r"([1-9]\d{0,3})([hdw])")
_HOURS = {"h": 1, "d": 24, "w": 168}


def parse_duration(text: str) -> timedelta | None:
    """The time that a text means: 1 to 9999 hours (h), days of 24 hours (d) or weeks (w); None for another text."""
    found = _SPAN.fullmatch(text)
    return timedelta(hours=int(found[1]) * _HOURS[found[2]]) if found else None
