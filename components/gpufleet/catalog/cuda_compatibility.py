"""What runs the CUDA of a job's image: NVIDIA's driver in the image of the node, and the node's GPUs.

CUDA from 11 on is compatible within a major version: any 12.x runs on any driver that the first 12.x ran on.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

from gpufleet.catalog.loader import read_records
from gpufleet.catalog.records import Record

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class CudaRelease(Record):
    """One major version of CUDA."""

    KEY = ("major",)
    ABOVE_ZERO: ClassVar[tuple[str, ...]] = ("least_driver",)

    major: str
    least_driver: int
    """Oldest branch of NVIDIA's Linux driver that runs programs of any minor version."""
    source: str
    as_of: str


@dataclass(frozen=True, slots=True)
class GpuCuda(Record):
    """Which versions of CUDA make code for one model of GPU."""

    KEY = ("gpu_model",)

    gpu_model: str
    first_cuda: str | None
    """First version that does; None = not known."""
    last_cuda: str | None
    """Last version that does; None = every later one so far."""
    source: str
    as_of: str


@dataclass(frozen=True, slots=True)
class NodeImage(Record):
    """The driver in a node image that the cloud publishes, as nodes get it that start now."""

    KEY = ("image",)
    ABOVE_ZERO: ClassVar[tuple[str, ...]] = ("driver",)
    MAY_BE_UNKNOWN: ClassVar[tuple[str, ...]] = ("driver",)

    image: str
    driver: int | None
    """Branch of NVIDIA's driver, for instance 580."""
    source: str
    as_of: str


@cache
def cuda_releases() -> dict[str, CudaRelease]:
    """Major versions of CUDA, by number. Raises CatalogError if the file is broken."""
    return {key[0]: record for key, record in read_records(_FOLDER / "cuda.json", CudaRelease).items()}


@cache
def gpu_cuda() -> dict[str, GpuCuda]:
    """What is known of GPUs and CUDA, by model. Raises CatalogError if the file is broken."""
    return {key[0]: record for key, record in read_records(_FOLDER / "gpu_cuda.json", GpuCuda).items()}


@cache
def node_images(cloud: str) -> dict[str, NodeImage]:
    """A cloud's node images (aws: al2023, bottlerocket), by name. Raises CatalogError if the file is broken."""
    return {key[0]: record for key, record in read_records(_FOLDER / cloud / "node_images.json", NodeImage).items()}
