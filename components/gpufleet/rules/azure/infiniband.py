"""Rules on InfiniBand, Azure's network for multi-node training."""

from collections.abc import Sequence

from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule

NETWORKS = ("plain", "infiniband")


@rule("azure-infiniband-supported", Severity.ERROR)
def infiniband_supported(*, network: str, type_name: str, infiniband: str | None, others: Sequence[str]) -> Outcome:
    """A pool that asks for InfiniBand has a VM size with InfiniBand; `others` are sizes that have it.

    Source: https://learn.microsoft.com/azure/virtual-machines/extensions/enable-infiniband: sizes with an r in their
    name, such as ND96isr_H100_v5, and the ND A100 sizes; as the catalog has it.
    """
    if network != "infiniband" or infiniband:
        return passed()
    fix = f"use {join_words(others)}, or set network=plain" if others else "set network=plain"
    return failed("types", type_name, "has no InfiniBand", fix)


@rule("azure-infiniband-one-zone", Severity.ERROR)
def infiniband_one_zone(*, network: str, zones: Sequence[str]) -> Outcome:
    """A pool that asks for InfiniBand lies in one zone.

    Source: https://learn.microsoft.com/azure/virtual-machines/setup-mpi: the nodes of a job must be in one virtual
    machine scale set of one fabric; InfiniBand does not leave a data centre.
    """
    if network != "infiniband" or (len(zones) < 2 and "auto" not in zones):
        return passed()
    return failed("zones", list(zones), "InfiniBand does not cross zones", "keep one zone, or make a pool for each")


@rule("azure-size-one-zone", Severity.WARNING)
def infiniband_size_one_zone(*, type_name: str, infiniband: str | None, zones: Sequence[str], most: int) -> Outcome:
    """Nodes whose size has InfiniBand lie in one zone, or they are dear single machines; `most` is how many there are.

    Source: https://learn.microsoft.com/azure/virtual-machines/setup-mpi: InfiniBand works within one virtual machine
    scale set of one fabric. A pool for jobs of one node may span zones.
    """
    if not infiniband or most < 2 or (len(zones) < 2 and "auto" not in zones):
        return passed()
    problem = f"the InfiniBand of {type_name} does not cross zones"
    return failed("zones", list(zones), problem, "keep one zone for jobs of several nodes")
