"""What preflight asks an Azure subscription."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class SubscriptionSku:
    """A VM size in a region. zones: those that have it, as the subscription numbers them (1, 2, 3).

    restrictions: (Location or Zone, reason, zones), for instance ("Zone", "NotAvailableForSubscription", ("3",)).
    """

    zones: Sequence[str]
    restrictions: Sequence[tuple[str, str, Sequence[str]]]


@dataclass(frozen=True)
class QuotaUsage:
    """A quota on cores, and how many run."""

    limit: int
    in_use: int


@dataclass(frozen=True)
class BatchAccountQuota:
    """The core quota of a Batch account itself, and what its pools run.

    own_quota: whether it has one; an account in UserSubscription mode allocates in the subscription. dedicated,
    low_priority: cores of all families together. by_family: limit on dedicated cores by family as `plain_family` has
    it; None if families are not limited apart. used: cores by (family, market), without the stack's own pools.
    """

    own_quota: bool
    dedicated: int | None
    low_priority: int | None
    by_family: Mapping[str, int] | None
    used: Mapping[tuple[str, str], int]


class AzureFacts(Protocol):
    """One subscription, seen in one region. Questions may raise UserError: the one line that says why it is open."""

    def sku(self, size: str) -> SubscriptionSku | None:
        """A size in the region; None if the subscription's list does not hold it."""
        ...

    def usage(self, family: str, market: str) -> QuotaUsage | None:
        """The subscription's quota on cores of a family, or of all (`quota_limits.ALL`); None if there is none."""
        ...

    def batch(self, account: str) -> BatchAccountQuota | None:
        """A Batch account of the subscription; None if that name does not exist."""
        ...

    def outbound_addresses(self, subnet: str) -> Sequence[str]:
        """The public addresses and prefixes of the NAT gateway of a subnet, as ranges; none if it has no gateway.

        subnet: its full id, in any subscription.
        """
        ...
