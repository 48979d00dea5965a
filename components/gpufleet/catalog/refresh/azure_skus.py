"""ResourceSkus of Microsoft.Compute: which sizes a subscription may have in which zones, and their hardware.

Source: https://learn.microsoft.com/rest/api/compute/resource-skus/list
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from urllib.parse import quote

from gpufleet.catalog.records import AzureGpuSize, Quota, Zone, ZoneOffer
from gpufleet.catalog.refresh.azure_management import Management

VERSION = "2021-07-01"
SPOT_QUOTA = "lowPriorityCores"


@dataclass(frozen=True)
class PublishedSku:
    """One size in one region. zones: numbers of those that this subscription may use, sorted.

    closed: the subscription may not use it in this region at all. vcpus, memory_gib, gpus: None where it is not said.
    retires: the day on which Azure allows it away.
    """

    name: str
    family: str | None
    zones: tuple[str, ...]
    closed: bool
    vcpus: int | None
    memory_gib: int | None
    gpus: int | None
    retires: date | None


@dataclass(frozen=True)
class RegionSkus:
    """What one region has. sizes that the catalog knows, by name; missing: those it knows and the region has not;
    unknown: names of GPU sizes that the catalog does not know."""

    region: str
    known: Mapping[str, PublishedSku]
    missing: tuple[str, ...]
    unknown: tuple[str, ...]
    numbers: tuple[str, ...]
    """Numbers of all zones that any size of the region names."""

    def offers(self, source: str, as_of: str) -> Iterator[ZoneOffer]:
        """Zones for each size. Without zones: a size that the region has not, or that the subscription may not use.

        A size that may be used, but in no particular zone, gives no record: nothing is known about its zones.
        """
        for name, sku in self.known.items():
            if sku.closed or sku.zones:
                zones = () if sku.closed else tuple(f"{self.region}-{number}" for number in sku.zones)
                yield ZoneOffer(name, self.region, zones, source, as_of)
        for name in self.missing:
            yield ZoneOffer(name, self.region, (), source, as_of)

    def zones(self, source: str, as_of: str) -> Iterator[Zone]:
        """The region's zones, as this subscription numbers them."""
        yield from (Zone(self.region, f"{self.region}-{number}", source, as_of) for number in self.numbers)

    def sizes(self, types: Mapping[str, AzureGpuSize], source: str, as_of: str) -> Iterator[AzureGpuSize]:
        """Records of sizes whose hardware or family is not what the catalog says."""
        for name, sku in self.known.items():
            old = types[name]
            new = replace(
                old,
                vcpus=sku.vcpus or old.vcpus,
                memory_gib=sku.memory_gib or old.memory_gib,
                gpus=sku.gpus or old.gpus,
                quota_family=sku.family or old.quota_family,
            )
            if new != old:
                yield replace(new, source=source, as_of=as_of)

    def quotas(self, source: str, as_of: str) -> Iterator[Quota]:
        """Quotas of the families that the sizes name."""
        for family in sorted({sku.family for sku in self.known.values() if sku.family}):
            yield Quota(family, "on-demand", family, source, as_of)
            yield Quota(family, "spot", SPOT_QUOTA, source, as_of)

    def notes(self, types: Mapping[str, AzureGpuSize], today: date) -> Iterator[str]:
        """What a person must add to the catalog."""
        if self.unknown:
            yield f"{self.region}: GPU sizes that the catalog does not have: {', '.join(self.unknown)}"
        for name, sku in self.known.items():
            if sku.retires and sku.retires <= today and not types[name].retired:
                yield f"{self.region}: {name} is retired since {sku.retires}, which the catalog does not say"


def read_skus(management: Management, region: str, types: Mapping[str, AzureGpuSize]) -> RegionSkus:
    """The machines of one region. Raises NotAllowedError."""
    asked = quote(f"location eq '{region}'")
    path = f"/subscriptions/{management.subscription}/providers/Microsoft.Compute/skus"
    rows = [
        row
        for row in management.items(f"{path}?api-version={VERSION}&$filter={asked}")
        if row.get("resourceType") == "virtualMachines"
    ]
    skus = [_sku(row, region) for row in rows]
    known = {sku.name: sku for sku in skus if sku.name in types}
    unknown = sorted(sku.name for sku in skus if sku.gpus and sku.name not in types)
    numbers = sorted({number for row in rows for number in _zones(row, region)})
    return RegionSkus(region, known, tuple(sorted(types.keys() - known.keys())), tuple(unknown), tuple(numbers))


def _sku(row: Mapping[str, object], region: str) -> PublishedSku:
    said = {str(each.get("name")): str(each.get("value")) for each in _objects(row.get("capabilities"))}
    limits = list(_objects(row.get("restrictions")))
    shut = {
        str(number)
        for limit in limits
        if limit.get("type") == "Zone"
        for number in _list(_object(limit.get("restrictionInfo")).get("zones"))
    }
    family = row.get("family")
    return PublishedSku(
        name=str(row.get("name")),
        family=family if isinstance(family, str) and family else None,
        zones=tuple(number for number in _zones(row, region) if number not in shut),
        closed=any(limit.get("type") == "Location" for limit in limits),
        vcpus=_whole(said.get("vCPUs")),
        memory_gib=_whole(said.get("MemoryGB")),
        gpus=_whole(said.get("GPUs")),
        retires=_day(said.get("RetirementDateUtc")),
    )


def _zones(row: Mapping[str, object], region: str) -> tuple[str, ...]:
    """Numbers of a size's zones in a region, restricted ones too. The service writes regions in changing case."""
    return tuple(
        sorted(
            str(number)
            for info in _objects(row.get("locationInfo"))
            if str(info.get("location")).lower() == region
            for number in _list(info.get("zones"))
        )
    )


def _whole(text: str | None) -> int | None:
    """A whole number above zero; sizes with a part of a GPU say 0 or a fraction."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return int(number) if number >= 1 and number == int(number) else None


def _day(text: str | None) -> date | None:
    """The service writes 09/30/2025."""
    try:
        return datetime.strptime(text or "", "%m/%d/%Y").date()
    except ValueError:
        return None


def _objects(value: object) -> Iterator[Mapping[str, object]]:
    return (each for each in _list(value) if isinstance(each, dict))


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}
