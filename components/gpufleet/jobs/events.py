"""What happens to a job while one follows it, for a person or a program."""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """LINE: of the launcher's log. STATE: the job has come to another state. WAITING: pods that wait, and why.

    NOTE: about the following itself. END: the job has ended; code has its exit code.
    """

    LINE = "line"
    STATE = "state"
    WAITING = "waiting"
    NOTE = "note"
    END = "end"


@dataclass(frozen=True)
class Event:
    """code: only of END: 0 for a job that succeeded, else the launcher's exit code, or 1 where it has none."""

    kind: Kind
    text: str
    code: int | None = None

    def as_json(self) -> dict[str, object]:
        """Frozen: scripts outlive releases."""
        return {"event": self.kind.value, "text": self.text} | ({} if self.code is None else {"code": self.code})
