"""What joins several nodes of a type: EFA, InfiniBand or Ethernet, and how many Gbit/s of it one node has."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gpufleet.catalog.records import AwsGpuType, AzureGpuSize, GpuType
from gpufleet.documents.json import read_json


@dataclass(frozen=True, slots=True)
class Interconnect:
    """gbps: highest published bandwidth of one node on it; None if not known. burst: reached in bursts only."""

    kind: str
    gbps: float | None
    burst: bool = False

    @property
    def fabric(self) -> bool:
        """Whether it is more than Ethernet."""
        return self.kind != "Ethernet"


@cache
def _infiniband() -> Mapping[str, float]:
    """Gbit/s of InfiniBand of one node, by size. The records of sizes have its kind only."""
    rows = read_json(Path(__file__).with_name("infiniband.json"))
    return {row["type"]: float(row["gbps"]) for row in rows}


def interconnect_of(record: GpuType) -> Interconnect:
    """The fastest network that nodes of a type have between them."""
    if isinstance(record, AzureGpuSize) and record.infiniband:
        return Interconnect("InfiniBand", _infiniband().get(record.type))
    if isinstance(record, AwsGpuType):
        return Interconnect("EFA" if record.efa_interfaces else "Ethernet", record.network_gbps, record.network_burst)
    return Interconnect("Ethernet", record.network_gbps)


def line_rate(record: GpuType, network: str) -> float | None:
    """Gbit/s of one node on a pool's network: plain, efa or infiniband. None if not known."""
    return record.network_gbps if network == "plain" else interconnect_of(record).gbps
