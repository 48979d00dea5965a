"""Every refusal that the simulated AWS knows: its trigger, its words, its moment, no trace, and its neighbour."""

import pytest
from aws_worlds import NAME, TABLE, Aws, build, in_world, urn

from gpufleet_rehearsal.cloud.interpreter import InitFailed
from gpufleet_rehearsal.cloud.making import draft
from gpufleet_rehearsal.cloud.refusing import CloudError, words
from gpufleet_rehearsal.table.conditions import OPERATORS, Condition
from gpufleet_rehearsal.table.paths import Scope, parse_path
from gpufleet_rehearsal.table.rows import Refusal, Trigger, WorldResource

ROWS = {row.name: row for row in TABLE.refusals}
CREATE_AT_ONCE = [n for n, row in ROWS.items() if row.operation == "create" and row.comes == "at-once"]
CREATE_IN_STATUS = [n for n, row in ROWS.items() if row.operation == "create" and row.comes == "in-status"]
UPDATES = [n for n, row in ROWS.items() if row.operation == "update"]
DELETES = [n for n, row in ROWS.items() if row.operation == "delete"]
HELD = [(target, number) for target, row in sorted(TABLE.types.items()) for number, _ in enumerate(row.held_by)]


def in_force(row: Refusal, trigger: Trigger, directory) -> Aws:
    aws = in_world(row.world, directory, trigger)
    aws.prepare(trigger)
    return aws


def expected(aws: Aws, row: Refusal, trigger: Trigger) -> str:
    """The refusal's words, filled in by the test itself from what was asked for."""
    inputs = aws.inputs(row.type, NAME, trigger.inputs)
    made = draft(aws.cloud.around, TABLE.types[row.type], row.type, urn(row.type, NAME), NAME, inputs)
    return f"{row.code}: {words(row.text, Scope(made.request, aws.cloud.around))}"


@pytest.mark.parametrize("name", CREATE_AT_ONCE)
def test_create_refused_at_once(name, tmp_path):
    row = ROWS[name]
    aws = in_force(row, row.trigger, tmp_path)
    before, said = aws.state(), expected(aws, row, row.trigger)
    began = aws.clock.now()
    with pytest.raises(CloudError) as refused:
        aws.create(row.type, NAME, row.trigger.inputs)
    assert str(refused.value) == said
    assert "{" not in said
    assert aws.state() == before
    assert began + row.retries <= aws.clock.now() <= began + row.retries + 10


@pytest.mark.parametrize("name", CREATE_IN_STATUS)
def test_create_accepted_and_failed_later(name, tmp_path):
    row = ROWS[name]
    aws = in_force(row, row.trigger, tmp_path)
    before, said = aws.state(), expected(aws, row, row.trigger)
    began = aws.clock.now()
    with pytest.raises(InitFailed) as failed:
        aws.create(row.type, NAME, row.trigger.inputs)
    assert failed.value.reasons == [f"{row.status}: {said}"]
    assert failed.value.resource.status == "failed"
    assert aws.clock.now() >= began + row.after
    aws.delete(failed.value.resource)
    assert aws.state() == before


@pytest.mark.parametrize("name", [*CREATE_AT_ONCE, *CREATE_IN_STATUS])
def test_neighbour_of_create_passes(name, tmp_path):
    row = ROWS[name]
    aws = in_force(row, row.neighbour, tmp_path)
    made = aws.create(row.type, NAME, row.neighbour.inputs)
    assert aws.cloud.status(made) == "available"


@pytest.mark.parametrize("name", UPDATES)
def test_create_passes_and_update_is_refused(name, tmp_path):
    row = ROWS[name]
    aws = in_force(row, row.trigger, tmp_path)
    made = aws.create(row.type, NAME, row.trigger.inputs)
    before = aws.state()
    with pytest.raises(CloudError) as refused:
        aws.update(made, {**row.trigger.inputs, **row.trigger.then})
    assert refused.value.code == row.code
    assert_follows(refused.value.text, row.text)
    assert aws.state() == before


@pytest.mark.parametrize("name", UPDATES)
def test_neighbour_of_update_passes(name, tmp_path):
    row = ROWS[name]
    aws = in_force(row, row.neighbour, tmp_path)
    made = aws.create(row.type, NAME, row.neighbour.inputs)
    assert aws.update(made, {**row.neighbour.inputs, **row.neighbour.then}).version == made.version + 1


@pytest.mark.parametrize("name", DELETES)
def test_delete_refused(name, tmp_path):
    row = ROWS[name]
    aws = in_force(row, row.trigger, tmp_path)
    target = aws.resource(row.trigger.delete)
    put_something_in(aws, row, row.trigger)
    before, began = aws.state(), aws.clock.now()
    with pytest.raises(CloudError) as refused:
        aws.delete(target)
    assert str(refused.value) == f"{row.code}: {words(row.text, Scope(target, aws.cloud.around))}"
    assert aws.state() == before
    assert aws.clock.now() >= began + row.retries


@pytest.mark.parametrize("name", DELETES)
def test_neighbour_of_delete_passes(name, tmp_path):
    row = ROWS[name]
    aws = in_force(row, row.neighbour, tmp_path)
    target = aws.resource(row.neighbour.delete)
    put_something_in(aws, row, row.neighbour)
    aws.delete(target)
    assert aws.cloud.store.get(target.type, target.id) is None


@pytest.mark.parametrize(("target_type", "number"), HELD)
def test_deletion_out_of_order_is_refused(target_type, number, tmp_path):
    hold = TABLE.types[target_type].held_by[number]
    holder, target = a_holder(target_type, number)
    aws = build(needed_for(holder), tmp_path)
    thing = aws.resource(target)
    before = aws.state()
    with pytest.raises(CloudError) as refused:
        aws.delete(thing)
    assert str(refused.value) == f"{hold.code}: {words(hold.text, Scope(thing, aws.cloud.around))}"
    assert aws.state() == before


def test_delete_waits_for_what_is_still_settling(tmp_path):
    aws = in_world("files", tmp_path)
    aws.delete(aws.resource("point"))
    began = aws.clock.now()
    aws.delete(aws.resource("target"))
    gone = aws.clock.now()
    aws.delete(aws.resource("files"))
    assert gone > began
    assert gone + 10 <= aws.clock.now() <= gone + 30


def test_placement_group_is_free_a_minute_after_its_nodes(tmp_path):
    row = ROWS["eks-node-group-placement-group-over-zones"]
    aws = in_world("eks", tmp_path)
    group = aws.create(row.type, NAME, row.neighbour.inputs)
    aws.delete(group)
    began = aws.clock.now()
    aws.delete(aws.resource("placement"))
    assert began + 50 <= aws.clock.now() <= began + 90


def test_node_group_after_its_policies_leaks_an_interface(tmp_path):
    aws = in_world("eks", tmp_path)
    kept = {r.id for r in aws.cloud.store.resources("aws:ec2/networkInterface:NetworkInterface")}
    aws.delete(aws.resource("cni-policy"))
    aws.delete(aws.resource("nodes"))
    (left,) = [r for r in aws.cloud.store.resources("aws:ec2/networkInterface:NetworkInterface") if r.id not in kept]
    assert left.hidden
    assert left.view["subnetId"] in {aws.resource("private-1").id, aws.resource("private-2").id}


def test_node_group_before_its_policies_leaks_nothing(tmp_path):
    aws = in_world("eks", tmp_path)
    aws.delete(aws.resource("nodes"))
    aws.delete(aws.resource("cni-policy"))
    assert aws.cloud.store.resources("aws:ec2/networkInterface:NetworkInterface") == []


def test_leaked_interface_holds_its_subnet(tmp_path):
    aws = in_world("eks", tmp_path)
    guarded = aws.resource("guarded")
    aws.update(guarded, {**guarded.inputs, "deletionProtection": False})
    for name in ("cni-policy", "nodes", "cluster", "bare", "guarded"):
        aws.delete(aws.resource(name))
    with pytest.raises(CloudError, match=r"^DependencyViolation: The subnet 'subnet-\w+' has dependencies"):
        aws.delete(aws.resource("private-1"))


LOG_GROUP = "aws:cloudwatch/logGroup:LogGroup"


def test_cluster_that_logs_leaves_its_log_group_when_nobody_else_keeps_it(tmp_path):
    aws = in_world("eks", tmp_path)
    aws.delete(aws.resource("bare"))
    (left,) = aws.cloud.store.resources(LOG_GROUP)
    assert (left.id, left.hidden) == ("/aws/eks/bare/cluster", True)
    with pytest.raises(CloudError, match=r"^ResourceAlreadyExistsException: The specified log group already exists$"):
        aws.create(LOG_GROUP, NAME, {"name": "/aws/eks/bare/cluster"})


def test_log_group_that_goes_after_its_cluster_leaves_nothing(tmp_path):
    aws = in_world("everything", tmp_path)
    for resource in reversed(TABLE.worlds["everything"]):
        aws.delete(aws.resource(resource.name))
        if resource.name == "cluster":
            break
    assert [group.id for group in aws.cloud.store.resources(LOG_GROUP)] == [aws.resource("cluster-logs").id]


def test_rows_have_a_source():
    assert [row.name for row in TABLE.refusals if len(row.source) < 10] == []


def test_observed_rows_name_a_thread_or_where_they_were_pasted():
    for row in TABLE.refusals:
        if row.evidence == "observed":
            assert "#" in row.source or "paste" in row.source or "quoted" in row.source or "repeats" in row.source, (
                row.name
            )


def test_words_of_ours_are_marked():
    for row in TABLE.refusals:
        if row.evidence == "assumed":
            assert "assumed" in row.source or "no thread" in row.source, row.name


def assert_follows(text: str, template: str) -> None:
    """The fixed parts of a template stand in a text, in their order."""
    at = 0
    for piece in template.replace("}", "{").split("{")[::2]:
        found = text.find(piece, at)
        assert found >= 0, f"{piece!r} is not in {text!r}"
        at = found + len(piece)


def put_something_in(aws: Aws, row: Refusal, trigger: Trigger) -> None:
    """Where a row asks whether something lies in the resource: an image, an object."""
    if mentions(row.when, "files"):
        assert trigger.delete is not None
        aws.cloud.store.put_file(aws.resource(trigger.delete), "latest", b"layer")


def mentions(condition: Condition, operator: str) -> bool:
    inner = [v for v in vars(condition).values() if isinstance(v, Condition)]
    listed = [c for v in vars(condition).values() if isinstance(v, list) for c in v if isinstance(c, Condition)]
    return isinstance(condition, OPERATORS[operator]) or any(mentions(c, operator) for c in [*inner, *listed])


def a_holder(target_type: str, number: int) -> tuple[str, str]:
    """Two of the world of everything: one that holds the other as this row says."""
    hold = TABLE.types[target_type].held_by[number]
    aws = everything()
    for holder in TABLE.worlds["everything"]:
        if holder.type != hold.type:
            continue
        scope = Scope(aws.resource(holder.name), aws.cloud.around)
        named = set(map(str, parse_path(hold.by).values(scope)))
        if hold.when is not None and not hold.when.holds(scope):
            continue
        for target in TABLE.worlds["everything"]:
            if target.type == target_type and named & aws.resource(target.name).handles:
                return holder.name, target.name
    raise AssertionError(f"nothing in the world of everything holds a {target_type} by {hold.by} of a {hold.type}")


_everything: list[Aws] = []


def everything() -> Aws:
    if not _everything:
        import tempfile
        from pathlib import Path

        _everything.append(in_world("everything", Path(tempfile.mkdtemp())))
    return _everything[0]


def needed_for(name: str) -> list[WorldResource]:
    """What of the world of everything one of its resources refers to or needs, in order, and itself."""
    world = {resource.name: resource for resource in TABLE.worlds["everything"]}
    wanted: set[str] = set()

    def want(one: str) -> None:
        if one not in wanted:
            wanted.add(one)
            needed = {need.type for need in TABLE.types[world[one].type].needs}
            for other in world:
                if f"${{{other}." in str(world[one].inputs) or world[other].type in needed - {world[one].type}:
                    want(other)

    want(name)
    return [resource for resource in world.values() if resource.name in wanted]
