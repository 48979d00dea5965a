"""Facts as data: GPU types, the zones that offer them, prices, quotas. Every record has a source and a date.

`aws()` and `azure()` give the catalog of a cloud; nothing is read before the first look-up. `gpu_type` looks one AWS
type up.
"""

from functools import cache
from pathlib import Path

from gpufleet.catalog.catalog import Catalog
from gpufleet.catalog.reading import CatalogError
from gpufleet.catalog.records import AwsGpuType, AzureGpuSize, GpuType, Price, Quota, ServicePrice, Zone, ZoneOffer

__all__ = [
    "AwsGpuType",
    "AzureGpuSize",
    "Catalog",
    "CatalogError",
    "GpuType",
    "Price",
    "Quota",
    "ServicePrice",
    "Zone",
    "ZoneOffer",
    "aws",
    "azure",
    "gpu_type",
]


@cache
def aws() -> Catalog[AwsGpuType]:
    """The catalog of AWS that ships with this package."""
    return Catalog(Path(__file__).parent / "aws", AwsGpuType)


@cache
def azure() -> Catalog[AzureGpuSize]:
    """The catalog of Azure that ships with this package."""
    return Catalog(Path(__file__).parent / "azure", AzureGpuSize)


def gpu_type(name: str) -> AwsGpuType:
    """The record of an AWS GPU type that the rules have let pass. Raises KeyError for an unknown one."""
    return aws().types[name]
