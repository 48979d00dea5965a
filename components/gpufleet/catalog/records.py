"""The kinds of records in the catalog. Units are in the field names; None means unknown, never zero or free."""

import math
import re
from dataclasses import dataclass
from datetime import date
from functools import cache
from operator import attrgetter
from typing import ClassVar

OLD_AFTER_DAYS = 180
"""A price is old after half a year: AWS and Azure have changed GPU prices that often. Our choice."""

_AS_OF = re.compile(r"\d{4}-(0[1-9]|1[0-2])(-([0-2]\d|3[01]))?")
_ORIGIN = attrgetter("source", "as_of")


@cache
def _is_date(text: str) -> bool:
    """Whether a date exists. Kept, because thousands of records share a few dates."""
    if not _AS_OF.fullmatch(text):
        return False
    try:
        date(*(int(part) for part in (text if len(text) > 7 else f"{text}-01").split("-")))
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Record:
    """Where a figure comes from, and when it was true there."""

    KEY: ClassVar[tuple[str, ...]] = ()
    """Fields that name a record: unique in its file, and the order of the file."""

    def age_days(self, today: date) -> int:
        """Days since it was true at its source, the most that its date allows: a month counts from its first day."""
        year, month, *day = (int(part) for part in _ORIGIN(self)[1].split("-"))
        return (today - date(year, month, *(day or [1]))).days

    def is_old(self, today: date) -> bool:
        """Whether it is older than OLD_AFTER_DAYS."""
        return self.age_days(today) > OLD_AFTER_DAYS

    def problems(self) -> list[tuple[str, str]]:
        """Fields whose values are impossible, with the reason."""
        found = []
        for name in self.ABOVE_ZERO:
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                found.append((name, "must be above 0" + (" or null" if name in self.MAY_BE_UNKNOWN else "")))
        source, as_of = _ORIGIN(self)
        if not source or source.isspace():
            found.append(("source", "must say where the record comes from"))
        if not _is_date(as_of):
            found.append(("as_of", "must be a date like 2026-10 or 2026-10-31"))
        return found

    ABOVE_ZERO: ClassVar[tuple[str, ...]] = ()
    MAY_BE_UNKNOWN: ClassVar[tuple[str, ...]] = ()


@dataclass(frozen=True, slots=True)
class Zone(Record):
    """One availability zone of a region. Local zones are not listed.

    On Azure a zone is logical: the number by which one subscription knows it, as eastus-1. Another subscription's
    eastus-1 may be another building, so that what is true of a zone here is true for the subscription it was read with.
    """

    KEY = ("region", "zone_id")

    region: str
    zone_id: str
    """On AWS the id that is the same in every account, on Azure <region>-<number>."""
    source: str
    as_of: str


@dataclass(frozen=True, slots=True)
class AwsZone(Zone):
    """One availability zone of AWS."""

    eks_control_plane: bool
    """Whether EKS takes subnets of this zone for a control plane."""


@dataclass(frozen=True, slots=True)
class GpuType(Record):
    """Hardware of one instance type (AWS) or VM size (Azure)."""

    KEY = ("type",)
    ABOVE_ZERO: ClassVar[tuple[str, ...]] = ("gpus", "gpu_memory_mib", "vcpus", "memory_gib", "network_gbps")
    MAY_BE_UNKNOWN = ("gpu_memory_mib", "network_gbps")
    ZONE: ClassVar[type[Zone]] = Zone
    """What this cloud's zones are."""
    OFFERS_COMPLETE: ClassVar[bool]
    """Whether a region without a ZoneOffer for a known type does not offer it; else nobody knows."""

    type: str
    """The cloud's exact name for it, for instance p5.48xlarge or Standard_ND96isr_H100_v5."""
    gpu_model: str
    gpus: int
    gpu_memory_mib: int | None
    """Memory of each GPU."""
    vcpus: int
    memory_gib: int
    architecture: str
    """x86_64 or arm64."""
    network_gbps: float | None
    """Highest network bandwidth of one instance, InfiniBand not counted."""
    quota_family: str
    """Family whose vCPU quota it counts against."""
    retired: str | None
    """When the cloud took it away, as a year, month or day; None = current."""
    successor: str | None
    """A current type with about as many GPUs, for a retired one. Our choice."""
    note: str | None
    source: str
    as_of: str


@dataclass(frozen=True, slots=True)
class AwsGpuType(GpuType):
    """Hardware of one EC2 instance type. Its quota family is P, or G and VT."""

    ABOVE_ZERO: ClassVar[tuple[str, ...]] = (*GpuType.ABOVE_ZERO, "network_cards")
    ZONE = AwsZone
    OFFERS_COMPLETE = True

    network_burst: bool
    """Whether that bandwidth is reached in bursts only ("up to")."""
    network_cards: int
    efa_interfaces: int
    """Most EFA interfaces, at most one per network card; 0 = no EFA."""
    first_card_has_efa: bool | None
    """Whether network card 0 takes an EFA interface; None without EFA."""
    capacity_block: bool
    """Whether Capacity Blocks are sold for it."""


@dataclass(frozen=True, slots=True)
class AzureGpuSize(GpuType):
    """Hardware of one Azure VM size, with whole GPUs: sizes with a part of one are not listed.

    Its quota family is the one that usages of Microsoft.Compute and ResourceSkus name. Azure writes these names now
    with spaces, now without, and in changing case: compare with `same_family`. The public price list has no zones, so
    that offers are known only after a refresh with credentials, for that subscription.
    """

    OFFERS_COMPLETE = False

    infiniband: str | None
    """Kind of InfiniBand between nodes: EDR, HDR, NDR, unnamed where no source names the kind; None = it has none."""


@dataclass(frozen=True, slots=True)
class ZoneOffer(Record):
    """Zones of one region that offer one instance type. Says nothing about free capacity."""

    KEY = ("type", "region")

    type: str
    region: str
    zone_ids: tuple[str, ...]
    source: str
    as_of: str


@dataclass(frozen=True, slots=True)
class Price(Record):
    """Price of one instance for one hour: Linux, shared tenancy, before tax. Spot is not here: see SpotPrice."""

    KEY = ("type", "region", "market")
    ABOVE_ZERO = ("usd_per_hour",)
    MAY_BE_UNKNOWN = ("usd_per_hour",)

    type: str
    region: str
    market: str
    """on-demand."""
    usd_per_hour: float | None
    source: str
    as_of: str

    def problems(self) -> list[tuple[str, str]]:
        """As of every record, and a market that has no single price."""
        found = Record.problems(self)
        if self.market != "on-demand":
            found.append(("market", "must be on-demand (Spot has a range, in spot_prices.json)"))
        return found


@dataclass(frozen=True, slots=True)
class SpotPrice(Record):
    """What one Spot instance cost for one hour, lowest to highest of a region's zones, before tax. Never a budget."""

    KEY = ("type", "region")
    ABOVE_ZERO = ("usd_low", "usd_high")

    type: str
    region: str
    usd_low: float
    usd_high: float
    source: str
    as_of: str

    def problems(self) -> list[tuple[str, str]]:
        """As of every record, and a range that ends before it begins."""
        found = Record.problems(self)
        if self.usd_high < self.usd_low:
            found.append(("usd_high", f"must be at least usd_low ({self.usd_low})"))
        return found


@dataclass(frozen=True, slots=True)
class Quota(Record):
    """The service quota that limits the vCPUs of a family in one market.

    On Azure its code is the family itself for on-demand, and for Spot lowPriorityCores, which all families share.
    """

    KEY = ("family", "market")

    family: str
    market: str
    code: str
    source: str
    as_of: str


@dataclass(frozen=True, slots=True)
class ResourceQuota(Record):
    """A service quota of AWS on a number of resources: of what a network is made of, by region (NAT gateways by zone),
    and of the nodes in an EKS node group."""

    KEY = ("counted",)

    counted: str
    """elastic_ips, internet_gateways, nat_gateways, nodes_per_node_group or vpcs."""
    service: str
    """As Service Quotas calls it: ec2, eks or vpc."""
    code: str
    raised_by: str
    """Code of the quota by which AWS raises it: that of internet gateways goes up with the one of VPCs."""
    source: str
    as_of: str


@dataclass(frozen=True, slots=True)
class AutomaticName(Record):
    """How long a name may be that the provider makes of a resource's logical name where the program gives none.

    Types whose names may have 255 characters and more are left out.
    """

    KEY = ("type",)
    ABOVE_ZERO: ClassVar[tuple[str, ...]] = ("longest",)

    type: str
    """Pulumi's token."""
    property: str
    """The input that the provider fills in, by its wire name."""
    longest: int
    """Characters, the random end included."""
    source: str
    as_of: str


@dataclass(frozen=True, slots=True)
class ServicePrice(Record):
    """Price of something around the GPU nodes, before tax: a control plane, a NAT gateway, storage, transfer.

    Items of AWS, by service (for each the unit that one price is for):
    eks: cluster (hour, standard support), cluster-extended-support (hour, instead of cluster), hybrid-vcpu (vCPU-hour
         of own servers), and of what a month has above as many: hybrid-vcpu-above-576000, hybrid-vcpu-above-1152000,
         hybrid-vcpu-above-5760000, hybrid-vcpu-above-11520000
    vpc: nat-gateway (hour), nat-gateway-data (GB), public-ipv4 (hour of one address in use), interface-endpoint (hour
         in one zone), interface-endpoint-data (GB), cross-zone-transfer (GB; billed on both sides: twice for a GB),
         vpn-connection (hour of both tunnels), data-out (GB to the internet, so also through a VPN)
    directconnect: data-out (GB); datasync: copied (GB)
    efs: standard-storage, standard-ia-storage, one-zone-storage (GB-month), elastic-read, elastic-write (GB),
         provisioned-throughput (MBps-month)
    fsx: lustre-persistent-2-125, lustre-persistent-2-250, lustre-persistent-2-500, lustre-persistent-2-1000 (GB-month
         of SSD at so many MB/s for each TiB)
    ebs: gp3-storage (GB-month), gp3-iops (IOPS-month, above 3,000), gp3-throughput (MBps-month, above 125 MB/s)
    ecr: storage (GB-month); s3: standard-storage (GB-month); backup: efs-warm-storage (GB-month)
    kms: key (key-month); cloudwatch: logs-ingestion (GB), logs-storage (GB-month)
    ec2: an instance type without GPU, for instance m7i.large (hour, on-demand Linux)
    """

    KEY = ("service", "item", "region")
    ABOVE_ZERO = ("usd",)
    MAY_BE_UNKNOWN = ("usd",)

    service: str
    """The cloud's service, for instance eks, ec2, efs."""
    item: str
    """What is counted, for instance cluster, nat-gateway, standard-storage, m7i.large."""
    region: str
    unit: str
    """What one price is for: hour, GB (moved), GB-month (kept), key-month, IOPS-month, MBps-month or vCPU-hour."""
    usd: float | None
    source: str
    as_of: str


def same_family(one: str, other: str) -> bool:
    """Whether two names of a quota family mean the same one: `Standard NCASv3_T4 Family`, `StandardNCASv3_T4Family`."""
    return one.replace(" ", "").lower() == other.replace(" ", "").lower()
