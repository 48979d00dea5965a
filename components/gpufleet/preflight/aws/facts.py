"""What preflight asks an AWS account, real or simulated."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class CapacityReservation:
    """A capacity reservation or capacity block. free, total: instances; those of the stack itself count as free."""

    type: str
    zone: str
    """Id of its zone."""
    state: str
    free: int
    total: int
    kind: str = "default"
    """As EC2 calls it: default or capacity-block."""


@dataclass(frozen=True)
class PlacementGroup:
    """A placement group."""

    strategy: str
    state: str


@dataclass(frozen=True)
class ExistingResources:
    """How many of something the account holds. own: those of the stack, others: all that are not."""

    own: int
    others: int


class AwsFacts(Protocol):
    """One account, seen in one region. Every question may raise UserError: the one line that says why it is open."""

    def zone_names(self) -> Mapping[str, str]:
        """The account's name of each zone id."""
        ...

    def zones_with(self, types: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """Ids of the zones that offer each type, sorted; () for a type that none does."""
        ...

    def limit(self, family: str, market: str) -> int | None:
        """The quota on vCPUs; None when the account says nothing of it."""
        ...

    def in_use(self, market: str) -> Mapping[str, int]:
        """vCPUs by family that count against the quotas of a market, without those of the stack itself."""
        ...

    def reservation(self, reservation_id: str) -> CapacityReservation | None:
        """A reservation that the account holds or that is shared with it; None if that id does not exist."""
        ...

    def placement_group(self, name: str) -> PlacementGroup | None:
        """A placement group; None if that name does not exist."""
        ...

    def resource_limit(self, counted: str) -> int | None:
        """A quota on a number of resources, by its name in the catalog; None when the account says nothing."""
        ...

    def network_use(self, counted: str) -> Mapping[str, ExistingResources]:
        """What counts against that quota: NAT gateways by zone id, all else under "" for the region."""
        ...
