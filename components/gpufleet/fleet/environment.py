"""Summary of an environment from its stack's state: owner, expiry, GPUs and possible cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from math import inf

from gpufleet.cost.estimate import Estimate, estimate
from gpufleet.cost.line_item import FIGURES, Total
from gpufleet.cost.pool_cost import PoolCost
from gpufleet.cost.usage_assumptions import read_usage
from gpufleet.durations import parse_duration
from gpufleet.errors import UserError
from gpufleet.fleet.end_tags import EndTags
from gpufleet.fleet.expires_at import Expiry
from gpufleet.fleet.node_counts import current_nodes
from gpufleet.fleet.onprem_nodes import onprem_gpus
from gpufleet.fleet.ownership_tags import OwnershipTags
from gpufleet.fleet.pool_inputs import can_stop, is_stopped
from gpufleet.fleet.retained_data import (
    deletable_resources,
    erases_data,
    is_cloud_resource,
    is_data_store,
    name_of,
    resources_without_data,
)
from gpufleet.fleet.stack_lock import StackLock
from gpufleet.fleet.stack_state import StackState, or_fault, parse_time
from gpufleet.ownership import Ownership
from gpufleet.plan.preview import plan_of
from gpufleet.plan.resource import Plan
from gpufleet.plan.tags import default_tags

GRACE = "grace"
"""Tag of how long an environment may stay after its end."""


@dataclass(frozen=True)
class EnvironmentSummary:
    """One stack of a backend, or one that cannot be read (`fault`).

    owner, purpose: by the tags of most of its resources, or by labels (`OwnershipTags`); None if none has them. purpose
    is the tag of that name, else the tag `project`. doubt: why it is not certainly an environment of gpufleet's. end:
    the latest that any of its tags names; None: never or unknown. end_doubt: why it does not certainly end then;
    end_unreadable: as a tag makes no sense. grace: how long after its end it may stay, by the tags of most of its
    resources. created: when its oldest resource was created. ending: number of resources that are deleted with it; the
    rest is retained data and what that depends on. loose_data: names of those among them that hold data, where the
    configuration does not say that the data goes too.
    gpus_at_last_update: in the nodes at the last update or refresh; gpus_most: at its ceiling; on-prem nodes count in
    both; None if one is not known. costs: by figure, as in `gpufleet.cost`. endpoints: hosts of its clusters' APIs.
    notes: remarks for a reader of the row.
    """

    stack: str
    project: str
    owner: str | None = None
    purpose: str | None = None
    ownership: Ownership = field(default_factory=Ownership)
    doubt: str = ""
    end: Expiry | None = None
    end_doubt: str = ""
    end_unreadable: bool = False
    grace: timedelta | None = None
    created: datetime | None = None
    updated: datetime | None = None
    updating: bool = False
    lock: StackLock | None = None
    resources: int = 0
    ending: int = 0
    loose_data: tuple[str, ...] = ()
    gpus_at_last_update: int | None = None
    gpus_most: int | None = None
    costs: Mapping[str, Total] = field(default_factory=dict)
    endpoints: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    fault: str = ""
    full_name: str = ""
    """Its name for the engine, in any folder."""

    @property
    def name(self) -> str:
        """Its unique name in its backend."""
        return f"{self.project}/{self.stack}" if self.project else self.stack

    @property
    def only_data(self) -> bool:
        """Whether only retained data is left of it."""
        return self.resources > 0 and self.ending == 0

    def expired(self, now: datetime) -> bool:
        """Whether its end has certainly passed, of which a day belongs to it to the last; kept data has no end."""
        return self.end is not None and not self.end_doubt and self.end.past(now) and self.ending > 0


def sort_environments(found: list[EnvironmentSummary], now: datetime) -> list[EnvironmentSummary]:
    """Expired ones first, the longest past before all; then by their end, then those without one; what only
    keeps data and what is empty last."""

    def key(each: EnvironmentSummary) -> tuple[object, ...]:
        end = each.end.moment.timestamp() if each.end else inf
        return (not each.expired(now), each.ending == 0, each.resources == 0, end, each.project, each.stack)

    return sorted(found, key=key)


def plan_of_state(state: StackState) -> Plan:
    """A stack's resources as a plan: what is there instead of what is about to be."""
    steps = [{"op": "same", "newState": resource} for resource in state.resources]
    return plan_of({"config": state.config, "steps": steps}, state.name)


def environment_of(state: StackState, today: date) -> EnvironmentSummary:
    """The summary of a stack's state; a state that cannot be read has a fault."""

    def unread(fault: str) -> EnvironmentSummary:
        return EnvironmentSummary(
            state.name, state.project, updated=state.written, updating=state.updating, lock=state.lock, fault=fault,
            full_name=state.full_name,
        )  # fmt: skip

    if state.fault or not state.resources:
        return unread(state.fault)
    name = state.full_name or state.name
    return or_fault(
        lambda: _summary(state, today), lambda reason: unread(f"{name}: its state makes no sense: {reason}")
    )


def _summary(state: StackState, today: date) -> EnvironmentSummary:
    plan = plan_of_state(state)
    costs, notes = estimate_state(plan, state, today)
    gpu = [pool for pool in costs.pools if pool.planned.gpu is not False]
    tags = OwnershipTags(state, default_tags(plan))
    end = EndTags.of_tags(tags, _oldest(resources_without_data(state.resources)))
    if end.days > 1:
        notes.append(
            f"tags or labels name {end.days} days as its end, the last of which counts; the next `up` makes them one"
        )
    if end.doubt:
        notes.append(f"does not certainly end: {end.doubt}; the next `up` makes them one")
    if tags.doubt and tags.is_marked:
        notes.append(f"not certainly gpufleet's: {tags.doubt}")
    graces = {span for said in tags.values(GRACE) if (span := parse_duration(said))}
    deleted = deletable_resources(state.resources)
    if not deleted:
        notes.append("only kept data is left, with what it needs")
    if state.leftovers:
        notes.append(f"{state.leftovers} replaced and not deleted yet, in no figure; the next `up` deletes them")
    if stopped := sorted(pool.name for pool in gpu if _is_stopped(pool)):
        notes.append(f"stopped: {', '.join(stopped)}; `gpufleet stop {state.name} --undo` starts them again")
    if state.lock:
        notes.append(f"{state.lock.words}; if no engine is at work, `pulumi cancel --stack {state.full_name}`")
    own = onprem_gpus(state)
    outputs = {str(each["urn"]): each.get("outputs") or {} for each in state.resources}
    return EnvironmentSummary(
        stack=state.name,
        project=state.project,
        owner=tags.most_common("owner"),
        purpose=tags.most_common("purpose") or tags.most_common("project"),
        ownership=tags.ownership,
        doubt=tags.doubt,
        end=end.latest,
        end_doubt=end.doubt,
        end_unreadable=end.unreadable,
        grace=max(graces, default=None) if tags.most_have(GRACE) else None,
        created=_oldest(state.resources),
        updated=state.written,
        updating=state.updating,
        lock=state.lock,
        resources=sum(map(is_cloud_resource, state.resources)),
        ending=len(deleted),
        loose_data=() if erases_data(state.resources) else tuple(map(name_of, filter(is_data_store, deleted))),
        gpus_at_last_update=_sum(
            [
                *own,
                *(_times(current_nodes(pool.planned, outputs[pool.planned.resource.urn]), pool.gpus) for pool in gpu),
            ]
        ),
        gpus_most=_sum([*own, *(pool.most_gpus for pool in gpu)]),
        costs={figure: costs.totals[figure] for figure in FIGURES},
        endpoints=_endpoints(state),
        notes=tuple(notes),
        full_name=state.full_name,
    )


def estimate_state(plan: Plan, state: StackState, today: date) -> tuple[Estimate, list[str]]:
    """The estimate by the stack's own assumptions, and what is to be said about it."""
    try:
        found = estimate(plan, read_usage(state.config.get("gpufleet:usage"), "gpufleet:usage"), today)
        return found, []
    except UserError:
        return estimate(plan, None, today), ["its assumptions (gpufleet:usage) cannot be read: the defaults count"]


def _is_stopped(pool: PoolCost) -> bool:
    resource = pool.planned.resource
    return can_stop(resource.type) and is_stopped(resource.type, resource.inputs)


def _oldest(resources: Sequence[Mapping[str, object]]) -> datetime | None:
    return min(filter(None, (parse_time(each.get("created")) for each in resources)), default=None)


def _times(nodes: int | None, gpus: int | None) -> int | None:
    return 0 if nodes == 0 else None if nodes is None or gpus is None else nodes * gpus


def _sum(numbers: list[int | None]) -> int | None:
    known = [each for each in numbers if each is not None]
    return sum(known) if len(known) == len(numbers) else None


def _endpoints(state: StackState) -> frozenset[str]:
    """Hosts of the APIs of a stack's clusters, by which a context of a kubeconfig is known to lead to one of them."""
    found: set[str] = set()
    for resource in state.resources:
        kind, outputs = str(resource.get("type")), resource.get("outputs") or {}
        if kind == "aws:eks/cluster:Cluster":
            found.add(str(outputs.get("endpoint", "")).removeprefix("https://"))
        elif kind.startswith("azure-native:containerservice") and kind.endswith(":ManagedCluster"):
            found |= {str(outputs.get(word, "")) for word in ("fqdn", "privateFQDN")}
    return frozenset(host for host in found if host)
