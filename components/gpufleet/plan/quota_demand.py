"""What the pools of a plan need of an account's quotas, summed by account, family and market."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gpufleet.catalog import GpuType, aws, azure
from gpufleet.catalog.quota_family import family_of
from gpufleet.plan.azure.graph import AzureGraph
from gpufleet.plan.pools import PlannedPool
from gpufleet.plan.quota_limits import ALL
from gpufleet.plan.resource import Plan
from gpufleet.rules import coerce
from gpufleet.rules.coerce import is_whole

RESERVED = ("reservation", "capacity-block")
"""Capacity that asks for no quota when nodes launch. A capacity reservation has counted against the on-demand quota
since it was made, used or not, on both clouds; instances in an EC2 Capacity Block do not count at all.
Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-reservations.html (quotas and limitations),
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html (considerations),
https://learn.microsoft.com/azure/virtual-machines/capacity-reservation-create."""

BATCH_ACCOUNT = "batch:BatchAccount"
"""Of any API version."""


@dataclass(frozen=True)
class PoolDemand:
    """What one pool needs at its peak. most: nodes; vcpus: of one node; None = not known before deployment."""

    pool: str
    most: int | None
    vcpus: int | None


@dataclass(frozen=True)
class QuotaDemand:
    """All that counts against one quota. account: a Batch account's name, "" for the subscription or AWS account;
    family: None where the types of the pools are not known; market: on-demand or spot, None where not known."""

    cloud: str
    region: str | None
    account: str
    family: str | None
    market: str | None
    shares: tuple[PoolDemand, ...]

    @property
    def peak(self) -> int | None:
        """vCPUs at the peak; None if a share is not known."""
        sizes = [each.most * each.vcpus for each in self.shares if each.most is not None and each.vcpus is not None]
        return sum(sizes) if len(sizes) == len(self.shares) else None


@dataclass(frozen=True)
class DemandingPool:
    """A pool by the arguments that determine its demand. account: whose quota it is, "" for the subscription's."""

    name: str
    cloud: str
    region: str | None
    arguments: Mapping[str, object]
    unknown: frozenset[str] = field(default=frozenset())
    account: str = ""
    most_by_type: Mapping[str, int] = field(default_factory=dict)
    """Most nodes if all were of that type, where it is vCPUs that are limited (AWS Batch); empty: `max`."""


def quota_demand(pools: Iterable[PlannedPool], plan: Plan | None = None) -> list[QuotaDemand]:
    """What the GPU pools of a plan need, one entry for each quota. `plan` tells whose quota an Azure Batch pool is."""
    return quota_demand_of(
        DemandingPool(
            name=name_of(pool, plan),
            cloud=pool.cloud,
            region=pool.region,
            arguments=pool.intent,
            unknown=frozenset(pool.unknown),
            account=_account(pool, plan),
            most_by_type=pool.most_by_type,
        )
        for pool in pools
        if pool.gpu is not False
    )


def quota_demand_of(pools: Iterable[DemandingPool]) -> list[QuotaDemand]:
    """What pools need, one entry for each quota, in the order in which the pools name them."""
    found: dict[tuple[str, str | None, str, str | None, str | None], list[PoolDemand]] = {}
    for pool in pools:
        capacity = None if "capacity" in pool.unknown else pool.arguments.get("capacity", "on-demand")
        if capacity in RESERVED:
            continue
        market = capacity if capacity in ("on-demand", "spot") else None
        for family, (most, vcpus) in _families(pool, market).items():
            key = (pool.cloud, pool.region, pool.account, family, market)
            found.setdefault(key, []).append(PoolDemand(pool.name, most, vcpus))
    return [QuotaDemand(*key, tuple(shares)) for key, shares in found.items()]


def name_of(pool: PlannedPool, plan: Plan | None) -> str:
    """What users call a pool: the name of our component that it is in, or its own."""
    parent = plan.by_urn.get(pool.resource.parent) if plan else None
    return parent.name if parent is not None and parent.type.startswith("gpufleet") else pool.resource.name


def _families(pool: DemandingPool, market: str | None) -> dict[str | None, tuple[int | None, int | None]]:
    """Most nodes and vCPUs of one, by the family that they count against: of several types the one that needs most."""
    most = pool.arguments.get("max")
    most = int(most) if is_whole(most) else None
    records = _records(pool.cloud)
    known = [records[name] for name in coerce.texts(pool.arguments, "types") if name in records]
    if not known:
        return {None: (most, None)}
    found: dict[str | None, tuple[int | None, int | None]] = {}
    for record in sorted(known, key=lambda each: pool.most_by_type.get(each.type, 1) * each.vcpus):
        for family in _counted(record, pool, market):
            found[family] = (pool.most_by_type.get(record.type, most), record.vcpus)
    return found


def _records(cloud: str) -> Mapping[str, GpuType]:
    return aws().types if cloud == "aws" else azure().types


def _counted(record: GpuType, pool: DemandingPool, market: str | None) -> tuple[str, ...]:
    """The quotas that a node of this type counts against."""
    if pool.cloud == "aws":
        return (family_of(record.type, record.quota_family, market),)
    # Azure counts Spot cores of all families together, and all others twice: by family, and together.
    return (ALL,) if market == "spot" else (record.quota_family, ALL)


def _account(pool: PlannedPool, plan: Plan | None) -> str:
    """The Batch account whose own quota a pool counts against. One in UserSubscription mode has none."""
    if pool.kind != "batch-pool":
        return ""
    made = AzureGraph(plan).behind(pool.resource, "accountName", BATCH_ACCOUNT) if plan else []
    if made and made[0].inputs.get("poolAllocationMode") == "UserSubscription":
        return ""
    name = pool.resource.inputs.get("accountName")
    named = made[0].inputs.get("accountName") if made else None
    return next((each for each in (name, named) if isinstance(each, str)), made[0].name if made else pool.resource.name)
