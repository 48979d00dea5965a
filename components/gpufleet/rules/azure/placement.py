"""Rules on proximity placement groups and on what lies where."""

from collections.abc import Sequence

from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule, unverified

_GROUPED = ("create", "existing")


@rule("azure-placement-no-auto-zones", Severity.ERROR)
def no_auto_zones(*, placement: str, zones: Sequence[str]) -> Outcome:
    """A pool in a proximity placement group names its zone instead of leaving the choice to AKS.

    Source: https://learn.microsoft.com/azure/aks/configure-automatic-zone-placement: no zone gets more than half of
    the nodes, while https://learn.microsoft.com/azure/aks/reduce-latency-ppg maps a group to one zone at most.
    """
    if placement not in _GROUPED or "auto" not in zones:
        return passed()
    problem = "spreads the nodes over zones, and a proximity placement group lies in one"
    return failed("zones", list(zones), problem, "name one zone, or leave the proximity placement group out")


@rule("azure-placement-group-zone", Severity.ERROR)
def group_zone(*, group_zones: Sequence[str] | None, zones: Sequence[str]) -> Outcome:
    """A pool lies in the zone of its proximity placement group; `group_zones` is None where they are not known.

    Source: https://learn.microsoft.com/azure/virtual-machines/co-location: a group with a zone puts its machines
    there; OverconstrainedZonalAllocationRequest.
    """
    if not zones or group_zones == []:
        return passed()
    if group_zones is None:
        problem = "the zone of its proximity placement group is not known before deployment"
        return unverified("zones", list(zones), problem, "make sure that both name the same zone")
    if set(zones) <= set(group_zones):
        return passed()
    problem = f"its proximity placement group lies in zone {', '.join(group_zones)}"
    return failed("zones", list(zones), problem, "give both the same zone")


@rule("azure-placement-group-one-zone", Severity.ERROR)
def group_one_zone(*, zones: Sequence[str]) -> Outcome:
    """A proximity placement group has one zone at most.

    Source: https://learn.microsoft.com/azure/aks/reduce-latency-ppg: a group can be mapped to one availability zone.
    """
    if len(zones) < 2:
        return passed()
    return failed("zones", list(zones), "a proximity placement group lies in one zone", "keep one zone")


@rule("azure-placement-group-sizes", Severity.ERROR)
def group_sizes(*, type_name: str, intended: Sequence[str]) -> Outcome:
    """A pool's VM size is among the intended sizes of its proximity placement group, if it has any.

    Source: https://learn.microsoft.com/azure/virtual-machines/co-location (intent): the data centre is chosen so that
    it has the intended sizes, and need not have others; OverconstrainedAllocationRequest.
    """
    if not intended or type_name.lower() in [each.lower() for each in intended]:
        return passed()
    problem = f"its proximity placement group is made for {', '.join(intended)}"
    return failed("types", type_name, problem, "add the size to the intent of the group, or use one of its sizes")


@rule("azure-region-same", Severity.ERROR)
def region_same(*, argument: str, what: str, region: str, other: str | None) -> Outcome:
    """What a pool is put into lies in the pool's region: `what` at `argument` lies in `other`, None if not known.

    Source: Azure Resource Manager rejects references across regions, for instance InvalidResourceReference for
    subnets and proximity placement groups.
    """
    if other is None:
        problem = f"the region of its {what} is not known before deployment"
        return unverified(argument, "(not known)", problem, f"make sure that it is {region}")
    if region == other:
        return passed()
    return failed(argument, other, f"its {what} lies in {other}, the pool in {region}", f"use a {what} in {region}")
