"""The registries in which EKS keeps its own images, one for each region."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gpufleet.catalog.loader import read_records
from gpufleet.catalog.records import Record

_FILE = Path(__file__).parent / "aws" / "eks_registries.json"


@dataclass(frozen=True, slots=True)
class EksRegistry(Record):
    """EKS's registry in one region.

    ap-east-2 has none here: AWS's page gives it a host in another region.
    """

    KEY = ("region",)

    region: str
    """Region code, for instance us-east-1."""
    registry: str
    """Host that the names of its images begin with; nodes pull from it with the rights of their role."""
    source: str
    as_of: str


@cache
def eks_registries() -> dict[str, EksRegistry]:
    """The registries that are known, by region. Raises CatalogError if the file is broken."""
    return {key[0]: record for key, record in read_records(_FILE, EksRegistry).items()}
