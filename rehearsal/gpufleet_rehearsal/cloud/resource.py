"""What a store gives back: a resource that the cloud holds, and a call that it got."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from gpufleet_rehearsal.table.paths import Json


def merged(below: Mapping[str, Json], above: Mapping[str, Json], *, shown: bool = False) -> dict[str, Json]:
    """Two objects as one, inner objects likewise; elsewhere `above` wins.

    A list of inputs of which the outputs make an object (Azure takes identities as a list and gives them as a map)
    stays a list for who looks ids up in it, unless it is `shown` to the engine.
    """
    out = dict(below)
    for key, value in above.items():
        under = out.get(key)
        if isinstance(value, Mapping) and isinstance(under, Mapping):
            out[key] = merged(under, value, shown=shown)
        elif shown or not (isinstance(value, Mapping) and isinstance(under, list)):
            out[key] = value
    return out


def normalized_handle(handle: str) -> str:
    """A handle as it is compared: the ids of Azure's resource manager without regard to case, all others exactly."""
    return handle.lower() if handle.lower().startswith("/subscriptions/") else handle


def lies_in(id_: str, above: str) -> bool:
    """Whether an id of a tree is below another one."""
    return normalized_handle(id_).startswith(f"{normalized_handle(above)}/")


@dataclass(frozen=True)
class SimulatedResource:
    """A resource that the cloud holds.

    `status` is available, failed or deleting, as it will be at `ready_at`; before that it is creating (see
    `Cloud.status`). `owner` is the serial of the resource that the cloud made this one for, `hidden` says that no
    program made it.
    """

    serial: int
    revision: int
    type: str
    id: str
    urn: str
    name: str
    inputs: Mapping[str, Json]
    outputs: Mapping[str, Json]
    status: str
    reasons: Sequence[str]
    version: int
    owner: int | None
    hidden: bool
    created_at: float
    ready_at: float
    deleted_at: float | None

    @cached_property
    def view(self) -> Mapping[str, Json]:
        """Inputs, overlaid by outputs: what paths read."""
        return merged(self.inputs, self.outputs)

    @property
    def shown(self) -> Mapping[str, Json]:
        """The same as the engine gets it."""
        return merged(self.inputs, self.outputs, shown=True)

    @property
    def tags(self) -> Mapping[str, Json]:
        """Its tags, the provider's default ones included."""
        tags = self.view.get("tagsAll", self.view.get("tags"))
        return tags if isinstance(tags, Mapping) else {}

    @property
    def handles(self) -> set[str]:
        """What other resources may call it by: id, arn, name; folded."""
        return {normalized_handle(self.id)} | {
            normalized_handle(v) for key in ("arn", "name") if isinstance(v := self.view.get(key), str)
        }


@dataclass(frozen=True)
class LoggedOperation:
    """One call that the cloud got: when, for how long (both simulated seconds), its outcome ("ok" or the words)."""

    number: int
    at: float
    took: float
    operation: str
    type: str
    urn: str
    id: str
    outcome: str
