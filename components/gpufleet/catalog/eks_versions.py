"""The Kubernetes versions of EKS: since when it has each, and until when with standard and with extended support."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gpufleet.catalog.loader import read_records
from gpufleet.catalog.records import Record

_FILE = Path(__file__).parent / "aws" / "kubernetes_versions.json"


@dataclass(frozen=True, slots=True)
class EksVersion(Record):
    """A minor version of Kubernetes as EKS offers it."""

    KEY = ("version",)

    version: str
    """major.minor, for instance 1.35."""
    released: str
    """Day on which EKS first made clusters with it."""
    standard_until: str
    """Day on which standard support ends: from then on extended support is paid for, or EKS upgrades the cluster."""
    extended_until: str
    """Day on which extended support ends: from then on EKS makes no cluster with it and upgrades those that have it."""
    source: str
    as_of: str

    @property
    def offered(self) -> bool:
        """Whether EKS made clusters with it in the month of the record, with standard or extended support.

        The record's month and not today's: what a program may ask for changes with the catalog, not overnight.
        """
        return self.extended_until >= self.as_of


def minor_of(version: str) -> int:
    """34 for 1.34; what is not a version counts as newer than all."""
    minor = version.partition(".")[2]
    return int(minor) if minor.isdecimal() else 10**6


@cache
def eks_versions() -> dict[str, EksVersion]:
    """Minor versions in order, the oldest first. Raises CatalogError if the file is broken."""
    return {key[0]: record for key, record in read_records(_FILE, EksVersion).items()}
