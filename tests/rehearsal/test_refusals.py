"""Every refusal that the simulated clouds know: its trigger, its words, its moment, no trace, and its neighbour."""

import re
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from gpufleet_rehearsal.cloud.checks import CloudError, error_text
from gpufleet_rehearsal.cloud.creation import plan_resource
from gpufleet_rehearsal.cloud.interpreter import ProvisioningFailed
from gpufleet_rehearsal.cloud.resource import normalized_handle
from gpufleet_rehearsal.table.conditions import OPERATORS, Condition
from gpufleet_rehearsal.table.loader import CloudTable
from gpufleet_rehearsal.table.model import Refusal, ScenarioResource, Trigger
from gpufleet_rehearsal.table.paths import Scope, parse_path
from tests.rehearsal.scenarios import AZURE, NAME, TABLES, Scenario, build, in_scenario, urn

UNFILLED = re.compile(r'\{(?!")')
"""A path that nothing was put for; JSON, which the cloud quotes, has a quotation mark there."""
ROWS = [(table, row) for table in TABLES for row in table.refusals]


def every(operation, comes=None, clouds=TABLES):
    """A test of each refusal of an operation, and of a way to come."""
    chosen = [(t, row) for t, row in ROWS if row.operation == operation and comes in (None, row.comes) and t in clouds]
    return pytest.mark.parametrize(("table", "row"), chosen, ids=[row.name for _, row in chosen])


HELD = [
    (table, target, number)
    for table in TABLES
    for target, row in sorted(table.types.items())
    for number, _ in enumerate(row.deletion_blockers)
]


def in_force(table: CloudTable, row: Refusal, trigger: Trigger, directory) -> Scenario:
    scenario = in_scenario(table, row.scenario, directory, trigger)
    scenario.prepare(trigger)
    return scenario


def make_between(scenario: Scenario, trigger: Trigger) -> None:
    for each in trigger.between:
        scenario.add(each)


def expected(scenario: Scenario, row: Refusal, trigger: Trigger) -> str:
    """The refusal's words, filled in by the test itself from what was asked for."""
    inputs, cloud = scenario.inputs(row.type, NAME, trigger.inputs), scenario.cloud.view
    made = plan_resource(cloud, cloud.table.types[row.type], row.type, urn(row.type, NAME), NAME, inputs)
    return f"{row.code}: {error_text(row.text, Scope(made.request, cloud))}"


@every("create", "at-once")
def test_create_refused_at_once(table, row, tmp_path):
    scenario = in_force(table, row, row.trigger, tmp_path)
    make_between(scenario, row.trigger)
    before, said = scenario.state(), expected(scenario, row, row.trigger)
    began = scenario.clock.now()
    with pytest.raises(CloudError) as refused:
        scenario.create(row.type, NAME, row.trigger.inputs)
    assert str(refused.value) == said
    assert not UNFILLED.search(said)
    assert scenario.state() == before
    assert began + row.retries <= scenario.clock.now() <= began + row.retries + 10


@every("create", "in-status")
def test_create_accepted_and_failed_later(table, row, tmp_path):
    scenario = in_force(table, row, row.trigger, tmp_path)
    before, said = scenario.state(), expected(scenario, row, row.trigger)
    began = scenario.clock.now()
    with pytest.raises(ProvisioningFailed) as failed:
        scenario.create(row.type, NAME, row.trigger.inputs)
    assert failed.value.reasons == [f"{row.status}: {said}"]
    assert failed.value.resource.status == "failed"
    assert scenario.clock.now() >= began + row.after
    scenario.delete(failed.value.resource)
    assert scenario.state() == before


@every("create")
def test_neighbour_of_create_passes(table, row, tmp_path):
    scenario = in_force(table, row, row.neighbour, tmp_path)
    make_between(scenario, row.neighbour)
    made = scenario.create(row.type, NAME, row.neighbour.inputs)
    assert scenario.cloud.status(made) == "available"


@every("update")
def test_create_passes_and_update_is_refused(table, row, tmp_path):
    scenario = in_force(table, row, row.trigger, tmp_path)
    made = scenario.create(row.type, NAME, row.trigger.inputs)
    make_between(scenario, row.trigger)
    before = scenario.state()
    with pytest.raises(CloudError) as refused:
        scenario.update(made, {**row.trigger.inputs, **row.trigger.then})
    assert refused.value.code == row.code
    assert_follows(refused.value.text, row.text)
    assert scenario.state() == before


@every("update", clouds=[AZURE])
def test_azures_provider_plans_an_update_of_what_is_refused(table, row, tmp_path):
    scenario = in_force(table, row, row.trigger, tmp_path)
    olds = scenario.inputs(row.type, NAME, row.trigger.inputs)
    news = scenario.inputs(row.type, NAME, {**row.trigger.inputs, **row.trigger.then})
    planned = scenario.cloud.diff(row.type, NAME, olds, news)
    assert planned.changes
    assert planned.replaces == []


@every("update")
def test_neighbour_of_update_passes(table, row, tmp_path):
    scenario = in_force(table, row, row.neighbour, tmp_path)
    made = scenario.create(row.type, NAME, row.neighbour.inputs)
    make_between(scenario, row.neighbour)
    assert scenario.update(made, {**row.neighbour.inputs, **row.neighbour.then}).version == made.version + 1


@every("delete")
def test_delete_refused(table, row, tmp_path):
    scenario = in_force(table, row, row.trigger, tmp_path)
    target = scenario.resource(row.trigger.delete)
    put_something_in(scenario, row, row.trigger)
    before, began = scenario.state(), scenario.clock.now()
    with pytest.raises(CloudError) as refused:
        scenario.delete(target)
    assert str(refused.value) == f"{row.code}: {error_text(row.text, Scope(target, scenario.cloud.view))}"
    assert scenario.state() == before
    assert scenario.clock.now() >= began + row.retries


@every("delete")
def test_neighbour_of_delete_passes(table, row, tmp_path):
    scenario = in_force(table, row, row.neighbour, tmp_path)
    target = scenario.resource(row.neighbour.delete)
    put_something_in(scenario, row, row.neighbour)
    scenario.delete(target)
    assert scenario.cloud.store.get(target.type, target.id) is None


@pytest.mark.parametrize(("table", "target_type", "number"), HELD, ids=[f"{target}-{n}" for _, target, n in HELD])
def test_deletion_out_of_order_is_refused(table, target_type, number, tmp_path):
    hold = table.types[target_type].deletion_blockers[number]
    holder, target = a_holder(table, target_type, number)
    scenario = build(table, needed_for(table, holder), tmp_path)
    thing = scenario.resource(target)
    before = scenario.state()
    with pytest.raises(CloudError) as refused:
        scenario.delete(thing)
    assert str(refused.value) == f"{hold.code}: {error_text(hold.text, Scope(thing, scenario.cloud.view))}"
    assert scenario.state() == before


def test_rows_have_a_source():
    assert [row.name for _, row in ROWS if len(row.source) < 10] == []


def test_observed_rows_name_a_thread_or_where_they_were_pasted():
    for _, row in ROWS:
        if row.evidence == "observed":
            assert any(word in row.source for word in ("#", "paste", "quote", "repeats")), row.name


def test_words_of_ours_are_marked():
    for _, row in ROWS:
        if row.evidence == "assumed":
            assert "assumed" in row.source or "no thread" in row.source, row.name


def assert_follows(text: str, template: str) -> None:
    """The fixed parts of a template stand in a text, in their order."""
    at = 0
    for piece in template.replace("}", "{").split("{")[::2]:
        found = text.find(piece, at)
        assert found >= 0, f"{piece!r} is not in {text!r}"
        at = found + len(piece)


def put_something_in(scenario: Scenario, row: Refusal, trigger: Trigger) -> None:
    """Where a row asks whether something lies in the resource: an image, an object."""
    if mentions(row.when, "files"):
        assert trigger.delete is not None
        scenario.cloud.store.put_file(scenario.resource(trigger.delete), "latest", b"layer")


def mentions(condition: Condition, operator: str) -> bool:
    inner = [v for v in vars(condition).values() if isinstance(v, Condition)]
    listed = [c for v in vars(condition).values() if isinstance(v, list) for c in v if isinstance(c, Condition)]
    return isinstance(condition, OPERATORS[operator]) or any(mentions(c, operator) for c in [*inner, *listed])


def a_holder(table: CloudTable, target_type: str, number: int) -> tuple[str, str]:
    """Two of the scenario of everything: one that holds the other as this row says."""
    hold = table.types[target_type].deletion_blockers[number]
    scenario = everything(table.cloud)
    for holder in table.scenarios["everything"]:
        if holder.type != hold.type:
            continue
        scope = Scope(scenario.resource(holder.name), scenario.cloud.view)
        named = set(map(normalized_handle, map(str, parse_path(hold.by).values(scope))))
        if hold.when is not None and not hold.when.holds(scope):
            continue
        for target in table.scenarios["everything"]:
            if target.type == target_type and named & scenario.resource(target.name).handles:
                return holder.name, target.name
    raise AssertionError(f"nothing in the scenario of everything holds a {target_type} by {hold.by} of a {hold.type}")


@cache
def everything(cloud: str) -> Scenario:
    table = next(table for table in TABLES if table.cloud == cloud)
    return in_scenario(table, "everything", Path(mkdtemp()))


def needed_for(table: CloudTable, name: str) -> list[ScenarioResource]:
    """What of the scenario of everything one of its resources refers to or needs, in order, and itself."""
    scenario = {resource.name: resource for resource in table.scenarios["everything"]}
    wanted: set[str] = set()

    def want(one: str) -> None:
        if one not in wanted:
            wanted.add(one)
            needed = {need.type for need in table.types[scenario[one].type].needs}
            for other in scenario:
                if f"${{{other}." in str(scenario[one].inputs) or scenario[other].type in needed - {scenario[one].type}:
                    want(other)

    want(name)
    return [resource for resource in scenario.values() if resource.name in wanted]
