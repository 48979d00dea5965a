"""Resources that an inventory of a cloud finds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from gpufleet.ownership import Ownership


@dataclass(frozen=True)
class CloudResource:
    """A resource that the cloud holds. type: its Pulumi type. import_id: what `pulumi import` takes.

    name: its logical name, None for what takes no tags; then `inputs` (wire names) tell it from others of its type.
    id: as the state would have it, None where only the provider could say. arn: its ARN, None where it has none.
    own: the one of `inputs` that is its own name, where it has one. tags: its own, or of what it hangs on if it takes
    none; they say whose it is. quiet: it may be there without anybody's doing, so that it is not worth a word unless
    the program wants it.
    """

    type: str
    import_id: str
    name: str | None
    id: str | None = None
    inputs: Mapping[str, object] = field(default_factory=dict)
    arn: str | None = None
    own: str | None = None
    tags: Mapping[str, object] = field(default_factory=dict)
    quiet: bool = False

    def __str__(self) -> str:
        name = self.name or (self.inputs[self.own] if self.own else "unnamed")
        return f"{name} ({self.type} {self.import_id})"

    @cached_property
    def ownership(self) -> Ownership:
        """Who owns it, by its tags."""
        return Ownership.of_tags(self.tags)


class Inventory(Protocol):
    """Lists all resources that carry the name of an environment, no matter who owns them, and what hangs on them."""

    def holds(self, environment: str) -> Sequence[CloudResource]: ...
