"""Facts as data: GPU types, the zones that offer them, prices, quotas. Every record has a source and a date.

`aws()` and `azure()` give the catalog of a cloud; nothing is read before the first look-up. `gpu_type` looks one AWS
type up. What `gpufleet catalog refresh` has written to the user's folder is preferred while it is newer.
"""

import os
from functools import cache
from pathlib import Path

from gpufleet.catalog.catalog import Catalog
from gpufleet.catalog.loader import CatalogError
from gpufleet.catalog.records import (
    AwsGpuType,
    AwsZone,
    AzureGpuSize,
    GpuType,
    Price,
    Quota,
    ResourceQuota,
    ServicePrice,
    SpotPrice,
    Zone,
    ZoneOffer,
    same_family,
)

__all__ = [
    "AwsGpuType",
    "AwsZone",
    "AzureGpuSize",
    "Catalog",
    "CatalogError",
    "GpuType",
    "Price",
    "Quota",
    "ResourceQuota",
    "ServicePrice",
    "SpotPrice",
    "Zone",
    "ZoneOffer",
    "aws",
    "azure",
    "eks_zones",
    "gpu_type",
    "gpu_types",
    "same_family",
    "user_folder",
]


@cache
def aws() -> Catalog[AwsGpuType]:
    """The catalog of AWS."""
    return Catalog(Path(__file__).parent / "aws", AwsGpuType, user_folder("aws"))


@cache
def azure() -> Catalog[AzureGpuSize]:
    """The catalog of Azure."""
    return Catalog(Path(__file__).parent / "azure", AzureGpuSize, user_folder("azure"))


def user_folder(cloud: str) -> Path | None:
    """Where `gpufleet catalog refresh` keeps a cloud's files for this user; None if GPUFLEET_CATALOG is set to nothing.

    $GPUFLEET_CATALOG/<cloud>, else $XDG_DATA_HOME/gpufleet/catalog/<cloud>, else the same in ~/.local/share.
    """
    chosen = os.environ.get("GPUFLEET_CATALOG")
    if chosen == "":
        return None
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")  # noqa: PTH111 - never raises
    return Path(chosen, cloud) if chosen else Path(data, "gpufleet", "catalog", cloud)


def gpu_types() -> dict[str, GpuType]:
    """The GPU types of every cloud, by name."""
    return {**aws().types, **azure().types}


def gpu_type(name: str) -> AwsGpuType:
    """The record of an AWS GPU type that the rules have let pass. Raises KeyError for an unknown one."""
    return aws().types[name]


def eks_zones(region: str) -> dict[str, bool]:
    """Whether EKS takes subnets of a zone for a control plane, by zone id; empty for an unknown region."""
    zones = aws().regions.get(region, {}).values()
    return {zone.zone_id: zone.eks_control_plane for zone in zones if isinstance(zone, AwsZone)}
