"""GPUs allocated to one pod, or to a job whose pods are gone."""

from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Annotated, Any

from msgspec import Meta

UNKNOWN = "(not told)"
Time = Annotated[datetime, Meta(tz=True)]
"""With its time zone, as what is read must say it."""
NODE_FIELDS = ("pool", "place", "type", "region", "capacity", "node_gpus")
"""Fields that are its node's."""


@dataclass(frozen=True, slots=True)
class GpuAllocation:
    """GPUs of a node that were allocated from `start` to `end`.

    uid: of the pod, or `job/` and that of the job. start: when the pod was bound to its node. end: when its containers
    had ended; None: it holds them still. seen: when that was looked at last. exact: False where start or end is not the
    pod's own. node_gpus: GPUs of the whole node, None where it is gone. Times are UTC.
    """

    uid: str
    environment: str
    namespace: str
    name: str
    job: str
    job_uid: str
    user: str
    team: str
    project: str
    pool: str
    place: str
    type: str
    region: str
    capacity: str
    gpus: Annotated[int, Meta(ge=0)]
    node_gpus: int | None
    start: Time
    end: Time | None
    seen: Time
    exact: bool = True

    def seconds(self, since: datetime, until: datetime) -> float:
        """How long within a span; one that holds them still is counted to where it was seen last."""
        begin, stop = max(self.start, since), min(self.end or self.seen, until)
        return max(0.0, (stop - begin).total_seconds())

    def until(self, end: datetime, *, exact: bool) -> "GpuAllocation":
        """The same, ended. Never before its start, whatever the clocks of the cluster say."""
        return replace(self, end=max(self.start, end), exact=self.exact and exact)

    def as_json(self) -> dict[str, Any]:
        """Plain values; times in RFC 3339. A newer release may have more: they are left out where it is read."""
        return {key: _written(value) for key, value in asdict(self).items()}


def _written(value: object) -> object:
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value
