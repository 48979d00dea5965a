"""What goes wrong on request."""

import pytest

from gpufleet_rehearsal.cloud.checks import CloudError
from gpufleet_rehearsal.cloud.faults import FaultError, Faults, InjectedError, parse_fault
from gpufleet_rehearsal.cloud.interpreter import ProvisioningFailed
from gpufleet_rehearsal.table.loader import load_table

NETWORK = "toy:net/network:Network"
SUBNET = "toy:net/subnet:Subnet"
POOL = "toy:run/pool:Pool"


def outcomes(toy, *names, type_=NETWORK):
    found = []
    for name in names:
        try:
            toy.create(type_, name)
            found.append("ok")
        except CloudError as error:
            found.append(error.code)
    return found


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (f"create:{NETWORK}", ["InternalFailure", "ok", "ok"]),
        (f"create:{NETWORK}:2", ["ok", "InternalFailure", "ok"]),
        (f"create:{NETWORK}:*", ["InternalFailure"] * 3),
        ("create:@b", ["ok", "InternalFailure", "ok"]),
        ("create:#3", ["ok", "ok", "InternalFailure"]),
        ("create:*", ["InternalFailure"] * 3),
        (f"create:{SUBNET}", ["ok", "ok", "ok"]),
        (f"delete:{NETWORK}", ["ok", "ok", "ok"]),
        ("share:0", ["ok", "ok", "ok"]),
        ("share:1", ["InternalFailure"] * 3),
    ],
)
def test_failing_creates(make_toy, spec, expected):
    assert outcomes(make_toy(faults=[spec]), "a", "b", "c") == expected


def test_failure_names_the_fault_and_leaves_no_trace(make_toy):
    toy = make_toy(faults=["create:@a"])
    with pytest.raises(CloudError, match=r"injected fault create:@a"):
        toy.create(NETWORK, "a")
    assert toy.store.resources() == []


def test_fault_strikes_once_over_all_processes(make_toy):
    toy = make_toy(faults=["create:@a"])
    assert outcomes(toy, "a") == ["InternalFailure"]
    assert outcomes(toy.again(), "a") == ["ok"]


def test_fault_that_was_taken_out_and_put_in_again_strikes_again(make_toy):
    assert outcomes(make_toy(faults=["create:@a"]), "a", "b") == ["InternalFailure", "ok"]
    assert outcomes(make_toy(faults=[]), "a") == ["ok"]
    assert outcomes(make_toy(faults=["create:@a"]), "a") == ["InternalFailure"]


def test_share_is_drawn_from_the_seed(make_toy):
    names = [str(n) for n in range(40)]
    first = outcomes(make_toy(faults=["share:0.25"], seed=3), *names)
    assert 3 < first.count("InternalFailure") < 20
    for toy in (make_toy(faults=["share:.25"], seed=4), make_toy(faults=["share:0.25"], seed=5)):
        assert outcomes(toy, *names) != first


def test_update_and_delete(make_toy):
    toy = make_toy(faults=[f"update:{NETWORK}", f"delete:{NETWORK}"])
    network = toy.create(NETWORK, "a")
    with pytest.raises(CloudError, match="injected fault update"):
        toy.update(network, a=1)
    assert toy.update(network, a=1).inputs == {"a": 1}
    with pytest.raises(CloudError, match="injected fault delete"):
        toy.delete(network)
    toy.delete(network)


def test_death_comes_when_the_cloud_has_made_it(make_toy):
    class Died(BaseException):
        pass

    def die():
        raise Died

    toy = make_toy(faults=[f"die:{NETWORK}:2"])
    toy.cloud.dies = die
    toy.create(NETWORK, "a")
    with pytest.raises(Died):
        toy.create(NETWORK, "b")
    assert [r.name for r in toy.again().store.resources(NETWORK)] == ["a", "b"]
    toy.create(NETWORK, "c")


def test_slow(make_toy, timed_toy):
    toy = make_toy(timed_toy.clock, faults=[f"slow:{NETWORK}:5", "slow:*:2"])
    network = toy.create(NETWORK, "a")
    assert toy.clock.now() == 2 * 5 * 2
    toy.create(SUBNET, "s", networkId=network.id)
    assert toy.clock.now() == 2 * 5 * 2 + 2 * 2


@pytest.mark.parametrize(("spec", "again"), [("", True), (":*", False)])
def test_capacity(make_toy, timed_toy, spec, again):
    toy = make_toy(timed_toy.clock, faults=[f"capacity:big.1:use1-az1{spec}"])
    network = toy.create(NETWORK, "n")
    near, far = (toy.create(SUBNET, zone, networkId=network.id, zone=f"use1-{zone}") for zone in ("az1", "az2"))
    pool = {"kind": "big.1", "size": 1}
    toy.create(POOL, "f", name="far", subnetIds=[far.id], **pool)
    toy.create(POOL, "s", name="small", subnetIds=[near.id], kind="small.1", size=1)
    with pytest.raises(ProvisioningFailed, match=r"NoCapacity: no big\.1"):
        toy.create(POOL, "p", name="p", subnetIds=[near.id], **pool)
    if again:
        assert toy.again().create(POOL, "q", name="q", subnetIds=[near.id], **pool).status == "available"
    else:
        with pytest.raises(ProvisioningFailed):
            toy.again().create(POOL, "q", name="q", subnetIds=[near.id], **pool)


@pytest.mark.parametrize(
    "spec", ["", "create", "create:", "create:Network", "share:2", "slow:x", "capacity:g5", "x:#1"]
)
def test_unreadable_fault_is_one_line(spec):
    with pytest.raises(FaultError, match="cannot be read; write create:<type>") as error:
        parse_fault(spec)
    assert "\n" not in str(error.value)


def test_no_fault_counts_nothing(toy):
    toy.create(NETWORK, "a")
    assert Faults([], toy.store, 0).slowness(NETWORK) == 1
    assert toy.store.counted("fault create:@a ") == 0


@pytest.mark.parametrize(
    ("cloud", "words"),
    [
        ("aws", "InternalFailure: The request processing has failed because of an unknown error, exception or failure"),
        ("azure-native", "InternalServerError: Encountered internal server error."),
    ],
)
def test_each_cloud_fails_in_its_own_words(cloud, words, toy):
    faults = Faults(["create:*"], toy.store, 0, load_table(cloud).row.unknown_error)
    with pytest.raises(InjectedError) as error:
        faults.before("create", NETWORK, "urn", "a")
    assert str(error.value) == f"{words} (injected fault create:*)"
