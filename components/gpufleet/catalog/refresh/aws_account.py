"""GPU types in an AWS account: hardware, zones that offer them, Spot prices. Only reads, with boto3."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, timezone
from typing import Any

from gpufleet.catalog.records import AwsGpuType, AwsZone, Zone, ZoneOffer

SPOT_DAYS = 7
"""How far back Spot prices are read: lowest and highest of a week."""
FAMILIES = ("g*", "p*")
_WANTED = re.compile(r"p\d.*|gr?[4-9].*")
"""p2 and later, g4dn and later, gr6: what the catalog holds. g2 and g3 are too old for today's drivers."""
_ZONE = re.compile(r"[a-z]+\d+-az\d+")
"""A zone's id; those of local zones have one part more (use1-atl2-az1)."""
_SPEED = re.compile(r"(Up to )?(?:(\d+)x )?([\d.]+) Gigabit")
CONTROL_PLANE = "https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html"


@dataclass(frozen=True)
class AccountFacts:
    """The API's answers for one region."""

    region: str
    types: list[dict[str, Any]]
    offers: list[ZoneOffer]
    zones: list[AwsZone]
    spot: list[tuple[str, str, float]]
    """(type, region, USD for one hour), one for each price of the last week."""


def describe_account(ec2: Any, region: str, today: date, known: Mapping[str, Zone]) -> AccountFacts:  # noqa: ANN401 - boto3 has no types
    """Ask one region. ec2: a boto3 client of that region. known: its zones as the catalog has them.

    Raises what boto3 raises.
    """
    pages = ec2.get_paginator("describe_instance_types").paginate(
        Filters=[{"Name": "instance-type", "Values": list(FAMILIES)}]
    )
    types = [item for page in pages for item in page["InstanceTypes"] if _is_gpu_type(item)]
    names = {item["InstanceType"] for item in types}
    zones_of: dict[str, set[str]] = {}
    for page in ec2.get_paginator("describe_instance_type_offerings").paginate(LocationType="availability-zone-id"):
        for offer in page["InstanceTypeOfferings"]:
            if offer["InstanceType"] in names and _ZONE.fullmatch(offer["Location"]):
                zones_of.setdefault(offer["InstanceType"], set()).add(offer["Location"])
    as_of = today.isoformat()
    offers = [
        ZoneOffer(name, region, tuple(sorted(zones)), "ec2 DescribeInstanceTypeOfferings", as_of)
        for name, zones in zones_of.items()
    ]
    ids = sorted(
        zone["ZoneId"]
        for zone in ec2.describe_availability_zones()["AvailabilityZones"]
        if zone.get("ZoneType", "availability-zone") == "availability-zone"
    )
    # EKS publishes the zones that it refuses, which are few and old: a zone it does not name is taken to be fine.
    refused = {zone for zone, record in known.items() if isinstance(record, AwsZone) and not record.eks_control_plane}
    source = f"ec2 DescribeAvailabilityZones; {CONTROL_PLANE}"
    zones = [
        AwsZone(region=region, zone_id=zone, eks_control_plane=zone not in refused, source=source, as_of=as_of)
        for zone in ids
    ]
    return AccountFacts(region, types, offers, zones, _spot(ec2, region, sorted(names), today))


def _is_gpu_type(item: Mapping[str, Any]) -> bool:
    """Whether a type has whole NVIDIA GPUs and is of a family that the catalog holds."""
    gpus = item.get("GpuInfo", {}).get("Gpus", [])
    whole = bool(gpus) and all(
        gpu.get("Manufacturer") == "NVIDIA" and gpu.get("GpuPartitionSize", 1) == 1 and gpu.get("Count") for gpu in gpus
    )
    return whole and _WANTED.fullmatch(item["InstanceType"]) is not None


def _spot(ec2: Any, region: str, types: list[str], today: date) -> list[tuple[str, str, float]]:  # noqa: ANN401
    if not types:
        return []
    start = datetime(today.year, today.month, today.day, tzinfo=timezone.utc) - timedelta(days=SPOT_DAYS)  # noqa: UP017
    pages = ec2.get_paginator("describe_spot_price_history").paginate(
        InstanceTypes=types, ProductDescriptions=["Linux/UNIX"], StartTime=start
    )
    return [
        (item["InstanceType"], region, float(item["SpotPrice"])) for page in pages for item in page["SpotPriceHistory"]
    ]


def hardware(items: Iterable[Mapping[str, Any]], current: Mapping[str, AwsGpuType], today: date) -> list[AwsGpuType]:
    """Records of types as DescribeInstanceTypes has them; what only people know (a note) stays as it was."""
    found = {item["InstanceType"]: _hardware(item, today) for item in items}
    return [
        replace(
            record,
            # AWS's names of GPUs change their spelling; rules and users know the catalog's.
            gpu_model=current[name].gpu_model if name in current else record.gpu_model,
            note=current[name].note if name in current else None,
        )
        for name, record in sorted(found.items())
    ]


def _hardware(item: Mapping[str, Any], today: date) -> AwsGpuType:
    name: str = item["InstanceType"]
    gpus = item["GpuInfo"]["Gpus"]
    network = item["NetworkInfo"]
    cards = network["NetworkCards"]
    efa = network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0)
    speed = _SPEED.fullmatch(network["NetworkPerformance"])
    memory = gpus[0].get("MemoryInfo", {}).get("SizeInMiB")
    # Old answers do not list what a card takes; then card 0 takes one if there is one for each card.
    first = cards[0].get("InterfaceTypes")
    return AwsGpuType(
        type=name,
        gpu_model=gpus[0]["Name"],
        gpus=sum(gpu["Count"] for gpu in gpus),
        gpu_memory_mib=memory or None,
        vcpus=item["VCpuInfo"]["DefaultVCpus"],
        memory_gib=item["MemoryInfo"]["SizeInMiB"] // 1024,
        architecture=item["ProcessorInfo"]["SupportedArchitectures"][0],
        network_gbps=_number(speed[3]) * int(speed[2] or 1) if speed else None,
        network_burst=network["NetworkPerformance"].startswith("Up to"),
        network_cards=len(cards),
        efa_interfaces=efa,
        first_card_has_efa=(("efa" in first) if first else efa == len(cards)) if efa else None,
        capacity_block="capacity-block" in item.get("SupportedUsageClasses", ()),
        quota_family="P" if name.startswith("p") else "G and VT",
        retired=None,
        successor=None,
        note=None,
        source="ec2 DescribeInstanceTypes",
        as_of=today.isoformat(),
    )


def _number(text: str) -> float:
    """As JSON has it: 25, not 25.0."""
    value = float(text)
    return int(value) if value.is_integer() else value
