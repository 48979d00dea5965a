"""Stop or start a stack's GPU pools by a targeted `up`, and list what costs money without them."""

from collections.abc import Sequence
from dataclasses import replace

from gpufleet.cost.estimate import Estimate
from gpufleet.cost.line_item import LineItem
from gpufleet.errors import UserError
from gpufleet.fleet.environment import plan_of_state
from gpufleet.fleet.pool_inputs import SCHEDULE, can_stop, is_flavor, is_stopped
from gpufleet.fleet.stack_state import StackState
from gpufleet.fleet.state_program import program_that_stops
from gpufleet.fleet.stop_transform import VARIABLE
from gpufleet.plan.planned_pool import PlannedPool
from gpufleet.plan.pools import planned_pools
from gpufleet.plan.property_values import get_path
from gpufleet.plan.resource import Plan, Resource
from gpufleet.pools.node_labels import PREFIX
from gpufleet.pulumi_cli import PulumiCli

_POOL = f"{PREFIX}pool"


def gpu_pools(plan: Plan) -> tuple[list[PlannedPool], list[PlannedPool]]:
    """A stack's pools with GPUs: those that can be stopped, and those that cannot."""
    pools = [pool for pool in planned_pools(plan) if pool.gpu is not False]
    able = [pool for pool in pools if can_stop(pool.resource.type) and pool.gpu]
    return able, [pool for pool in pools if pool not in able]


def schedules_of(plan: Plan, pools: Sequence[PlannedPool]) -> list[Resource]:
    """Schedules of the pools' sizes: the same component creates them beside a pool."""
    parents = {pool.resource.parent for pool in pools if pool.resource.parent}
    return [each for each in plan.of_type(SCHEDULE) if each.parent in parents]


def flavors_of(plan: Plan, pools: Sequence[PlannedPool]) -> list[Resource]:
    """Kueue flavors of these pools: those for nodes with the label of one of them.

    A flavor that names no pool may be for other nodes too, and is not among them.
    """
    names = labels_of(pools)
    flavors = [each for each in plan.resources if is_flavor(each.type)]
    return [each for each in flavors if get_path(each.inputs, "spec", "nodeLabels", _POOL) in names]


def labels_of(pools: Sequence[PlannedPool]) -> frozenset[str]:
    """The labels of these pools' nodes on a cluster, by which a queue and a job know them."""
    # Of a node group of EKS, and of an agent pool of AKS.
    paths = [("labels", _POOL), ("nodeLabels", _POOL)]
    found = (get_path(pool.resource.inputs, *path) for pool in pools for path in paths)
    return frozenset(each for each in found if isinstance(each, str))


def scale_pools(engine: PulumiCli, state: StackState, pools: Sequence[PlannedPool], *, stop: bool) -> None:
    """Stop pools, or start them again, by an `up` with refresh that targets only them.

    Their schedules go along, or the next morning's entry would start what was stopped.
    Errors: UserError when the `up` fails.
    """
    resources = [*(pool.resource for pool in pools), *schedules_of(plan_of_state(state), pools)]
    if not _up(engine, state, resources, "--refresh", stop=stop):
        raise UserError(f"{state.name}: the `up` of its GPU pools failed, for the reason above; they may still run")


def update_queue(engine: PulumiCli, state: StackState, flavors: Sequence[Resource], *, stop: bool) -> bool:
    """Make a queue stop, or resume, assigning jobs to the pools. Returns whether that succeeded.

    An `up` of the pools' flavors, after that of the pools: it needs the cluster to answer, and nodes cost money whether
    it does or not.
    """
    return not flavors or _up(engine, state, flavors, stop=stop)


def _up(engine: PulumiCli, state: StackState, resources: Sequence[Resource], *options: str, stop: bool) -> bool:
    """Whether an `up` of nothing but these, stopped as they are or as the program has them, went well."""
    targets = [word for each in resources for word in ("--target", each.urn)]
    if not stop:
        names = "\n".join(each.name for each in resources)
        told = replace(engine, environment={**engine.environment, VARIABLE: names})
        return told.up(state.name, *options, *targets) == 0
    with program_that_stops(engine, state.name, [each.urn for each in resources]) as own:
        return own.up(state.name, *options, *targets) == 0


def unchanged_pools(plan: Plan, pools: Sequence[PlannedPool], *, stop: bool) -> list[str]:
    """Names of the pools that an `up` did not change, by the plan of the state after it."""
    after = {pool.resource.urn: plan.by_urn.get(pool.resource.urn) for pool in pools}
    return [
        pool.resource.name
        for pool in pools
        if (found := after[pool.resource.urn]) is not None and is_stopped(found.type, found.inputs) is not stop
    ]


def remaining_costs(cost: Estimate, pools: Sequence[PlannedPool]) -> list[tuple[str, LineItem]]:
    """Lines that cost money even with no node in these pools, most expensive first, by pool ("" for others).

    Nodes that were bought elsewhere (a reservation, a capacity block) are paid for all the same. A line whose price or
    amount is not known is one of them.
    """
    gone = {pool.resource.urn for pool in pools}
    found = [(pool.name, line) for pool in cost.pools for line in pool.lines
             if pool.planned.resource.urn not in gone or line.committed]  # fmt: skip
    found += [("", line) for line in cost.other_lines]
    return sorted(
        (each for each in found if each[1].month("floor") != 0), key=lambda each: -(each[1].month("floor") or 0)
    )
