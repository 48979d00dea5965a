"""What Azure's models say of inputs: path parameters, flattened bodies, enums, sets of ids that are lists."""

import pytest

from gpufleet_rehearsal.inputs import azure_models, sdk_schema, sdk_shapes, validate
from gpufleet_rehearsal.inputs.call_table import CallRow, call_table

CLOUD = "azure-native"
POOL = "azure-native:batch:Pool"


def merged(token, row=None):
    properties = sdk_shapes.inputs_of(token)
    return properties, azure_models.merge(row or call_table(CLOUD).types[token], properties)


@pytest.mark.parametrize("token", sorted(call_table(CLOUD).types))
def test_every_property_is_matched_or_listed_with_a_reason(token):
    _, found = merged(token)
    assert found.loose == []
    assert found.unused == set()
    assert all(len(reason) > 10 for reason in call_table(CLOUD).types[token].local.values())


@pytest.mark.parametrize(
    "spelt", ["batch:PoolOperations.make", "batch:PoolsOperations.create", "batch.v2000_01_01:PoolOperations.create"]
)
def test_a_call_that_does_not_exist_is_an_error(spelt):
    with pytest.raises(KeyError, match="azure-mgmt-batch has no such operation"):
        azure_models.find_call(spelt)


def test_a_property_that_slips_is_named():
    row = CallRow(calls=["storage.v2024_01_01:FileSharesOperations.create"], rename={"shareQuota": "quota"})
    _, found = merged("azure-native:storage:FileShare", row)
    assert found.loose == ["expand", "shareQuota"]


def test_a_shape_that_does_not_fit_is_named():
    row = CallRow(
        calls=["storage.v2024_01_01:FileSharesOperations.create"],
        rename={"shareQuota": "metadata"},
        local={"expand": "of the query"},
    )
    _, found = merged("azure-native:storage:FileShare", row)
    assert found.loose == ["shareQuota: integer against {str} storage.FileShare.metadata"]


def test_what_the_shapes_know():
    pool = validate.types(CLOUD)[POOL]["properties"]
    assert pool["poolName"] == {
        "type": "string",
        "min": 1,
        "max": 64,
        "pattern": r"[a-zA-Z0-9_-]+",
        "call": "azure-mgmt-batch PoolOperations.create",
        **({"says": pool["poolName"]["says"]} if "says" in pool["poolName"] else {}),
    }
    # An enum of the SDK, a duration of the model.
    assert pool["interNodeCommunication"]["enum"] == ["Enabled", "Disabled"]
    scaling = pool["scaleSettings"]["properties"]
    assert scaling["fixedScale"]["properties"]["resizeTimeout"]["form"] == "duration"
    assert scaling["autoScale"]["properties"]["formula"]["required"] is True
    # Identities are a list of ids, which Azure allows as the keys of an object.
    identity = pool["identity"]["properties"]
    assert identity["userAssignedIdentities"] == {"type": "list", "items": {"type": "string"}}


@pytest.mark.parametrize(
    ("searched", "whole"),
    [("^[a-z]+$", "[a-z]+"), ("^[a-z]+", "[a-z]+.*"), ("[a-z]", ".*[a-z].*"), (r"^\d$", r"\d")],
)
def test_a_pattern_that_is_searched_for_covers_the_whole(searched, whole):
    assert azure_models.python_pattern(searched) == whole


def test_a_pattern_that_python_cannot_read_is_an_error():
    with pytest.raises(ValueError, match="no Python pattern"):
        azure_models.python_pattern("[a-z")


def test_an_object_inside_of_itself_is_refused():
    address = "azure-native:network:PublicIPAddress"
    inner = {"linkedPublicIPAddress": {"linkedPublicIPAddress": {"id": "x"}}}
    (found,) = validate.problems(address, {"resourceGroupName": "fleet", **inner})
    assert found.path == "linkedPublicIPAddress.linkedPublicIPAddress"
    assert "is not simulated" in found.reason


def test_every_correction_and_open_enum_names_something():
    whole = call_table(CLOUD)
    known = {
        member.key
        for row in whole.types.values()
        for spelt in row.calls
        for member in azure_models.find_call(spelt).members.values()
    }
    packages = {name.removeprefix("azure-mgmt-") for name in azure_models.MADE_FROM}
    assert {key.partition(".")[0] for key in (*whole.corrections, *whole.words)} <= packages
    assert {key for key in whole.words if key.count(".") == 1} <= known
    assert all(len(reason) > 10 for reason in whole.open_enums.values())


def test_rules_are_written_as_for_any_cloud():
    properties = sdk_shapes.inputs_of(POOL)
    rule = {"needs": ["vmsize"], "source": "somewhere or other", "evidence": "documented"}
    assert list(sdk_schema.rule_faults(rule, properties)) == ["rule: vmsize: no such property"]
