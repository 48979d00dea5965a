"""Rules on how capacity is bought on Azure: Spot, reserved."""

from collections.abc import Sequence

from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule, unverified


@rule("azure-reservation-size", Severity.ERROR)
def reservation_size(*, type_name: str, supported: bool | None) -> Outcome:
    """Capacity can be reserved for the VM size; `supported` is None where that is not known.

    Source: Azure/azure-cli#18943: NotSupported, Capacity Reservation is not supported for VM size Standard_A0; sizes
    say it by the capability CapacityReservationSupported of ResourceSkus.
    """
    if supported:
        return passed()
    fix = f"ask az vm list-skus --size {type_name} for CapacityReservationSupported"
    if supported is None:
        return unverified("sku.name", type_name, "whether capacity of it can be reserved is not known", fix)
    return failed("sku.name", type_name, "capacity of this size cannot be reserved", "use a size of a current family")


@rule("azure-reservation-fits", Severity.ERROR)
def reservation_fits(*, type_name: str, reserved: Sequence[str]) -> Outcome:
    """A pool's VM size is one that its capacity reservation group holds, if the plan tells what that holds.

    Source: https://learn.microsoft.com/azure/aks/use-capacity-reservation-groups: a pool uses reservations of its own
    size and zone only.
    """
    if not reserved or type_name.lower() in [each.lower() for each in reserved]:
        return passed()
    problem = f"its capacity reservation group holds {join_words(sorted(set(reserved)), 'and')}"
    return failed("types", type_name, problem, "reserve this size, or use one that is reserved")


@rule("azure-capacity-spot-mpi", Severity.WARNING)
def spot_mpi(*, capacity: str, together: bool) -> Outcome:
    """Nodes that work on one job together are not Spot, since one eviction stops them all.

    Source: https://learn.microsoft.com/azure/batch/batch-spot-vms: tightly coupled MPI jobs are not well suited.
    """
    if capacity != "spot" or not together:
        return passed()
    problem = "one evicted node stops the job on all nodes"
    return failed("capacity", capacity, problem, "use on-demand nodes, or save checkpoints often")
