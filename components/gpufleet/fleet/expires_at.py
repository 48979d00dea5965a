"""When an environment ends: on a day, or some hours after it was made."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from gpufleet.durations import parse_duration

_DAY = timedelta(days=1)


@dataclass(frozen=True, order=True)
class Expiry:
    """moment: from when on it is past, in UTC. said: the tag's own words: a day, or a lifetime such as 150h."""

    moment: datetime
    said: str

    @property
    def day(self) -> date:
        """The last day that belongs to it, all of it or a part."""
        return (self.moment - timedelta(microseconds=1)).date()

    @property
    def of_a_day(self) -> bool:
        return parse_duration(self.said) is None

    def past(self, now: datetime) -> bool:
        return now >= self.moment

    def distance(self, now: datetime) -> str:
        """How far it is away, on either side: days where it is a day, else hours."""
        if self.of_a_day:
            return f"{abs((self.day - now.date()).days)} d"
        return f"{int(abs(self.moment - now) / timedelta(hours=1))} h"


def expiry_of(said: object, began: datetime | None) -> Expiry | None:
    """The end that a tag names; None for `never`, for what is neither day nor lifetime, and for a lifetime of what
    nobody knows the beginning of. A day ends with its last moment in UTC."""
    if not isinstance(said, str):
        return None
    if span := parse_duration(said):
        return Expiry(began + span, said) if began else None
    try:
        day = date.fromisoformat(said)
    except ValueError:
        return None
    return Expiry(datetime(day.year, day.month, day.day, tzinfo=UTC) + _DAY, said)
