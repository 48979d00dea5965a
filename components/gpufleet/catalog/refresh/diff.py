"""The changes of a refresh, as lines of text."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TypeVar

from gpufleet.catalog.catalog import Catalog
from gpufleet.catalog.records import GpuType, Price, Record, ServicePrice, SpotPrice, ZoneOffer

T = TypeVar("T", bound=GpuType)

SHOWN = 20
"""Most lines for one kind of record; the rest is counted."""


@dataclass(frozen=True)
class CatalogDiff:
    """One kind of record before and after. Source and date alone are not a change."""

    what: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    """Each with its key, and from what to what."""

    def lines(self) -> list[str]:
        """One line that counts, then one for each change."""
        counts = f"{self.what}: {len(self.added)} added, {len(self.removed)} removed, {len(self.changed)} changed"
        lines = [
            *(f"  {line}" for line in self.changed),
            *(f"  - {line}" for line in self.removed),
            *(f"  + {line}" for line in self.added),
        ]
        more = [f"  and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
        return [counts, *lines[:SHOWN], *more]


@dataclass(frozen=True)
class CatalogSnapshot:
    """All records of a catalog, by kind and key."""

    kinds: Mapping[str, Mapping[tuple[str, ...], Record]]

    @classmethod
    def of(cls, catalog: Catalog[T]) -> "CatalogSnapshot":
        """Read now: the files may be replaced afterwards."""
        kinds: dict[str, tuple[str, type[Record]]] = {
            "types": ("instance_types.json", catalog.kind),
            "zone offers": ("zone_offers.json", ZoneOffer),
            "prices": ("prices.json", Price),
            "Spot prices": ("spot_prices.json", SpotPrice),
            "service prices": ("service_prices.json", ServicePrice),
        }
        return cls({what: catalog.records(name, kind) for what, (name, kind) in kinds.items()})


def diff_snapshots(before: CatalogSnapshot, after: CatalogSnapshot) -> list[CatalogDiff]:
    """For each kind what was added, removed and changed."""
    found = []
    for what, old in before.kinds.items():
        new = after.kinds[what]
        found.append(
            CatalogDiff(
                what,
                tuple(f"{_named(key)}: {_said(new[key])}" for key in sorted(new.keys() - old.keys())),
                tuple(_named(key) for key in sorted(old.keys() - new.keys())),
                tuple(
                    f"{_named(key)}: {difference}"
                    for key in sorted(old.keys() & new.keys())
                    if (difference := _difference(old[key], new[key]))
                ),
            )
        )
    return found


def _named(key: tuple[str, ...]) -> str:
    return " ".join(key)


def _said(record: Record) -> str:
    match record:
        case Price(usd_per_hour=usd):
            return _usd(usd)
        case SpotPrice(usd_low=low, usd_high=high):
            return f"{_usd(low)} to {_usd(high)}"
        case ServicePrice(usd=usd, unit=unit):
            return f"{_usd(usd)} per {unit}"
        case ZoneOffer(zone_ids=zones):
            return ", ".join(zones)
        case GpuType(gpus=gpus, gpu_model=model):
            return f"{gpus} {model}"
        case _:
            return ""


def _difference(old: Record, new: Record) -> str:
    """What of a record changed, "" if nothing but its source and date."""
    if isinstance(old, GpuType) and isinstance(new, GpuType):
        before, after = asdict(old), asdict(new)
        fields = [name for name in before if name not in ("source", "as_of") and before[name] != after[name]]
        return ", ".join(f"{name} {before[name]} -> {after[name]}" for name in fields)
    before_said, after_said = _said(old), _said(new)
    return f"{before_said} -> {after_said}" if before_said != after_said else ""


def _usd(usd: float | None) -> str:
    return "unknown" if usd is None else f"{usd} USD"
