"""Rules on Azure Batch pools whose nodes talk to each other."""

from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule, unverified

MOST_TALKING = {"BatchService": 100, "UserSubscription": 80}


@rule("azure-batch-zonal-infiniband", Severity.ERROR)
def zonal_infiniband(*, policy: str, inter_node: bool, infiniband: bool | None) -> Outcome:
    """A Batch pool whose nodes talk over InfiniBand is not spread over zones; None: the size's network is not known.

    Source: https://learn.microsoft.com/azure/batch/create-pool-availability-zones: a zonal pool cannot be created with
    inter-node communication and a size that supports InfiniBand.
    """
    if policy != "Zonal" or not inter_node or infiniband is False:
        return passed()
    if infiniband is None:
        problem = "whether the size has InfiniBand is not known, which a zonal pool with inter-node communication bars"
        return unverified("node_placement_configuration.policy", policy, problem, "use policy=Regional")
    problem = "cannot be created with inter-node communication and an InfiniBand size"
    return failed("node_placement_configuration.policy", policy, problem, "use policy=Regional")


@rule("azure-batch-zonal-inter-node", Severity.WARNING)
def zonal_inter_node(*, policy: str, inter_node: bool) -> Outcome:
    """A Batch pool whose nodes talk to each other is not spread over zones.

    Source: https://learn.microsoft.com/azure/reliability/availability-zones-overview: zones are kilometres apart, and
    a zonal Batch pool is spread over all of them.
    """
    if policy != "Zonal" or not inter_node:
        return passed()
    problem = "puts nodes that talk to each other into several zones"
    return failed("node_placement_configuration.policy", policy, problem, "use policy=Regional for jobs of many nodes")


@rule("azure-batch-inter-node-size", Severity.ERROR)
def inter_node_size(*, most: int, inter_node: bool, allocation: str | None) -> Outcome:
    """A Batch pool whose nodes talk to each other has at most 100 nodes, or 80 in the user's own subscription.

    `allocation` is the account's poolAllocationMode, None where that is not known.
    Source: https://learn.microsoft.com/azure/batch/batch-quota-limit#pool-size-limits
    """
    service, user = MOST_TALKING["BatchService"], MOST_TALKING["UserSubscription"]
    if not inter_node or most <= user:
        return passed()
    if allocation is None and most <= service:
        problem = f"is too many nodes with inter-node communication if the account is in UserSubscription mode ({user})"
        return unverified("max", most, problem, f"use {user} or fewer, or make sure that it is in BatchService mode")
    limit = user if allocation == "UserSubscription" else service
    if most <= limit:
        return passed()
    problem = f"is above the {limit} nodes that a pool with inter-node communication can have"
    return failed("max", most, problem, f"use {limit} or fewer, or make several pools")


@rule("azure-batch-slots-inter-node", Severity.ERROR)
def slots_inter_node(*, slots: int, inter_node: bool) -> Outcome:
    """A Batch pool whose nodes talk to each other runs one task on a node.

    Source: https://learn.microsoft.com/azure/batch/batch-mpi: multi-instance tasks need inter-node communication and
    one task slot per node; otherwise they stay active and never run.
    """
    if slots <= 1 or not inter_node:
        return passed()
    problem = "with inter-node communication multi-instance tasks stay active forever"
    return failed("task_slots_per_node", slots, problem, "use 1, or disable inter_node_communication")


@rule("azure-batch-inter-node-ethernet", Severity.INFO)
def inter_node_ethernet(*, type_name: str, inter_node: bool, infiniband: str | None, most: int) -> Outcome:
    """Nodes that talk to each other have InfiniBand, or their jobs wait for Ethernet; `most` is how many there are.

    Source: https://learn.microsoft.com/azure/batch/batch-pool-compute-intensive-sizes: RDMA sizes for MPI.
    """
    if not inter_node or infiniband or most < 2:
        return passed()
    problem = "has no InfiniBand, so that nodes of one job talk over Ethernet"
    return failed("types", type_name, problem, "use an InfiniBand size for training on many nodes")
