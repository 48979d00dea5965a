"""The kinds of records in the catalog. Units are in the field names; None means unknown, never zero or free."""

import math
import re
from dataclasses import dataclass
from typing import ClassVar

_AS_OF = re.compile(r"\d{4}-(0[1-9]|1[0-2])(-([0-2]\d|3[01]))?")


@dataclass(frozen=True, slots=True)
class Record:
    """Where a figure comes from, and when it was true there."""

    KEY: ClassVar[tuple[str, ...]] = ()
    """Fields that name a record: unique in its file, and the order of the file."""

    def problems(self) -> list[tuple[str, str]]:
        """Fields whose values are impossible, with the reason."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        found = [
            (name, "must be above 0" + (" or null" if name in self.MAY_BE_UNKNOWN else ""))
            for name in self.ABOVE_ZERO
            if values[name] is not None and not 0 < values[name] < math.inf
        ]
        if not values["source"].strip():
            found.append(("source", "must say where the record comes from"))
        if not _AS_OF.fullmatch(values["as_of"]):
            found.append(("as_of", "must be a date like 2026-10 or 2026-10-31"))
        return found

    ABOVE_ZERO: ClassVar[tuple[str, ...]] = ()
    MAY_BE_UNKNOWN: ClassVar[tuple[str, ...]] = ()


@dataclass(frozen=True, slots=True)
class GpuType(Record):
    """Hardware of one instance type."""

    KEY = ("type",)
    ABOVE_ZERO = ("gpus", "gpu_memory_mib", "vcpus", "memory_gib", "network_gbps", "network_cards")
    MAY_BE_UNKNOWN = ("gpu_memory_mib", "network_gbps")

    type: str
    gpu_model: str
    gpus: int
    gpu_memory_mib: int | None
    """Memory of each GPU."""
    vcpus: int
    memory_gib: int
    architecture: str
    """x86_64 or arm64."""
    network_gbps: float | None
    """Highest network bandwidth of one instance."""
    network_burst: bool
    """Whether that bandwidth is reached in bursts only ("up to")."""
    network_cards: int
    efa_interfaces: int
    """Most EFA interfaces, at most one per network card; 0 = no EFA."""
    first_card_has_efa: bool | None
    """Whether network card 0 takes an EFA interface; None without EFA."""
    capacity_block: bool
    """Whether Capacity Blocks are sold for it."""
    quota_family: str
    """Family whose vCPU quota it counts against: P, or G and VT."""
    retired: str | None
    """When it left EC2's offerings, as a year or month; None = current."""
    successor: str | None
    """A current type with about as many GPUs, for a retired one. Our choice."""
    note: str | None
    source: str
    as_of: str


@dataclass(frozen=True, slots=True)
class ZoneOffer(Record):
    """Zones of one region that offer one instance type. Says nothing about free capacity."""

    KEY = ("type", "region")

    type: str
    region: str
    zone_ids: tuple[str, ...]
    source: str
    as_of: str


@dataclass(frozen=True, slots=True)
class Zone(Record):
    """One availability zone, by the id that is the same in every account. Local zones are not listed."""

    KEY = ("region", "zone_id")

    region: str
    zone_id: str
    eks_control_plane: bool
    """Whether EKS takes subnets of this zone for a control plane."""
    source: str
    as_of: str


@dataclass(frozen=True, slots=True)
class Price(Record):
    """Price of one instance for one hour: Linux, shared tenancy, before tax."""

    KEY = ("type", "region", "market")
    ABOVE_ZERO = ("usd_per_hour",)
    MAY_BE_UNKNOWN = ("usd_per_hour",)

    type: str
    region: str
    market: str
    """on-demand or spot."""
    usd_per_hour: float | None
    source: str
    as_of: str


@dataclass(frozen=True, slots=True)
class Quota(Record):
    """The service quota that limits the vCPUs of a family in one market."""

    KEY = ("family", "market")

    family: str
    market: str
    code: str
    source: str
    as_of: str
