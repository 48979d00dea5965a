"""Longest chains: graphs made by hand, and those that a small cloud and a state demand."""

from graphlib import CycleError
from pathlib import Path
from typing import Any

import pytest

from gpufleet_rehearsal.critical_path import (
    CriticalPath,
    GraphNode,
    TimeToUp,
    engine_dependencies,
    format_minutes,
    format_path,
    longest_path,
    time_to_up,
)

NETWORK = "toy:net/network:Network"
SUBNET = "toy:net/subnet:Subnet"
ROLE = "toy:iam/role:Role"
POOL = "toy:run/pool:Pool"
LANE = "toy:lane/lane:Lane"
NEEDS = """
toy:lane/lane:Lane:
  id: "lane-{hex:8}"
  references:
    groupId: {to: ["toy:net/group:Group"], code: NoGroup, text: "{value}"}
  needs:
    - {type: "toy:run/pool:Pool", where: {network: network}, why: its own nodes}
    - {type: "toy:iam/role:Role", when: {equals: {signed: true}}, why: somebody signs}
    - type: "toy:net/subnet:Subnet"
      only: {exists: {type: "toy:net/network:Network", where: {$id: networkId, cidr: "$self.range"}}}
      why: subnets of the network that has its range
  latency: {create: {seconds: 7, source: s, sure: A}, delete: {seconds: 1, source: s, sure: A}}
"""


def node(seconds: float, **after: float) -> GraphNode:
    return GraphNode("", "t", seconds, after)


def chain(nodes: dict[str, GraphNode]) -> tuple[list[str], float]:
    named = {key: GraphNode(key, n.type, n.seconds, n.after) for key, n in nodes.items()}
    found = longest_path(named)
    return [step.name for step in found.steps], found.seconds


def test_the_longest_chain_is_by_seconds_and_not_by_steps() -> None:
    graph = {"a": node(1), "b": node(1, a=0), "c": node(1, b=0), "slow": node(5), "end": node(1, c=0, slow=0)}
    assert chain(graph) == (["slow", "end"], 6)


def test_a_chain_may_end_before_the_last_step_of_the_graph() -> None:
    assert chain({"a": node(1), "b": node(1, a=0), "long": node(9)}) == (["long"], 9)


def test_ties_go_to_the_name_that_sorts_first_however_the_graph_is_written() -> None:
    graph = {"end": node(1, right=0, left=0), "right": node(2), "left": node(2)}
    assert chain(graph) == (["left", "end"], 3)
    assert chain(dict(reversed(graph.items()))) == (["left", "end"], 3)
    assert chain({"b": node(2), "a": node(2)}) == (["a"], 2)


def test_settling_counts_on_the_edge_that_waits_for_it() -> None:
    graph = {"role": node(2), "disk": node(9), "settled": node(1, role=10, disk=0), "only": node(1, role=0)}
    assert chain(graph) == (["role", "settled"], 13)
    assert [step.settle for step in longest_path(graph).steps] == [0, 10]
    assert chain(graph | {"disk": node(12.5)}) == (["disk", "settled"], 13.5)


def test_what_is_not_in_the_graph_is_not_waited_for() -> None:
    assert chain({"a": node(1, elsewhere=100)}) == (["a"], 1)


def test_nothing_takes_no_time() -> None:
    assert longest_path({}) == CriticalPath(())
    assert TimeToUp(longest_path({}), longest_path({})).ratio == 1.0


def test_a_circle_is_an_error() -> None:
    with pytest.raises(CycleError):
        longest_path({"a": node(1, b=0), "b": node(1, a=0)})


def test_seconds_and_chains_in_words() -> None:
    assert [format_minutes(s) for s in (0.4, 59.4, 59.6, 782)] == ["0 s", "59 s", "1 min 0 s", "13 min 2 s"]
    assert format_path(longest_path({"k": GraphNode("a", "t", 61, {})}).steps) == "a (1 min 1 s)"


def state(urn_: str, *dependencies: str, **more: Any) -> dict[str, Any]:
    return {"urn": urn_, "dependencies": list(dependencies), **more}


def test_components_and_providers_pass_waiting_on_and_take_no_time() -> None:
    found = engine_dependencies(
        [
            state("a"),
            state("b"),
            state("provider", "a"),
            state("outer", "b"),
            state("inner", parent="outer"),
            state("child", parent="inner", provider="provider::id-1"),
            state("free", provider="default::id-2"),
            state("grandchild", parent="child"),
        ],
        {"a", "b", "child", "free", "grandchild"},
    )
    assert found == {"a": set(), "b": set(), "child": {"a", "b"}, "free": set(), "grandchild": {"child"}}


def test_the_old_one_of_a_replacement_says_nothing() -> None:
    assert engine_dependencies([state("a"), state("b"), state("b", "a", delete=True)], {"a", "b"}) == {
        "a": set(),
        "b": set(),
    }


def states(*resources: Any, **dependencies: list[Any]) -> list[dict[str, Any]]:
    """The state of these resources; name=[...] says what one of them waited for."""
    return [state(r.urn, *(d.urn for d in dependencies.get(r.name, []))) for r in resources]


def test_estimate_by_the_state_and_lower_bound_by_the_table(toy) -> None:
    network = toy.create(NETWORK, "net", cidr="10.0.0.0/8")
    role = toy.create(ROLE, "role", name="r")
    subnet = toy.create(SUBNET, "sub", networkId=network.id, zone="us-east-1a")
    pool = toy.create(POOL, "pool", roleArn=role.outputs["arn"], subnetIds=[subnet.id], size=1)
    everything = (network, role, subnet, pool)
    needed = states(*everything, sub=[network], pool=[role, subnet])
    time = time_to_up(toy.cloud, needed)
    assert time.estimate == time.lower_bound
    assert [(step.name, step.settle, step.seconds) for step in time.estimate.steps] == [
        ("role", 0, 2),
        ("pool", 10, 30),
    ]
    assert time.ratio == 1.0

    needless = time_to_up(toy.cloud, states(*everything, role=[subnet], sub=[network], pool=[role, subnet]))
    assert needless.lower_bound == time.lower_bound
    assert [step.name for step in needless.estimate.steps] == ["net", "sub", "role", "pool"]
    assert needless.estimate.seconds == 2 + 2 + 2 + 10 + 30
    assert needless.ratio == 46 / 42


def test_waiting_without_using_does_not_wait_for_settling(toy) -> None:
    role = toy.create(ROLE, "role", name="r")
    network = toy.create(NETWORK, "net", cidr="10.0.0.0/8")
    assert time_to_up(toy.cloud, states(role, network, net=[role])).estimate.seconds == 4


def test_a_case_of_a_latency_counts(toy) -> None:
    empty = toy.create(POOL, "pool", size=0)
    assert time_to_up(toy.cloud, states(empty)).estimate.seconds == 5


def test_what_the_cloud_does_not_hold_takes_no_time(toy) -> None:
    network = toy.create(NETWORK, "net", cidr="10.0.0.0/8")
    elsewhere = state("urn:pulumi:s::p::other:cloud:Thing::elsewhere")
    assert time_to_up(toy.cloud, [*states(network), elsewhere]).estimate.seconds == 2


@pytest.fixture
def lanes(toy_table: Path, make_toy):
    """A toy cloud that has also lanes, which need more than they name."""
    (toy_table / "toy" / "types" / "lane.yaml").write_text(NEEDS)
    return make_toy()


def bound(toy, *resources: Any) -> list[str]:
    return [step.name for step in time_to_up(toy.cloud, states(*resources)).lower_bound.steps]


def test_a_need_counts_where_both_sides_are_equal(lanes) -> None:
    pool = lanes.create(POOL, "pool", network="open", size=1)
    assert bound(lanes, pool, lanes.create(LANE, "own", network="open")) == ["pool", "own"]
    assert bound(lanes, pool, lanes.create(LANE, "other", network="dark")) == ["pool"]


def test_a_need_counts_when_its_condition_holds(lanes) -> None:
    role = lanes.create(ROLE, "role", name="r")
    signed, plain = lanes.create(LANE, "signed", signed=True), lanes.create(LANE, "plain")
    assert bound(lanes, role, plain) == ["plain"]
    time = time_to_up(lanes.cloud, states(role, signed))
    assert [(step.name, step.settle) for step in time.lower_bound.steps] == [("role", 0), ("signed", 10)]


def test_a_need_counts_only_those_that_it_means(lanes) -> None:
    near = lanes.create(NETWORK, "near", cidr="10.0.0.0/8")
    far = lanes.create(NETWORK, "far", cidr="172.16.0.0/12")
    here = lanes.create(SUBNET, "here", networkId=near.id, zone="z1")
    there = lanes.create(SUBNET, "there", networkId=far.id, zone="z1")
    lane = lanes.create(LANE, "lane", range="10.0.0.0/8")
    assert bound(lanes, there, here, lane) == ["here", "lane"]
    assert bound(lanes, there, lane) == ["lane"]


def test_who_names_what_the_cloud_made_by_itself_waits_for_its_maker(lanes) -> None:
    network = lanes.create(NETWORK, "net", cidr="10.0.0.0/8")
    lane = lanes.create(LANE, "lane", groupId=network.outputs["defaultGroupId"])
    assert bound(lanes, network, lane) == ["net", "lane"]
