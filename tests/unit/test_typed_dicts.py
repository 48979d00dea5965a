"""What a TypedDict declares, as data: fields, shapes and texts, with those of the TypedDicts that it extends."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, NotRequired, Required, TypedDict

import pulumi
import pytest

from gpufleet.config.aws import AwsConfig
from gpufleet.typed_dicts import (
    Check,
    Default,
    Field,
    Shape,
    docstrings_of,
    fields_of,
    is_record,
    pick,
    record_in,
    shape_of,
    typed_dict_bases,
)


class Tagged(TypedDict, total=False):
    """What has tags."""

    tags: Mapping[str, str]
    """Tags of everything."""
    owner: Required[str]
    """Who answers for it,
    by name."""


class Zone(TypedDict):
    name: str
    subnets: NotRequired[Sequence[str]]


CHECK = Check(str)


class Pool(Tagged):
    """Nodes."""

    types: Sequence[str]
    """Types, in order."""
    max: Annotated[int, Default(2)]
    """Most nodes."""
    capacity: NotRequired[Literal["red", "blue"]]
    """How they are paid for."""
    label: NotRequired[Annotated[str, CHECK, Default("x")]]
    """Label."""
    vpc_id: pulumi.Input[str]
    """The network."""
    zones: Mapping[str, Zone]
    """By id."""


class Owned(Pool):
    owner: str
    """Another owner."""


class Sequel(Zone, Owned):
    """Of two."""

    name: str
    """Name."""


def test_fields_are_those_of_the_class_and_of_what_it_extends():
    assert fields_of(Pool) == {
        "tags": Field("tags", Shape(dict, Shape(str)), required=False),
        "owner": Field("owner", Shape(str), required=True),
        "types": Field("types", Shape(list, Shape(str)), required=True),
        "max": Field("max", Shape(int), required=True, default=Default(2)),
        "capacity": Field("capacity", Shape(str, choices=("red", "blue")), required=False),
        "label": Field("label", Shape(str), required=False, default=Default("x"), checks=(CHECK,)),
        "vpc_id": Field("vpc_id", Shape(str, is_input=True), required=True),
        "zones": Field("zones", Shape(dict, Shape(Zone)), required=True),
    }
    assert list(fields_of(Pool)) == ["tags", "owner", "types", "max", "capacity", "label", "vpc_id", "zones"]


@pytest.mark.parametrize(
    ("hint", "shape"),
    [
        (str, Shape(str)),
        (bool, Shape(bool)),
        (float, Shape(float)),
        (object, Shape(None)),
        (Zone, Shape(Zone)),
        (list[str], Shape(list, Shape(str))),
        (Sequence[Zone], Shape(list, Shape(Zone))),
        (dict[str, int], Shape(dict, Shape(int))),
        (Mapping[str, Mapping[str, int]], Shape(dict, Shape(dict, Shape(int)))),
        (Literal["a"], Shape(str, choices=("a",))),
        (Annotated[str, Default("x")], Shape(str)),
        (str | None, Shape(str)),
        (pulumi.Input[int], Shape(int, is_input=True)),
        (Mapping[str, pulumi.Input[str]], Shape(dict, Shape(str, is_input=True))),
        (pulumi.Input[Sequence[str]], Shape(list, Shape(str), is_input=True)),
    ],
    ids=str,
)
def test_a_shape_is_what_the_annotation_says(hint, shape):
    assert shape_of(hint) == shape


def test_records_are_found_in_lists_and_mappings():
    assert is_record(Shape(Zone))
    assert not is_record(Shape(dict, Shape(Zone)))
    assert not is_record(Shape(None))
    inside = [Shape(Zone), Shape(list, Shape(Zone)), Shape(dict, Shape(list, Shape(Zone)))]
    assert [record_in(shape) for shape in inside] == [Zone, Zone, Zone]
    assert [record_in(shape) for shape in (None, Shape(str), Shape(list, Shape(str)))] == [None, None, None]


def test_what_a_class_extends_nearest_first():
    assert list(typed_dict_bases(Sequel)) == [Sequel, Zone, Owned, Pool, Tagged]
    assert list(typed_dict_bases(Zone)) == [Zone]


def test_texts_are_those_under_the_fields_the_nearest_counts():
    assert docstrings_of(Pool) == {
        "tags": "Tags of everything.",
        "owner": "Who answers for it,\nby name.",
        "types": "Types, in order.",
        "max": "Most nodes.",
        "capacity": "How they are paid for.",
        "label": "Label.",
        "vpc_id": "The network.",
        "zones": "By id.",
    }
    assert docstrings_of(Owned)["owner"] == "Another owner."
    assert docstrings_of(Sequel)["name"] == "Name."
    assert docstrings_of(Zone) == {}


def test_pick_takes_the_keys_that_are_declared_and_given():
    values = {"name": "a", "subnets": ["s"], "more": 1}
    assert pick(Zone, values) == {"name": "a", "subnets": ["s"]}
    assert pick(Zone, {"more": 1}) == {}
    assert values == {"name": "a", "subnets": ["s"], "more": 1}


def test_the_configuration_of_a_cloud_is_read_whole():
    fields = fields_of(AwsConfig)
    assert fields["region"] == Field("region", Shape(str), required=True)
    assert fields["erase"].default == Default(False)
    assert [type(check) for check in fields["owner"].checks] == [Check]
    assert docstrings_of(AwsConfig).keys() == fields.keys()
