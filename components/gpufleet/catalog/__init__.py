"""Facts as data: GPU types, the zones that offer them, prices, quotas. Every record has a source and a date.

`aws()` gives the catalog of AWS; nothing is read before the first look-up. `gpu_type` looks one type up.
"""

from functools import cache
from pathlib import Path

from gpufleet.catalog.catalog import Catalog
from gpufleet.catalog.reading import CatalogError
from gpufleet.catalog.records import GpuType, Price, Quota, Zone, ZoneOffer

__all__ = [
    "Catalog",
    "CatalogError",
    "GpuType",
    "Price",
    "Quota",
    "Zone",
    "ZoneOffer",
    "aws",
    "gpu_type",
]


@cache
def aws() -> Catalog:
    """The catalog of AWS that ships with this package."""
    return Catalog(Path(__file__).parent / "aws")


def gpu_type(name: str) -> GpuType:
    """The record of an AWS GPU type that the rules have let pass. Raises KeyError for an unknown one."""
    return aws().types[name]
