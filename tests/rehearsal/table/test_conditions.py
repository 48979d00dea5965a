"""Every operator: a case in which it holds, and a near one in which it does not."""

import pytest
from pydantic import BaseModel, ValidationError

from gpufleet_rehearsal.cloud.availability import AwsInstanceCatalog
from gpufleet_rehearsal.cloud.scope import RESTRICTED, ResourceRequest
from gpufleet_rehearsal.table import cloud_conditions
from gpufleet_rehearsal.table.conditions import OPERATORS, When
from gpufleet_rehearsal.table.paths import Scope

assert cloud_conditions  # registers its operators


class Holder(BaseModel):
    when: When


VIEW = {
    "name": "p",
    "kind": "big.1",
    "zones": ["us-east-1a", "us-east-1b"],
    "again": ["us-east-1a", "us-east-1b", "us-east-1a"],
    "size": 4,
    "max": "3",
    "on": True,
    "empty": [],
    "data": "bGluZQpsaW5l",
    "cidr": "10.0.1.0/24",
    "outer": "10.0.0.0/16",
    "far": "10.9.0.0/16",
    "rules": [{"port": 22, "way": "In", "rank": 7}, {"port": 2049, "way": "in", "rank": 7.0, "name": "files"}],
    "share": "20%",
    "none": "0",
    "three": 3,
    "many": 65532,
    "ranges": ["2", "0:1", "no range"],
    "open": ["2:", ":1"],
}

CASES = [
    ("all", [{"present": "size"}, {"present": "max"}], [{"present": "size"}, {"present": "nothing"}]),
    ("any", [{"present": "size"}, {"present": "nothing"}], [{"present": "nothing"}]),
    ("not", {"present": "nothing"}, {"present": "size"}),
    ("present", "size", "empty"),
    ("absent", "empty", "size"),
    ("equals", {"on": "true", "size": 4}, {"on": "true", "size": 5}),
    ("equals", {"zones[*]": "us-east-1b"}, {"nothing": "x"}),
    ("differs", {"size": 5}, {"size": 4}),
    ("differs", {"zones[*]": "us-east-1a"}, {"nothing": "x"}),
    ("in", {"size": [3, 4]}, {"size": [5]}),
    ("matches", {"data | text": "line.line"}, {"data | text": "^other"}),
    ("same", ["size", "size"], ["size", "max"]),
    ("number", {"of": "size", "above": "max"}, {"of": "size", "above": 4}),
    ("number", {"of": "size", "above": 3, "below": 5}, {"of": "size", "below": "nothing"}),
    ("count", {"of": "zones[*] | zone-id", "distinct": True, "above": 1}, {"of": "zones[*]", "above": 2}),
    ("count", {"of": "again[*]", "repeated": True, "equals": 1}, {"of": "zones[*]", "repeated": True, "above": 0}),
    ("count", {"of": "empty[*]", "equals": 0}, {"of": "zones[*]", "below": 2}),
    (
        "some",
        {"of": "rules[*].port", "when": {"number": {"of": "$it", "above": 100}}},
        {"of": "rules[*].port", "when": {"number": {"of": "$it", "above": 3000}}},
    ),
    (
        "every",
        {"of": "rules[*].port", "when": {"number": {"of": "$it", "above": 10}}},
        {"of": "empty[*]", "when": {"present": "size"}},
    ),
    (
        "exists",
        {"type": "toy:net/network:Network", "where": {"cidr": "outer"}, "when": {"equals": {"$self.size": 4}}},
        {"type": "toy:net/network:Network", "where": {"cidr": "far"}},
    ),
    (
        "at_least",
        {"others": 1, "type": "toy:net/network:Network"},
        {"others": 2, "type": "toy:net/network:Network"},
    ),
    (
        "total",
        {"of": "cidr | size", "above": 21, "type": "toy:net/network:Network"},
        {"of": "cidr | size", "above": 22, "type": "toy:net/network:Network"},
    ),
    (
        "total",
        {"of": "cidr | size", "above": 10, "type": "toy:net/network:Network", "where": {"cidr": "far"}},
        {"of": "cidr | size", "above": 11, "type": "toy:net/network:Network", "where": {"cidr": "far"}},
    ),
    ("not_offered", {"type": "kind", "zone": "zones[1]"}, {"type": "kind", "zone": "zones[0]"}),
    ("not_offered", {"type": "kind", "zone": "zones[*]"}, {"type": "name", "zone": "zones[1]"}),
    ("changed", "size", "max"),
    ("younger", {"of": "networkId", "seconds": 60}, {"of": "networkId", "seconds": 5}),
    ("status", {"of": "networkId", "is": ["available"]}, {"of": "networkId", "is": ["failed"]}),
    ("status", {"is": ["creating"]}, {"is": ["available"]}),
    ("cidr", {"of": "cidr", "outside": "far"}, {"of": "cidr", "outside": "outer"}),
    ("cidr", {"of": "cidr", "overlaps": "outer"}, {"of": "cidr", "overlaps": "far"}),
    ("cidr", {"of": "cidr", "longer": 23}, {"of": "cidr", "longer": 24, "shorter": 24}),
    ("lacks_addresses", {"subnets": "networkId", "least": 65532}, {"subnets": "networkId", "least": 65531}),
    ("lacks_addresses", {"subnets": "networkId", "nodes": "many"}, {"subnets": "networkId", "nodes": "size"}),
    ("lacks_addresses", {"subnets": "networkId", "nodes": "many"}, {"subnets": "name", "nodes": "many"}),
    ("no_capacity", {"type": "kind", "zone": "zones[0]"}, {"type": "kind", "zone": "zones[*]"}),
    (
        "restricted",
        {"type": "kind", "zone": "size", "location": "name"},
        {"type": "kind", "zone": "three", "location": "name"},
    ),
    ("over_quota", {"type": "kind", "count": "size"}, {"type": "kind", "count": "rules | length"}),
    ("over_quota", {"type": "kind", "count": "three", "surge": "nothing"}, {"type": "kind", "count": "three"}),
    (
        "over_quota",
        {"type": "kind", "count": "three", "surge": "share"},
        {"type": "kind", "count": "three", "surge": "none"},
    ),
    ("repeated", {"of": "rules[*]", "by": ["way", "rank"]}, {"of": "rules[*]", "by": ["way", "rank", "port"]}),
    ("repeated", {"of": "rules[*]", "by": ["way"]}, {"of": "rules[*]", "by": ["way", "name"]}),
    # 2 x (1 + 110) + 9 x (1 + 30) + 9 = 510 addresses of 251, or 20.
    (
        "subnet_too_small",
        {"pools": ["pools[*]"], "range": "small"},
        {"pools": ["pools[*]"], "range": "small", "nodes_alone": {"present": "size"}},
    ),
    ("subnet_too_small", {"pools": ["pools[1]"], "range": "small"}, {"pools": ["pools[0]"], "range": "small"}),
    ("subnet_too_small", {"pools": ["pools[1]"], "range": "small"}, {"pools": ["pools[2]"], "range": "small"}),
    ("subnet_too_small", {"pools": ["pools[1]"], "range": "small"}, {"pools": ["pools[1]"], "range": "nothing"}),
    ("uncovered", {"by": "ranges[*]", "of": "size"}, {"by": "ranges[*]", "of": "three"}),
    ("uncovered", {"by": "empty[*]", "of": "size"}, {"by": "open[*]", "of": "size"}),
    ("off_step", {"of": "three", "by": 2}, {"of": "three", "by": 3}),
    ("off_step", {"of": "size", "by": 7}, {"of": "nothing", "by": 7}),
    ("uncovered", {"by": "ranges[1]", "of": "three"}, {"by": "empty[*]", "of": "max"}),
]


class OnlyInA(AwsInstanceCatalog):
    """A catalog in which big.1 has 10 vCPUs and is only to be had in the zone use1-az1."""

    def offered(self, instance_type, region, zone):
        return zone == "use1-az1" if instance_type == "big.1" else None

    def vcpus(self, instance_type):
        return 10 if instance_type == "big.1" else None


@pytest.fixture
def scope(make_toy, timed_toy):
    toy = make_toy(timed_toy.clock, faults=["capacity:big.1:use1-az1"], quotas={"standard": 39})
    toy.cloud.view.offers = OnlyInA()
    toy.store.remember(RESTRICTED, '{"big.1": ["p-4"]}')
    network = toy.create("toy:net/network:Network", "n", cidr="10.0.0.0/16", small="10.0.0.0/24")
    toy.clock.at += 30
    pools = [
        {"vnetSubnetID": network.id, "count": 2, "maxPods": 110},
        {"vnetSubnetID": network.id, "count": 0, "maxCount": 9},
        {"vnetSubnetID": network.id, "maxCount": 9, "podSubnetID": "another"},
    ]
    view = {**VIEW, "networkId": network.id, "pools": pools}
    return Scope(ResourceRequest("toy:run/pool:Pool", "p", "p", view), toy.cloud.view, old={**view, "size": 1})


@pytest.mark.parametrize(("operator", "holds", "does_not"), CASES)
def test_operator(scope, operator, holds, does_not):
    assert Holder.model_validate({"when": {operator: holds}}).when.holds(scope)
    assert not Holder.model_validate({"when": {operator: does_not}}).when.holds(scope)


def test_files(toy):
    network = toy.create("toy:net/network:Network", "n")
    condition = Holder.model_validate({"when": {"files": {"above": 0}}}).when
    assert not condition.holds(Scope(network, toy.cloud.view))
    toy.store.put_file(network, "/x", b"")
    assert condition.holds(Scope(network, toy.cloud.view))


def test_every_operator_has_a_case_and_a_docstring():
    assert {case[0] for case in CASES} | {"files"} == set(OPERATORS)
    for name, operator in OPERATORS.items():
        assert f"`{name}: " in (operator.__doc__ or "")


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ({"resembles": {"a": 1}}, "unknown operator 'resembles'; known are"),
        ({"equals": {"a": 1}, "present": "a"}, "one key"),
        ({"number": {"off": "a"}}, "off"),
        ({"present": "a..b"}, "cannot read"),
        ({"matches": {"a": "("}}, "pattern"),
        ("present", "one key"),
    ],
)
def test_unreadable_condition(condition, words):
    with pytest.raises(ValidationError, match=words):
        Holder.model_validate({"when": condition})


def test_window_of_time_is_over_at_once_at_scale_0(toy):
    network = toy.create("toy:net/network:Network", "n")
    here = ResourceRequest("toy:run/pool:Pool", "p", "p", {"networkId": network.id})
    condition = Holder.model_validate({"when": {"younger": {"of": "networkId", "seconds": 1000}}}).when
    assert not condition.holds(Scope(here, toy.cloud.view))
