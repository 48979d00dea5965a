"""Every type of the simulated clouds: its good request, its outputs, what replaces it, what it refers to."""

import re
from pathlib import Path

import pytest
import yaml

from gpufleet_rehearsal.cloud.checks import CloudError, reference_error
from gpufleet_rehearsal.cloud.creation import plan_resource
from gpufleet_rehearsal.inputs.sdk_shapes import inputs_of, outputs_of, resource_class
from gpufleet_rehearsal.table.paths import Scope, parse_path
from tests.rehearsal.scenarios import AZURE, NAME, TABLES, build, in_scenario, open_scenario, urn

TYPES = [(table, token) for table in TABLES for token, row in sorted(table.types.items()) if not row.hidden]
ABSENT = yaml.load((Path(__file__).parent / "absent_outputs.yaml").read_text(), yaml.CSafeLoader)


def every(part=None):
    """A test of each type, or of each of some part of its row."""
    if part is None:
        return pytest.mark.parametrize(("table", "token"), TYPES, ids=[token for _, token in TYPES])
    parts = [(t, token, one) for t, token in TYPES for one in numbers_or_names(getattr(t.types[token], part))]
    return pytest.mark.parametrize(("table", "token", "one"), parts, ids=[f"{token}-{one}" for _, token, one in parts])


def numbers_or_names(rows):
    return list(rows) if isinstance(rows, dict) or all(isinstance(row, str) for row in rows) else range(len(rows))


def example_of(table, token):
    """The first of the type in the scenario of everything."""
    return next(resource for resource in table.scenarios["everything"] if resource.type == token)


@every()
def test_sdk_registers_the_token(table, token):
    assert resource_class(token)


@every()
def test_good_request_has_every_output(table, token, tmp_path):
    view = in_scenario(table, "everything", tmp_path).resource(example_of(table, token).name).view
    row = table.types[token]
    made = [child.output for child in row.implicit_resources if child.output is not None]
    absent = [o for o in (*row.outputs, *made) if not at(view, o)]
    assert set(absent) <= set(ABSENT.get(token, ()))
    computed = set(outputs_of(token)) - set(inputs_of(token)) - {"tagsAll"}
    assert sorted(computed - view.keys() - set(ABSENT.get(token, ()))) == []
    assert "{" not in re.sub(r'\{"Version".*', "", str([view[o] for o in row.outputs if isinstance(view.get(o), str)]))


@every()
def test_no_output_is_called_absent_that_is_there(table, token, tmp_path):
    view = in_scenario(table, "everything", tmp_path).resource(example_of(table, token).name).view
    assert sorted(set(ABSENT.get(token, ())) & view.keys()) == []


def at(view, dotted):
    for key in dotted.split("."):
        view = view.get(key) if isinstance(view, dict) else None
    return view is not None


@every("immutable")
def test_change_of_what_is_immutable_replaces(table, token, one, tmp_path):
    scenario = open_scenario(table, tmp_path)
    before, after = {"kept": "x"}, {"kept": "x"}
    *above, last = one.split(".")
    for side, value in ((before, "old"), (after, "new")):
        for key in above:
            side = side.setdefault(key, {})
        side[last] = value
    assert scenario.cloud.diff(token, NAME, before, after).replaces == [one.split(".")[0]]
    assert scenario.cloud.diff(token, NAME, before, {**before, "kept": "y"}).replaces == []


@every("immutable")
def test_what_is_immutable_is_an_input_of_the_sdk(table, token, one):
    inside = {"properties": inputs_of(token)}
    for key in one.split("."):
        shape = inside["properties"].get(key)
        assert shape is not None, f"{token} has no {one}"
        inside = shape.get("items", shape)


@every("references")
def test_reference_to_what_is_not_there_is_refused(table, token, one, tmp_path):
    reference = table.types[token].references[one]
    scenario = in_scenario(table, "everything", tmp_path)
    inputs, bad = bad_request(scenario, table, token, one)
    row, cloud = table.types[token], scenario.cloud.view
    before = scenario.state()
    made = plan_resource(cloud, row, token, urn(token, NAME), NAME, inputs)
    said = reference_error(reference, bad, Scope(made.request, cloud))
    assert bad.rpartition("/")[2] in said or "{value" not in reference.text
    with pytest.raises(CloudError) as refused:
        scenario.run(scenario.cloud.create(token, urn(token, NAME), inputs))
    assert str(refused.value) == f"{reference.code}: {said}"
    assert scenario.state() == before


def bad_request(scenario, table, token, path):
    """Inputs of an example that has something at the path, with a handle there that nothing has."""
    for example in (r for r in table.scenarios["everything"] if r.type == token):
        inputs = scenario.fill(example.inputs)
        own, _, beyond = path.partition(" -> ")
        if beyond:
            (through,) = parse_path(own).values(Scope(scenario.resource(example.name), scenario.cloud.view)) or (None,)
            target = next((r for r in scenario.cloud.store.resources() if r.id == through), None)
            if target is not None and replace(dict(target.inputs), beyond):
                changed = copy_with(target.inputs, beyond)
                scenario.run(scenario.cloud.update(target.type, target.id, target.urn, changed))
                return inputs, BAD
        elif replace(inputs, path):
            return copy_with(inputs, path), BAD
    inputs = scenario.fill(example_of(table, token).inputs)
    assert not set(path) & set("[."), f"no example of {token} has anything at {path}"
    return {**inputs, path: BAD}, BAD


BAD = "there-is-none"


def replace(inputs, path):
    """Whether there is something at a path of inputs."""
    here = inputs
    for step in steps(path):
        if isinstance(step, int):
            here = here[0] if isinstance(here, list) and here else None
        else:
            here = here.get(step) if isinstance(here, dict) else None
    return here is not None


def copy_with(value, path, found=None):
    """A copy of inputs with BAD at the path, in lists at the first element."""
    rest = steps(path) if found is None else found
    if not rest:
        return BAD
    step, *rest = rest
    if isinstance(step, int):
        return [copy_with(value[0], path, rest), *value[1:]]
    return {**value, step: copy_with(value.get(step), path, rest)}


def steps(path):
    return [0 if part == "[*]" else part for part in re.findall(r"\[\*\]|[^.\[\]]+", path)]


@every("unique")
def test_the_same_again_is_refused(table, token, one, tmp_path):
    unique = table.types[token].unique[one]
    scenario = in_scenario(table, "everything", tmp_path)
    inputs = scenario.fill(example_of(table, token).inputs)
    if table is AZURE:
        inputs = elsewhere(scenario, token, inputs, unique.by)
    before = scenario.state()
    with pytest.raises(CloudError) as refused:
        scenario.run(scenario.cloud.create(token, urn(token, NAME), inputs))
    assert refused.value.code == unique.code
    assert refused.value.text
    assert scenario.state() == before


def elsewhere(scenario, token, inputs, by):
    """The same request under another id, which the provider looks for first: only what `by` leads to is as it was."""
    group = scenario.create("azure-native:resources:ResourceGroup", "other", {"resourceGroupName": "other"})
    auto = scenario.cloud.row(token).autoname.property
    other = {"resourceGroupName": group.view["name"]} if "resourceGroupName" not in by else {auto: "another1"}
    return {**inputs, **(other if "resourceGroupName" in inputs else {auto: "00000000-0000-4000-8000-00000000000f"})}


@pytest.mark.parametrize("token", [token for table, token in TYPES if table is AZURE])
def test_azures_provider_looks_for_an_id_first(token, tmp_path):
    scenario = in_scenario(AZURE, "everything", tmp_path)
    if scenario.cloud.row(token).idempotent:
        return
    example = scenario.resource(example_of(AZURE, token).name)
    with pytest.raises(CloudError) as refused:
        scenario.run(scenario.cloud.create(token, urn(token, NAME), example.inputs))
    assert str(refused.value) == f"cannot create already existing resource '{example.id}'"


@every()
def test_durations_have_a_source_that_fits_how_sure_they_are(table, token):
    latency = table.types[token].latency
    for timing in (latency.create, latency.update, latency.delete):
        for duration in (timing, *timing.cases) if timing is not None else ():
            assert duration.source
            assert ("assumed" in duration.source) == (duration.sure == "D") or "#" in duration.source, duration.source
            if duration.low is not None and duration.high is not None:
                assert duration.low <= duration.seconds <= duration.high


@every("needs")
def test_everything_holds_what_is_needed(table, token, one, tmp_path):
    scenario = in_scenario(table, "everything", tmp_path)
    need = table.types[token].needs[one]
    examples = [scenario.resource(r.name) for r in table.scenarios["everything"] if r.type == token]
    scopes = [Scope(example, scenario.cloud.view) for example in examples]
    asked = [scope for scope in scopes if need.when is None or need.when.holds(scope)]
    for scope in asked:
        ours = {theirs: set(map(str, parse_path(mine).values(scope))) for theirs, mine in need.where.items()}
        met = [
            thing
            for thing in scenario.cloud.store.resources(need.type)
            for there in [scope.at(thing)]
            if all(set(map(str, parse_path(theirs).values(there))) & values for theirs, values in ours.items())
            and (need.only is None or need.only.holds(there))
        ]
        assert met or "no example" in need.why, need.why


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.cloud)
def test_everything_can_be_deleted_in_reverse_and_leaves_nothing(table, tmp_path):
    scenario = in_scenario(table, "everything", tmp_path)
    for resource in reversed(table.scenarios["everything"]):
        scenario.delete(scenario.resource(resource.name))
        # Azure still sees a deleted capacity reservation for some seconds.
        scenario.clock.at += 10
    assert scenario.state() == []


@pytest.mark.parametrize(("table", "name"), [(table, name) for table in TABLES for name in sorted(table.scenarios)])
def test_scenarios_are_built_without_a_refusal(table, name, tmp_path):
    assert len(build(table, table.scenarios[name], tmp_path).made) == len(table.scenarios[name])
