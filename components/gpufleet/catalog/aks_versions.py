"""The Kubernetes versions of AKS: from when each is general, and until when a cluster may be made with it."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gpufleet.catalog.loader import read_records
from gpufleet.catalog.records import Record

_FILE = Path(__file__).parent / "azure" / "kubernetes_versions.json"


@dataclass(frozen=True, slots=True)
class AksVersion(Record):
    """A minor version of Kubernetes as AKS offers it."""

    KEY = ("version",)

    version: str
    """major.minor, for instance 1.35."""
    general_since: str
    """Month of general availability, in the future where that is planned."""
    supported_until: str
    """Last day of standard support, after which AKS makes no cluster with it without long-term support."""
    source: str
    as_of: str

    @property
    def offered(self) -> bool | None:
        """Whether AKS made clusters with it on the day of the record; None for a version that was to come.

        The record's day and not today's: what a program may ask for changes with the catalog, not overnight.
        """
        if self.general_since > self.as_of:
            return None
        return self.supported_until >= self.as_of


@cache
def aks_versions() -> dict[str, AksVersion]:
    """Minor versions in order, the oldest first. Raises CatalogError if the file is broken."""
    return {key[0]: record for key, record in read_records(_FILE, AksVersion).items()}
