"""How long `up` takes on the real cloud: an estimate, and a lower bound.

Two graphs over the same resources with the same typical seconds (the table's latencies):

- the **estimate** follows the engine's own dependencies, as the state records them: what the program waits for;
- the **lower bound** follows only what the cloud's table demands, references and needs: what anyone must wait for.

Both are longest paths, so they are exact and repeatable. Their ratio says what the program's own ordering costs.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any

from gpufleet_rehearsal.cloud.checks import referenced_resources
from gpufleet_rehearsal.cloud.interpreter import Cloud
from gpufleet_rehearsal.cloud.store import SimulatedResource
from gpufleet_rehearsal.table.conditions import same
from gpufleet_rehearsal.table.model import Requirement
from gpufleet_rehearsal.table.paths import Scope, parse_path, plain


@dataclass(frozen=True)
class Step:
    """One resource on a chain: how long it waits for the one before to settle, and how long its own creation takes."""

    name: str
    type: str
    settle: float
    seconds: float


@dataclass(frozen=True)
class CriticalPath:
    """The longest path through a graph, first step first."""

    steps: tuple[Step, ...]

    @property
    def seconds(self) -> float:
        return sum(step.settle + step.seconds for step in self.steps)


@dataclass(frozen=True)
class GraphNode:
    """A resource of a graph. after: what it waits for -> seconds that one takes to settle before it can be used."""

    name: str
    type: str
    seconds: float
    after: Mapping[str, float]


def longest_path(nodes: Mapping[str, GraphNode]) -> CriticalPath:
    """The longest chain through the nodes (key -> node); names in `after` that are not a key are ignored.

    Ties go to the name that sorts first, so that the chain is the same in every run.
    Errors: graphlib.CycleError when the nodes wait for each other in a circle.
    """
    graph = {key: sorted(before for before in node.after if before in nodes) for key, node in sorted(nodes.items())}
    finish: dict[str, float] = {}
    previous: dict[str, str | None] = {}
    for key in TopologicalSorter(graph).static_order():
        node = nodes[key]
        start, via = 0.0, None
        for before in graph[key]:
            ready = finish[before] + node.after[before]
            if ready > start:
                start, via = ready, before
        finish[key], previous[key] = start + node.seconds, via
    if not finish:
        return CriticalPath(())
    last: str | None = max(sorted(finish), key=lambda key: finish[key])
    steps: list[Step] = []
    while last is not None:
        node, via = nodes[last], previous[last]
        steps.append(Step(node.name, node.type, node.after[via] if via else 0.0, node.seconds))
        last = via
    return CriticalPath(tuple(reversed(steps)))


@dataclass(frozen=True)
class TimeToUp:
    """The critical paths of one environment. ratio: estimate over lower bound, 1.0 at best."""

    estimate: CriticalPath
    lower_bound: CriticalPath

    @property
    def ratio(self) -> float:
        return self.estimate.seconds / self.lower_bound.seconds if self.lower_bound.steps else 1.0


def time_to_up(cloud: Cloud, state: Sequence[Mapping[str, Any]]) -> TimeToUp:
    """Both critical paths of a stack, from its state and the simulated cloud.

    state: the resources of the engine's exported deployment. Resources that the cloud does not hold are left out.
    """
    in_cloud = {resource.urn: resource for resource in cloud.store.resources() if not resource.hidden}
    waits = engine_dependencies(state, in_cloud.keys())
    engine: dict[str, GraphNode] = {}
    table: dict[str, GraphNode] = {}
    for urn, dependencies in waits.items():
        resource = in_cloud[urn]
        seconds = cloud.operation_seconds(resource.type, "create", resource.inputs, resource.name)
        demanded = cloud_requirements(cloud, resource)
        table[urn] = GraphNode(resource.name, resource.type, seconds, demanded)
        # What a resource's inputs name, the program waited for, also where the state does not say so (`detached`).
        # Waiting for a resource without using it does not need it settled.
        before = dependencies | {creator(cloud, thing).urn for thing in referenced_in(cloud, resource)} - {urn}
        engine[urn] = GraphNode(
            resource.name, resource.type, seconds, {each: demanded.get(each, 0.0) for each in before}
        )
    return TimeToUp(longest_path(engine), longest_path(table))


def engine_dependencies(state: Sequence[Mapping[str, Any]], real: Collection[str]) -> dict[str, set[str]]:
    """What the engine made each real resource wait for: URN -> real URNs, by the state's own records.

    real: URNs of what takes time. Components and providers take none, but pass waiting on: a resource that has one as
    parent or as provider is registered after it, so a `depends_on` of a component delays every child, although the
    state notes it at the component only.
    """
    named: dict[str, set[str]] = {}
    for resource in state:
        if not resource.get("delete"):  # the old one of a replacement
            links = [*resource.get("dependencies", ()), resource.get("parent"), resource.get("deletedWith")]
            links.append(resource.get("provider", "").rpartition("::")[0])  # URN::id
            named[resource["urn"]] = set(filter(None, links))
    found: dict[str, set[str]] = {}
    for urn in TopologicalSorter(named).static_order():
        found[urn] = set()
        for before in named.get(urn, ()):
            found[urn] |= {before} if before in real else found[before]
    return {urn: found[urn] for urn in named if urn in real}


def cloud_requirements(cloud: Cloud, resource: SimulatedResource) -> dict[str, float]:
    """What the cloud itself wants to be there before a resource: URN -> seconds that it takes to settle."""
    row = cloud.row(resource.type)
    scope = Scope(resource, cloud.view)
    found = [
        *referenced_in(cloud, resource),
        *(thing for need in row.needs for thing in required_resources(cloud, need, scope)),
    ]
    demanded: dict[str, float] = {}
    for thing in found:
        urn = creator(cloud, thing).urn
        settle = cloud.table.types[thing.type].settle
        if urn != resource.urn:
            demanded[urn] = max(demanded.get(urn, 0.0), settle.seconds if settle else 0.0)
    return demanded


def referenced_in(cloud: Cloud, resource: SimulatedResource) -> Iterator[SimulatedResource]:
    """The resources that the inputs of a resource refer to."""
    scope = Scope(resource, cloud.view)
    for path, reference in cloud.row(resource.type).references.items():
        for value in parse_path(path).values(scope):
            yield from referenced_resources(cloud.view, reference, plain(value), resource)


def creator(cloud: Cloud, thing: SimulatedResource) -> SimulatedResource:
    """What the program made for a thing to be there: itself, or what the cloud made it along with."""
    return thing if thing.owner is None else cloud.store.by_serial(thing.owner)


def required_resources(cloud: Cloud, need: Requirement, scope: Scope) -> Iterator[SimulatedResource]:
    """The resources that one of a row's needs means."""
    if need.when is not None and not need.when.holds(scope):
        return
    for thing in cloud.store.resources(need.type):
        there = scope.at(thing)
        sides = ((parse_path(t).values(there), parse_path(o).values(scope)) for t, o in need.where.items())
        named = all(any(same(a, b) for a in theirs for b in ours) for theirs, ours in sides)
        if named and (need.only is None or need.only.holds(there)):
            yield thing


def format_minutes(seconds: float) -> str:
    """Seconds for people: 45 s, 13 min 2 s."""
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60} s"


def format_path(steps: Iterable[Step]) -> str:
    return " -> ".join(f"{step.name} ({format_minutes(step.seconds)})" for step in steps)
