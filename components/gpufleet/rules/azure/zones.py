"""The rule on how zones of Azure are written."""

from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule

ZONES = ("1", "2", "3")


@rule("azure-zone-number", Severity.ERROR)
def zone_number(*, zone: str) -> Outcome:
    """A zone is 1, 2 or 3: the number by which the subscription knows it.

    Source: https://learn.microsoft.com/azure/reliability/availability-zones-overview; availabilityZones of
    Microsoft.ContainerService/managedClusters/agentPools 2025-09-01
    """
    if zone in ZONES:
        return passed()
    return failed("zones", zone, "is not an Azure zone", 'use "1", "2" or "3"')
