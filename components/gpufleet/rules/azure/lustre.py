"""Rules on file systems of Azure Managed Lustre, as a component and as a program's resources make them."""

import re
from collections.abc import Mapping, Sequence
from ipaddress import IPv4Network

from gpufleet.rules import coerce
from gpufleet.rules.azure.location import validate_azure_location
from gpufleet.rules.azure.zones import ZONES, zone_number
from gpufleet.rules.generic import allowed_choice
from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

SKU_STEPS: Mapping[str, int] = {
    "AMLFS-Durable-Premium-40": 48,
    "AMLFS-Durable-Premium-125": 16,
    "AMLFS-Durable-Premium-250": 8,
    "AMLFS-Durable-Premium-500": 4,
}
"""SKU, which ends in MB/s for each TiB -> smallest size and step in TiB."""
DEFAULT_SKU = "AMLFS-Durable-Premium-125"
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_PREFIXES = ((16, 27), (40, 26), (92, 25), (196, 24), (400, 23))
"""TiB up to which a subnet of so long a prefix is large enough."""
_TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d")


@rule("azure-lustre-size", Severity.ERROR)
def managed_lustre_size(*, argument: str, tib: int, sku: str) -> Outcome:
    """A file system of Managed Lustre has a size in the steps of its SKU.

    Source: hashicorp/terraform-provider-azurerm#23428 and #23406: 48 TiB of AMLFS-Durable-Premium-40, 16 of -125, 8 of
    -250, 4 of -500.
    """
    step = SKU_STEPS.get(sku)
    if step is None or (tib > 0 and tib % step == 0):
        return passed()
    fix = f"use {max(1, -(-tib // step)) * step}"
    return failed(argument, tib, f"is not a multiple of {step} TiB, the step of {sku}", fix)


@rule("azure-lustre-subnet", Severity.ERROR)
def managed_lustre_subnet(*, subnet: str, cidr: str, tib: int) -> Outcome:
    """The subnet of a file system of Managed Lustre has room for its servers.

    Source: https://learn.microsoft.com/azure/azure-managed-lustre/amlfs-prerequisites: /27 up to 16 TiB, /26 to 40, /25
    to 92, /24 to 196, /23 to 400; kubernetes-sigs/azurelustre-csi-driver, docs/errors.md.
    """
    longest = next((prefix for most, prefix in _PREFIXES if tib <= most), _PREFIXES[-1][1])
    try:
        prefix = IPv4Network(cidr).prefixlen
    except ValueError:
        return passed()
    if prefix <= longest:
        return passed()
    return failed("filesystem_subnet", cidr, f"of {subnet} is too small for {tib} TiB", f"use /{longest} or larger")


@rule("azure-lustre-zone", Severity.WARNING)
def managed_lustre_zone(*, zone: str, node_zones: Sequence[str]) -> Outcome:
    """A file system lies in the zone of the GPU nodes that mount it.

    Source: MicrosoftDocs/azure-stack-docs#3358: clients have the advertised performance in the zone of the file system.
    """
    others = sorted(set(node_zones) - {zone})
    if not others or not zone:
        return passed()
    problem = f"is not that of the nodes in {join_words(others, 'and')}, which read more slowly"
    return failed("zone", zone, problem, "put the pools and the file system into one zone")


@rule("azure-lustre-maintenance", Severity.ERROR)
def maintenance_time(*, time: str) -> Outcome:
    """Maintenance begins at a time of day in UTC, written HH:MM.

    Source: timeOfDayUTC of https://learn.microsoft.com/azure/templates/microsoft.storagecache/amlfilesystems;
    kubernetes-sigs/azurelustre-csi-driver, docs/errors.md.
    """
    if _TIME.fullmatch(time):
        return passed()
    return failed("maintenance_time", time, "is not a time of day", "write HH:MM in UTC, such as 04:00")


def validate_managed_lustre(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on a file system of Managed Lustre.

    Reads region, resource_group_name, tib, sku, zone, node_zones, maintenance_day, maintenance_time, tags.
    """
    sku = coerce.text(args, "sku", DEFAULT_SKU)
    zone = coerce.text(args, "zone", ZONES[0])
    return [
        *validate_azure_location(args),
        allowed_choice(argument="sku", word=sku, legal=tuple(SKU_STEPS)),
        managed_lustre_size(argument="tib", tib=coerce.whole(args, "tib", SKU_STEPS[DEFAULT_SKU]), sku=sku),
        zone_number(zone=zone),
        managed_lustre_zone(zone=zone, node_zones=coerce.texts(args, "node_zones")),
        allowed_choice(argument="maintenance_day", word=coerce.text(args, "maintenance_day", "Sunday"), legal=DAYS),
        maintenance_time(time=coerce.text(args, "maintenance_time", "04:00")),
    ]
