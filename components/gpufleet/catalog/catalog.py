"""Facts about one cloud, looked up by name. Files are read when first asked for."""

from functools import cached_property
from pathlib import Path
from typing import Generic, TypeVar

from gpufleet.catalog.reading import CatalogError, read_records
from gpufleet.catalog.records import GpuType, Price, Quota, ServicePrice, Zone, ZoneOffer

T = TypeVar("T", bound=GpuType)


class Catalog(Generic[T]):
    """The records of one cloud's folder. Every look-up may raise CatalogError, if the folder's files are broken.

    kind: what the cloud's GPU types are.
    """

    def __init__(self, folder: Path, kind: type[T]) -> None:
        self._folder = folder
        self._kind = kind

    @cached_property
    def types(self) -> dict[str, T]:
        """Every GPU type, retired ones too, by name."""
        records = read_records(self._folder / "instance_types.json", self._kind)
        return {key[0]: record for key, record in records.items()}

    @cached_property
    def offers(self) -> dict[tuple[str, str], ZoneOffer]:
        """Which zones offer a type, by type and region."""
        offers = read_records(self._folder / "zone_offers.json", ZoneOffer)
        return {(key[0], key[1]): record for key, record in offers.items()}

    @cached_property
    def regions(self) -> dict[str, dict[str, Zone]]:
        """Zones by id, by region."""
        regions: dict[str, dict[str, Zone]] = {}
        for zone in read_records(self._folder / "zones.json", Zone).values():
            regions.setdefault(zone.region, {})[zone.zone_id] = zone
        return regions

    @cached_property
    def prices(self) -> dict[tuple[str, str, str], Price]:
        """Prices by type, region and market."""
        prices = read_records(self._folder / "prices.json", Price)
        return {(key[0], key[1], key[2]): record for key, record in prices.items()}

    @cached_property
    def quotas(self) -> dict[tuple[str, str], Quota]:
        """vCPU quotas by family and market."""
        quotas = read_records(self._folder / "quotas.json", Quota)
        return {(key[0], key[1]): record for key, record in quotas.items()}

    @cached_property
    def service_prices(self) -> dict[tuple[str, str, str], ServicePrice]:
        """Prices of what surrounds a pool, by service, item and region."""
        prices = read_records(self._folder / "service_prices.json", ServicePrice)
        return {(key[0], key[1], key[2]): record for key, record in prices.items()}

    def zones_with(self, type_name: str, region: str) -> tuple[str, ...] | None:
        """Zone ids of a region that offer a type, empty if none does; None if the type or the region is not known."""
        if type_name not in self.types or region not in self.regions:
            return None
        offer = self.offers.get((type_name, region))
        return offer.zone_ids if offer else ()

    def regions_with(self, type_name: str) -> tuple[str, ...]:
        """Regions that offer a type, in some zone."""
        return tuple(region for name, region in self.offers if name == type_name)

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

    def check(self) -> None:
        """Read all files and join them.

        Raises CatalogError for a broken file, or for a record that names a type, zone or family that no other has.
        """
        faults = [f"prices.json: {key[0]}: no such type" for key in self.prices if key[0] not in self.types]
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
            raise CatalogError("\n".join(f"{self._folder.name}/{fault}" for fault in faults))
