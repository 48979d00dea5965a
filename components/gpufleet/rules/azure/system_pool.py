"""Rules on the nodes of an AKS cluster that run the cluster's own pods."""

import re
from collections.abc import Mapping

from gpufleet.catalog import azure
from gpufleet.rules import coerce
from gpufleet.rules.azure.aks_agent_pool import most_nodes, system_gpu
from gpufleet.rules.azure.zones import zone_number
from gpufleet.rules.generic import distinct
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

LEAST_VCPUS = 4
SYSTEM_TYPE = "Standard_D4s_v5"
"""Four vCPUs, 16 GiB; what https://learn.microsoft.com/azure/aks/use-system-pools recommends at least."""
# Standard_D4s_v5: family, vCPUs, features, version.
_SIZE = re.compile(r"Standard_(?P<family>[A-Z]+)(?P<vcpus>\d+)(-\d+)?[a-z]*(_[A-Za-z0-9_]+)?")


@rule("azure-system-pool-count", Severity.ERROR)
def count_in_order(*, least: int, most: int) -> Outcome:
    """The system node counts are in order, and at least one: DNS and drivers run on them.

    Source: count of Microsoft.ContainerService/managedClusters/agentPools 2025-09-01: 1 to 1000 for system pools.
    """
    if least < 1:
        return failed("system_min", least, "leaves no node for DNS and the drivers", "use at least 1, better 2")
    if most < least:
        return failed("system_max", most, f"is below system_min={least}", f"use at least {least}")
    return passed()


@rule("azure-system-pool-size", Severity.ERROR)
def size_legal(*, type_name: str) -> Outcome:
    """The system nodes have a VM size by its name.

    Source: https://learn.microsoft.com/azure/virtual-machines/vm-naming-conventions
    """
    if _SIZE.fullmatch(type_name):
        return passed()
    return failed("system_type", type_name, "is not a VM size name", f"use one such as {SYSTEM_TYPE}")


@rule("azure-system-pool-room", Severity.WARNING)
def size_large_enough(*, type_name: str) -> Outcome:
    """The system nodes have at least 4 vCPUs each, and steady ones.

    Source: https://learn.microsoft.com/azure/aks/use-system-pools: at least 4 vCPUs and 4 GB, and no B series
    """
    found = _SIZE.fullmatch(type_name)
    if found is None:
        return passed()
    fix = f"use one such as {SYSTEM_TYPE}"
    if found["family"] == "B":
        return failed("system_type", type_name, "is of the B series, which is slow after a while", fix)
    if int(found["vcpus"]) < LEAST_VCPUS:
        return failed("system_type", type_name, f"has fewer than the {LEAST_VCPUS} vCPUs of a system node", fix)
    return passed()


def most_system_nodes(args: Mapping[str, object]) -> int:
    """The most system nodes of a cluster with these arguments."""
    return coerce.whole(args, "system_max", max(3, coerce.whole(args, "system_min", 2)))


def validate_system_pool(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on the system nodes. Reads system_type, system_min, system_max and zones."""
    name = coerce.text(args, "system_type", SYSTEM_TYPE)
    least = coerce.whole(args, "system_min", 2)
    most = most_system_nodes(args)
    zones = coerce.texts(args, "zones")
    findings = [
        size_legal(type_name=name),
        size_large_enough(type_name=name),
        count_in_order(least=least, most=most),
        most_nodes(most=most),
        distinct(argument="zones", values=zones),
        *(zone_number(zone=zone) for zone in zones),
    ]
    if name in azure().types:
        findings.append(system_gpu(mode="System", type_name=name, argument="system_type"))
    return findings
