"""Marketplace images that nodes of Azure Batch start from, and the node agent that each of them needs."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

from gpufleet.catalog.loader import read_records
from gpufleet.catalog.records import Record

DEFAULT_IMAGE = "microsoft-dsvm:ubuntu-hpc:2404"
"""Ubuntu with NVIDIA's driver, InfiniBand and a container runtime; supported longer than the one before it."""


@dataclass(frozen=True, slots=True)
class BatchImage(Record):
    """One image of the marketplace, at its latest version."""

    KEY = ("image",)
    MAY_BE_UNKNOWN: ClassVar[tuple[str, ...]] = ("driver",)

    image: str
    """publisher:offer:sku."""
    node_agent: str
    """Id of the node agent SKU that Batch runs on it."""
    architecture: str
    """x86_64 or arm64."""
    docker: bool
    """Whether tasks can be containers on it (Batch: DockerCompatible)."""
    driver: str | None
    """Which of NVIDIA's drivers is in it: cuda; None = none."""
    infiniband: bool
    """Whether the drivers of InfiniBand are in it."""
    source: str
    as_of: str


@cache
def batch_images() -> dict[str, BatchImage]:
    """The images that are known, by publisher:offer:sku. Raises CatalogError if the file is broken."""
    path = Path(__file__).with_name("batch_images.json")
    return {key[0]: record for key, record in read_records(path, BatchImage).items()}
