"""Replacement that depends on the rest of a resource, and what an update lets go of only slowly."""

import pytest

from gpufleet_rehearsal.cloud.change import UNKNOWN
from gpufleet_rehearsal.cloud.checks import CloudError
from tests.rehearsal.fast_clock import FastClock

NETWORK = "toy:net/network:Network"
SUBNET = "toy:net/subnet:Subnet"


def change(table, old, new):
    rows = table / "toy" / "types" / "toy.yaml"
    text = rows.read_text()
    assert text.count(old) == 1
    rows.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("olds", "news", "replaces"),
    [
        ({"plan": "fixed", "size": 1}, {"plan": "fixed", "size": 2}, ["size"]),
        ({"plan": "free", "size": 1}, {"plan": "free", "size": 2}, []),
        ({"plan": "fixed", "size": 1}, {"plan": "free", "size": 2}, ["size"]),
        ({"plan": "free", "size": 1}, {"plan": UNKNOWN, "size": 2}, ["size"]),
        ({"plan": "fixed", "size": 1, "other": 1}, {"plan": "fixed", "size": 1, "other": 2}, []),
    ],
)
def test_what_replaces_may_depend_on_the_rest(make_toy, toy_table, olds, news, replaces):
    free = "{all: [{equals: {plan: free}}, {equals: {$old.plan: free}}]}"
    row = f"immutable_when: [{{properties: [size], when: {{not: {free}}}, source: s}}]"
    change(toy_table, "immutable: [cidr]", f"immutable: [cidr]\n  {row}")
    found = make_toy().cloud.diff(NETWORK, "n", olds, news)
    assert found.replaces == replaces


def test_what_an_update_let_go_of_is_held_for_a_while(make_toy, toy_table):
    change(toy_table, "by: networkId, code", "by: networkId, lingers: 60, code")
    toy = make_toy(FastClock())
    old, new = toy.create(NETWORK, "old"), toy.create(NETWORK, "new")
    subnet = toy.create(SUBNET, "s", networkId=old.id)
    subnet = toy.update(subnet, networkId=new.id)
    moved = toy.clock.now()
    with pytest.raises(CloudError, match=rf"^InUse: {old.id} is in use$"):
        toy.delete(old)
    toy.clock.at = moved + 59
    # Another process sees the same.
    with pytest.raises(CloudError, match="InUse"):
        toy.again().delete(old)
    toy.clock.at = moved + 61
    toy.delete(old)
    assert [network.id for network in toy.store.resources(NETWORK)] == [new.id]


def test_what_is_gone_holds_nothing_that_it_once_named(make_toy, toy_table):
    change(toy_table, "by: networkId, code", "by: networkId, lingers: 60, code")
    toy = make_toy(FastClock())
    old, new = toy.create(NETWORK, "old"), toy.create(NETWORK, "new")
    toy.delete(toy.update(toy.create(SUBNET, "s", networkId=old.id), networkId=new.id))
    toy.delete(old)
