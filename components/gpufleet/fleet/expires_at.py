"""When an environment expires: on a date, or a duration after it was created."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from gpufleet.durations import parse_duration
from gpufleet.rules.tags import is_day

_DAY = timedelta(days=1)
_LAST = datetime.max.replace(tzinfo=UTC)
"""The last moment that Python knows: of what lies behind it, such as the end of 9999-12-31."""


@dataclass(frozen=True, order=True)
class Expiry:
    """moment: when it passes, in UTC. text: the tag's value: a date, or a lifetime such as 150h."""

    moment: datetime
    text: str

    @property
    def day(self) -> date:
        """The last day that belongs to it, all of it or a part."""
        return (self.moment - timedelta(microseconds=1)).date()

    @property
    def of_a_day(self) -> bool:
        return parse_duration(self.text) is None

    def past(self, now: datetime) -> bool:
        return now >= self.moment

    def distance(self, now: datetime) -> str:
        """The distance before or after it: in days for a date, else in hours."""
        if self.of_a_day:
            return f"{abs((self.day - now.date()).days)} d"
        return f"{int(abs(self.moment - now) / timedelta(hours=1))} h"


def expiry_of(said: object, began: datetime | None) -> Expiry | None:
    """The expiry in a tag's value; None for `never`, an invalid value, or a lifetime without a known beginning.

    A date includes its last moment in UTC."""
    if not isinstance(said, str):
        return None
    if span := parse_duration(said):
        return Expiry(later(began, span), said) if began else None
    if not is_day(said):
        return None
    day = date.fromisoformat(said)
    return Expiry(later(datetime(day.year, day.month, day.day, tzinfo=UTC), _DAY), said)


def later(moment: datetime, span: timedelta) -> datetime:
    """A moment and a time, or the last moment that there is."""
    try:
        return moment + span
    except OverflowError:
        return _LAST
