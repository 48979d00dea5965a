"""Facts about one cloud, looked up by name. Files are read when first asked for."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Generic, TypeVar

from gpufleet.catalog.loader import EDITION, CatalogError, read_edition, read_records
from gpufleet.catalog.records import (
    AutomaticName,
    GpuType,
    Price,
    Quota,
    Record,
    ResourceQuota,
    ServicePrice,
    SpotPrice,
    Zone,
    ZoneOffer,
)

T = TypeVar("T", bound=GpuType)
R = TypeVar("R", bound=Record)

NEXT = ".next"
"""Folder inside a catalog's folder in which a refresh leaves its files while it replaces the old ones."""
COMPLETE = "complete"
"""File inside NEXT: all new files are there, so they hold from now on, also when the refresh dies before it is done."""


class Catalog(Generic[T]):
    """The records of one cloud's folder. Every look-up may raise CatalogError, if the folder's files are broken.

    folder: the files that ship with the package. kind: what the cloud's GPU types are.
    refreshed: the user's folder, which `gpufleet catalog refresh` writes; each file in it is read instead of the
    shipped one if the folder is newer (by edition.json).
    """

    def __init__(self, folder: Path, kind: type[T], refreshed: Path | None = None) -> None:
        self.folder = folder
        self.kind = kind
        self._refreshed = refreshed

    @cached_property
    def refreshed(self) -> Path | None:
        """The user's folder, if it is there and not older than the shipped one."""
        if self._refreshed is None or not self._refreshed.is_dir():
            return None
        # Of one day, the user's: it was read later than the shipped one was released.
        return self._refreshed if _edition(self._refreshed) >= _edition(self.folder) else None

    @cached_property
    def edition(self) -> str:
        """The day on which this data was brought together, "" if nobody knows."""
        return _edition(self.refreshed or self.folder)

    @cached_property
    def types(self) -> dict[str, T]:
        """Every GPU type, retired ones too, by name."""
        return {key[0]: record for key, record in self.records("instance_types.json", self.kind).items()}

    @cached_property
    def offers(self) -> dict[tuple[str, str], ZoneOffer]:
        """Which zones offer a type, by type and region."""
        offers = self.records("zone_offers.json", ZoneOffer)
        return {(key[0], key[1]): record for key, record in offers.items()}

    @cached_property
    def regions(self) -> dict[str, dict[str, Zone]]:
        """Zones by id, by region."""
        regions: dict[str, dict[str, Zone]] = {}
        for zone in self.records("zones.json", self.kind.ZONE).values():
            regions.setdefault(zone.region, {})[zone.zone_id] = zone
        return regions

    @cached_property
    def prices(self) -> dict[tuple[str, str, str], Price]:
        """Prices by type, region and market."""
        return {(key[0], key[1], key[2]): record for key, record in self.records("prices.json", Price).items()}

    @cached_property
    def spot_prices(self) -> dict[tuple[str, str], SpotPrice]:
        """Ranges of Spot prices by type and region."""
        return {(key[0], key[1]): record for key, record in self.records("spot_prices.json", SpotPrice).items()}

    @cached_property
    def quotas(self) -> dict[tuple[str, str], Quota]:
        """vCPU quotas by family and market."""
        return {(key[0], key[1]): record for key, record in self.records("quotas.json", Quota).items()}

    @cached_property
    def resource_quotas(self) -> dict[str, ResourceQuota]:
        """Quotas on addresses, networks, gateways and nodes, by what is counted. AWS only: CatalogError on Azure."""
        return {key[0]: record for key, record in self.records("resource_quotas.json", ResourceQuota).items()}

    @cached_property
    def automatic_names(self) -> dict[str, AutomaticName]:
        """How long names may be that the provider makes, by type."""
        return {key[0]: record for key, record in self.records("automatic_names.json", AutomaticName).items()}

    @cached_property
    def service_prices(self) -> dict[tuple[str, str, str], ServicePrice]:
        """Prices of what surrounds a pool, by service, item and region."""
        prices = self.records("service_prices.json", ServicePrice)
        return {(key[0], key[1], key[2]): record for key, record in prices.items()}

    def path(self, name: str) -> Path:
        """Where a file is read: in the user's folder if that one counts and has it, else in the shipped one."""
        refreshed = _file(self.refreshed, name) if self.refreshed else None
        return refreshed or _file(self.folder, name) or self.folder / name

    def records(self, name: str, kind: type[R]) -> dict[tuple[str, ...], R]:
        """The records of one file, by key."""
        path = self.path(name)
        try:
            return read_records(path, kind)
        except CatalogError as error:
            if self.folder in path.parents:
                raise
            first, *more = str(error).splitlines()
            fault = first.partition(": ")[2] + (f" (and {len(more)} more)" if more else "")
            remedy = f"`gpufleet catalog refresh {self.folder.name}` writes it again, or delete it"
            raise CatalogError(f"{path}: {fault}; {remedy}") from error

    def zones_with(self, type_name: str, region: str) -> tuple[str, ...] | None:
        """Zone ids of a region that offer a type, empty if none does.

        None if that is not known: an unknown type or region, and on Azure (where the shipped files hold no offers) a
        region without a record of this type.
        """
        if type_name not in self.types or region not in self.regions:
            return None
        if offer := self.offers.get((type_name, region)):
            return offer.zone_ids
        return () if self.kind.OFFERS_COMPLETE else None

    @cached_property
    def _offering(self) -> Mapping[str, set[str]]:
        """Type -> regions with an offer of it."""
        found: dict[str, set[str]] = {}
        for name, region in self.offers:
            found.setdefault(name, set()).add(region)
        return found

    def regions_with(self, type_name: str) -> tuple[str, ...]:
        """Regions that offer a type in some zone, and where offers are not complete also those with a price for it."""
        offering = set(self._offering.get(type_name, ()))
        if not self.kind.OFFERS_COMPLETE:
            offering |= {key[1] for key, price in self.prices.items() if key[0] == type_name and price.usd_per_hour}
        return tuple(sorted(offering))

    def offered(self, type_name: str, zone_id: str) -> bool | None:
        """Whether a zone offers a type; None if the type or the zone is not known."""
        for region, zones in self.regions.items():
            if zone_id in zones:
                with_type = self.zones_with(type_name, region)
                return None if with_type is None else zone_id in with_type
        return None

    def price(self, type_name: str, region: str, market: str = "on-demand") -> float | None:
        """USD for one hour of one instance; None if it is not known."""
        record = self.prices.get((type_name, region, market))
        return record.usd_per_hour if record else None

    def spot_range(self, type_name: str, region: str) -> tuple[float, float] | None:
        """Lowest and highest USD for one hour of one Spot instance; None if not known. Never a budget's number."""
        record = self.spot_prices.get((type_name, region))
        return (record.usd_low, record.usd_high) if record else None

    def check(self) -> None:
        """Read all files and join them.

        Raises CatalogError for a broken file, or for a record that names a type, zone or family that no other has.
        """
        faults = [f"prices.json: {key[0]}: no such type" for key in self.prices if key[0] not in self.types]
        faults += [f"spot_prices.json: {key[0]}: no such type" for key in self.spot_prices if key[0] not in self.types]
        faults += [
            f"service_prices.json: {key[2]}: no such region"
            for key in self.service_prices
            if key[2] not in self.regions
        ]
        for (name, region), offer in self.offers.items():
            if name not in self.types:
                faults.append(f"zone_offers.json: {name}: no such type")
            unknown = [zone for zone in offer.zone_ids if zone not in self.regions.get(region, {})]
            faults += [f"zone_offers.json: {name}, {region}: no such zone: {zone}" for zone in unknown]
        for record in self.types.values():
            if not any(family == record.quota_family for family, _ in self.quotas):
                faults.append(f"instance_types.json: {record.type}: no quota of family {record.quota_family}")
            if record.successor and record.successor not in self.types:
                faults.append(f"instance_types.json: {record.type}: no such successor: {record.successor}")
        if faults:
            raise CatalogError("\n".join(f"{self.folder.name}/{fault}" for fault in faults))


def _file(folder: Path, name: str) -> Path | None:
    """Where a file of this folder is: new, while a refresh replaces it or died in doing so; None if nowhere."""
    new = folder / NEXT
    places = ([new / name] if (new / COMPLETE).exists() else []) + [folder / name]
    return next((place for place in places if place.exists()), None)


def _edition(folder: Path) -> str:
    return read_edition(_file(folder, EDITION) or folder / EDITION)
