"""The interpreter: what a toy cloud does with creates, updates and deletes."""

import asyncio

import pytest

from gpufleet_rehearsal.cloud.change import UNKNOWN
from gpufleet_rehearsal.cloud.checks import CloudError
from gpufleet_rehearsal.cloud.interpreter import ProvisioningFailed
from gpufleet_rehearsal.cloud.naming import SUFFIX_OF_PREFIX
from gpufleet_rehearsal.cloud.store import StoreError

NETWORK = "toy:net/network:Network"
SUBNET = "toy:net/subnet:Subnet"
GROUP = "toy:net/group:Group"
ROLE = "toy:iam/role:Role"
PUT = "toy:iam/put:Put"
POOL = "toy:run/pool:Pool"


def test_create_fills_in_defaults_and_computed_outputs(toy):
    network = toy.create(NETWORK, "main", cidr="10.0.0.0/16", options={"size": 1}, tags={"owner": "x"})
    view = network.view
    assert view["arn"] == f"arn:toy:us-east-1:000000000000:network/{network.id}"
    assert view["dns"] is True
    assert view["options"] == {"colour": "red", "size": 1}
    assert view["tagsAll"] == {"owner": "x"}
    assert view["region"] == "us-east-1"
    assert view["cidr"] == "10.0.0.0/16"
    assert network.inputs == {"cidr": "10.0.0.0/16", "options": {"size": 1}, "tags": {"owner": "x"}}


def test_default_in_an_object_needs_the_object(toy):
    assert "options" not in toy.create(NETWORK, "main", cidr="10.0.0.0/16").view


def test_ids_are_the_same_in_every_rehearsal_of_a_seed(make_toy, toy):
    first = toy.create(NETWORK, "main")
    toy.delete(first)
    second = toy.create(NETWORK, "main")
    assert first.id != second.id
    (toy.directory / "cloud.db").unlink()
    assert make_toy().create(NETWORK, "main").id == first.id
    (toy.directory / "cloud.db").unlink()
    assert make_toy(seed=1).create(NETWORK, "main").id != first.id


def test_what_the_cloud_makes_along_goes_along(toy):
    network = toy.create(NETWORK, "main")
    (group,) = toy.store.resources(GROUP)
    assert network.view["defaultGroupId"] == group.id
    assert group.hidden
    assert group.inputs == {"networkId": network.id}
    toy.delete(network)
    assert toy.store.resources() == []


def test_path_follows_a_reference(toy):
    network = toy.create(NETWORK, "main", cidr="10.0.0.0/16")
    assert toy.create(SUBNET, "a", networkId=network.id, zone="a").view["cidrOfNetwork"] == "10.0.0.0/16"


def test_missing_reference_is_refused_and_leaves_no_trace(toy):
    before = toy.store.resources()
    with pytest.raises(CloudError, match=r"^NoNetwork: network net-x does not exist$"):
        toy.create(SUBNET, "a", networkId="net-x", zone="a")
    assert toy.store.resources() == before
    assert [o.outcome for o in toy.store.operations()] == ["NoNetwork: network net-x does not exist"]


def test_missing_reference_is_named_by_the_end_of_its_arn(toy):
    with pytest.raises(CloudError, match=r"^NoRole: no role nodes \(arn:toy::role/nodes\)$"):
        toy.create(POOL, "p", roleArn="arn:toy::role/nodes")


def test_reference_of_the_clouds_own_is_not_looked_up(toy):
    assert toy.create(POOL, "p", name="p", roleArn="arn:toy:cloud:own").id == "p"


def test_reference_to_something_still_being_made_is_refused(make_toy):
    from gpufleet_rehearsal.cloud.clock import Clock

    toy = make_toy(Clock(1.0, wall=lambda: 0.0, wall0=0.0))
    toy.store.add(type_=NETWORK, id_="net-1", urn="u", name="n", inputs={}, outputs={}, at=0, ready_at=5)
    with pytest.raises(CloudError, match="NoNetwork"):
        toy.create(SUBNET, "a", networkId="net-1", zone="a")


def test_taken(toy):
    network = toy.create(NETWORK, "main")
    toy.create(SUBNET, "a", networkId=network.id, zone="a")
    with pytest.raises(CloudError, match=r"^ZoneTaken: there is one in a$"):
        toy.create(SUBNET, "b", networkId=network.id, zone="a")
    assert toy.create(SUBNET, "b", networkId=network.id, zone="b").id


def test_id_that_is_there_already(toy):
    toy.create(ROLE, "r", name="r")
    with pytest.raises(CloudError, match="ResourceAlreadyExists: a toy:iam/role:Role of id 'r'"):
        toy.create(ROLE, "other", name="r")


def test_put_that_is_there_already_is_set_anew(toy):
    toy.create(PUT, "first", of="a", size=1)
    toy.create(PUT, "second", of="a", size=2)
    (only,) = toy.store.resources(PUT)
    assert (only.name, only.inputs["size"]) == ("second", 2)


@pytest.mark.parametrize(("size", "refused"), [(9, False), (10, True)])
def test_refusal_at_once(toy, size, refused):
    before = toy.store.resources()
    if refused:
        with pytest.raises(CloudError, match=r"^TooLarge: 10 is more than 9$"):
            toy.create(POOL, "p", size=size, name="p")
        assert toy.store.resources() == before
    else:
        assert toy.create(POOL, "p", size=size, name="p").inputs["size"] == 9


def test_update_meets_what_create_would_refuse_if_it_brings_it_about(toy):
    pool = toy.create(POOL, "p", size=1, name="p")
    with pytest.raises(CloudError, match="TooLarge"):
        toy.update(pool, size=10, name="p")
    assert toy.store.get(POOL, "p").inputs["size"] == 1


def test_failure_in_the_status_leaves_a_failed_resource_that_an_update_makes_anew(timed_toy):
    with pytest.raises(ProvisioningFailed) as failed:
        timed_toy.create(POOL, "p", name="p", network="closed")
    assert failed.value.reasons == ["CREATE_FAILED: NeverJoined: p did not join"]
    assert timed_toy.store.get(POOL, "p").status == "failed"
    assert timed_toy.store.get(POOL, "p").view["status"] == "CREATE_FAILED"
    assert timed_toy.clock.now() >= 1200
    with pytest.raises(ProvisioningFailed):
        timed_toy.update(failed.value.resource, name="p", network="closed")
    timed_toy.update(failed.value.resource, name="p", network="open")
    assert timed_toy.store.get(POOL, "p").status == "available"
    assert timed_toy.store.get(POOL, "p").view["status"] == "ACTIVE"
    assert timed_toy.store.get(POOL, "p").reasons == []


def test_failure_in_the_status_is_averted_if_its_cause_goes_in_time(timed_toy):
    async def both():
        pool = timed_toy.cloud.create(POOL, "u::p", {"name": "p", "network": "closed", "opener": "r"})
        role = timed_toy.cloud.create(ROLE, "u::r", {"name": "r"})
        return await asyncio.gather(pool, role)

    pool, _ = timed_toy.run(both())
    assert pool.status == "available"
    assert timed_toy.clock.now() < 1200


def test_update_that_fails_in_its_status_changes_nothing(timed_toy):
    pool = timed_toy.create(POOL, "p", name="p", network="open")
    with pytest.raises(CloudError, match="NeverJoined"):
        timed_toy.update(pool, name="p", network="closed")
    assert timed_toy.store.get(POOL, "p").inputs == {"name": "p", "network": "open"}


def test_update_counts_and_keeps_what_is_computed(toy):
    network = toy.create(NETWORK, "main", cidr="10.0.0.0/16")
    changed = toy.update(network, cidr="10.0.0.0/16", colour="blue")
    assert changed.id == network.id
    assert changed.view["arn"] == network.view["arn"]
    assert (network.view["revision"], changed.view["revision"]) == (1, 2)
    assert changed.view["defaultGroupId"] == network.view["defaultGroupId"]


def test_update_keeps_what_the_cloud_made_up_for_absent_inputs(toy):
    put = toy.create(PUT, "p", of="it")
    changed = toy.update(put, of="it", note="new")
    assert changed.view["note"] == "new"
    assert (changed.view["serial"], changed.view["key"]) == (put.view["serial"], put.view["key"])
    assert toy.update(put, of="it", serial="mine").view["serial"] == "mine"


def test_update_of_what_is_not_there(toy):
    network = toy.create(NETWORK, "main")
    toy.delete(network)
    with pytest.raises(CloudError, match="does not exist; run `pulumi refresh`"):
        toy.update(network)


def test_held_until_its_holder_is_gone(toy):
    network = toy.create(NETWORK, "main")
    subnet = toy.create(SUBNET, "a", networkId=network.id)
    before = toy.store.resources()
    with pytest.raises(CloudError, match=rf"^InUse: {network.id} is in use$"):
        toy.delete(network)
    assert toy.store.resources() == before
    toy.delete(subnet)
    toy.delete(network)
    assert toy.store.resources() == []


def test_delete_of_what_is_gone_is_no_error(toy):
    network = toy.create(NETWORK, "main")
    toy.delete(network)
    toy.delete(network)


def test_refusal_of_a_delete(toy):
    network = toy.create(NETWORK, "main", keep=True)
    with pytest.raises(CloudError, match="is kept"):
        toy.delete(network)
    toy.delete(toy.update(network, keep=False))


def test_files_hold_and_go_with_their_resource(toy):
    network = toy.create(NETWORK, "main")
    toy.store.put_file(network, "/data/x", b"1")
    with pytest.raises(CloudError, match="is kept"):
        toy.delete(network)
    assert toy.again().store.files(network) == {"/data/x": b"1"}


def test_leftover_of_a_deletion_in_the_wrong_order(toy):
    network = toy.create(NETWORK, "main")
    subnet = toy.create(SUBNET, "a", networkId=network.id)
    role = toy.create(ROLE, "r", name="r")
    for order in ("pool first", "role first"):
        pool = toy.create(POOL, "p", name="p", roleArn=role.view["arn"], subnetIds=[subnet.id])
        if order == "role first":
            toy.delete(role)
        toy.delete(pool)
        left = [r.inputs for r in toy.store.resources("toy:net/interface:Interface")]
        assert left == ([{"subnetId": subnet.id}] if order == "role first" else [])


def test_duration_by_case_and_settling(timed_toy):
    role = timed_toy.create(ROLE, "r", name="r")
    assert timed_toy.clock.now() == 2
    timed_toy.create(POOL, "p", name="p", size=0, roleArn=role.view["arn"])
    assert timed_toy.clock.now() == 2 + 10 + 5
    assert timed_toy.cloud.operation_seconds(POOL, "create", {"size": 0}) == 5
    assert timed_toy.cloud.operation_seconds(POOL, "create", {"size": 1}) == 30
    assert timed_toy.cloud.operation_seconds(POOL, "update", {}) == 1


def test_accepted_resource_outlives_its_plugin(make_toy):
    from gpufleet_rehearsal.cloud.clock import Clock

    now = [0.0]
    toy = make_toy(Clock(1.0, wall0=0.0, wall=lambda: now[0]))

    async def killed():
        work = asyncio.create_task(toy.cloud.create(NETWORK, "u::n", {}))
        await asyncio.sleep(0.01)
        work.cancel()

    toy.run(killed())
    (network, _) = toy.again().store.resources()
    assert toy.cloud.status(network) == "creating"
    now[0] = 2.0
    assert toy.cloud.status(network) == "available"


def test_check_makes_a_name_once(toy):
    inputs, failures = toy.cloud.check(ROLE, "trainers", {"path": "/"}, {}, b"seed")
    assert failures == []
    assert inputs["name"].startswith("trainers-")
    assert len(inputs["name"]) == len("trainers-") + 7
    assert toy.cloud.check(ROLE, "trainers", {"path": "/"}, {}, b"seed")[0] == inputs
    assert toy.cloud.check(ROLE, "trainers", {"path": "/x"}, inputs, b"other")[0]["name"] == inputs["name"]
    assert toy.cloud.check(ROLE, "trainers", {"name": "own"}, inputs, b"other")[0] == {"name": "own"}


def test_name_is_as_long_as_the_provider_makes_it_and_never_cut(toy):
    longest, _ = toy.cloud.check(GROUP, "twelve-chars", {}, {}, b"seed")
    assert len(longest["name"]) == 20
    words = (
        f"^could not make instance of '{GROUP}': name 'thirteen-char-' plus 7 random chars is longer than maximum "
        "length 20$"
    )
    with pytest.raises(CloudError, match=words):
        toy.cloud.check(GROUP, "thirteen-char", {}, {}, b"seed")
    assert toy.cloud.check(GROUP, "thirteen-char", {"name": "own"}, {}, b"seed")[0] == {"name": "own"}


def test_unknown_type_says_how_to_add_a_row(toy):
    _, failures = toy.cloud.check("toy:net/gate:Gate", "g", {}, {})
    assert failures[0].reason == (
        "toy:net/gate:Gate is not in the rehearsal's table; add a row to toy/types/net.yaml: see docs/rehearsal.md"
    )


def test_read_by_import_id(toy):
    role = toy.create(ROLE, "r", name="r")
    assert toy.cloud.read(ROLE, "r") == role
    assert toy.cloud.read(ROLE, "role/r") == role
    assert toy.cloud.read(ROLE, "role/x") is None


def test_preview_knows_inputs_and_defaults_only(toy):
    unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
    outputs = toy.cloud.preview(NETWORK, "u::n", {"cidr": unknown})
    assert outputs == {
        "cidr": unknown, "dns": True, "arn": unknown, "revision": unknown, "defaultGroupId": unknown,
        "tagsAll": unknown,
    }  # fmt: skip


def test_preview_of_an_update_keeps_what_does_not_change(toy):
    network = toy.create(NETWORK, "main", cidr="10.0.0.0/16")
    outputs = toy.cloud.preview_update(NETWORK, network.id, network.urn, {"cidr": "10.0.0.0/16", "colour": "blue"})
    assert outputs["arn"] == network.view["arn"]
    assert outputs["revision"] == "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
    assert toy.store.get(NETWORK, network.id) == network


@pytest.mark.parametrize(
    ("olds", "news", "changes", "replaces"),
    [
        ({"a": 1}, {"a": 1}, [], []),
        ({"a": 1}, {"a": 1, "b": [], "c": None}, [], []),
        ({"zones": ["a", "b"]}, {"zones": ["b", "a"]}, [], []),
        ({"list": ["a", "b"]}, {"list": ["b", "a"]}, [("list[0]", "update"), ("list[1]", "update")], []),
        ({"a": 1}, {}, [("a", "delete")], []),
        ({}, {"tags": {"a/b": "x"}}, [("tags", "add")], []),
        ({"tags": {"c": "d"}}, {"tags": {"a/b": "x", "c": "d"}}, [('tags["a/b"]', "add")], []),
        ({"cidr": "1"}, {"cidr": "2"}, [("cidr", "update")], ["cidr"]),
        ({"on": True}, {"on": "true"}, [], []),
    ],
)
def test_diff(toy, olds, news, changes, replaces):
    found = toy.cloud.diff(NETWORK, "n", olds, news)
    assert [(c.path, c.kind) for c in found.changes] == changes
    assert found.replaces == replaces


@pytest.mark.parametrize(("name", "delete_first"), [("own", True), ("r-0a1b2c3", False)])
def test_fixed_name_is_deleted_before_it_is_replaced(make_toy, toy_table, name, delete_first):
    rows = toy_table / "toy" / "types" / "toy.yaml"
    rows.write_text(rows.read_text().replace("immutable: [name]\n  outputs", "immutable: [name, path]\n  outputs"))
    found = make_toy().cloud.diff(ROLE, "r", {"name": name, "path": "/"}, {"name": name, "path": "/x"})
    assert found.replaces == ["path"]
    assert found.delete_first is delete_first


def test_what_is_made_is_answered_even_if_it_cannot_be_logged(toy, monkeypatch):
    def full(*_args, **_more):
        raise StoreError("disk is full")

    monkeypatch.setattr(toy.store, "log", full)
    assert toy.create(NETWORK, "main").id == toy.store.resources(NETWORK)[0].id


def test_name_of_a_prefix_is_made_with_the_resource_and_stays(toy):
    """It is no input: the program does not know it before, and an update does not make another one."""
    inputs, failures = toy.cloud.check(ROLE, "trainers", {"namePrefix": "ours-"}, {}, b"seed")
    assert (inputs, failures) == ({"namePrefix": "ours-"}, [])
    assert toy.cloud.preview(ROLE, f"urn:pulumi:s::p::{ROLE}::trainers", inputs)["name"] == UNKNOWN
    role = toy.create(ROLE, "trainers", **inputs)
    assert role.id.startswith("ours-")
    assert len(role.id) == len("ours-") + SUFFIX_OF_PREFIX
    assert (role.view["name"], role.view["arn"]) == (role.id, f"arn:toy::role/{role.id}")
    assert "name" not in role.inputs
    changed = toy.update(role, **inputs, description="more")
    assert (changed.view["name"], changed.view["description"]) == (role.id, "more")
    assert toy.cloud.preview_update(ROLE, role.id, role.urn, inputs)["name"] == role.id
    toy.delete(changed)
    assert toy.create(ROLE, "trainers", **inputs).id != role.id
