"""Events of a followed job, for display or as JSON."""

from dataclasses import dataclass
from enum import StrEnum


class EventKind(StrEnum):
    """LINE: of the launcher's log. STATE: the job has come to another state. WAITING: pods that wait, and why.

    NOTE: about the polling itself. END: the job has ended; code has its exit code.
    """

    LINE = "line"
    STATE = "state"
    WAITING = "waiting"
    NOTE = "note"
    END = "end"


@dataclass(frozen=True)
class Event:
    """code: only of END: 0 for a job that succeeded, else the launcher's exit code, or 1 where it has none."""

    kind: EventKind
    text: str
    code: int | None = None

    def as_json(self) -> dict[str, object]:
        """The keys do not change: scripts depend on them."""
        return {"event": self.kind.value, "text": self.text} | ({} if self.code is None else {"code": self.code})
