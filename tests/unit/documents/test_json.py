"""JSON from outside: its shape, and what is refused, with the line or the key."""

from typing import NotRequired, TypedDict

import pytest

from gpufleet.documents.content import DocumentError
from gpufleet.documents.json import check_shape, parse_json


class Step(TypedDict):
    op: str
    count: NotRequired[int | None]


class Plan(TypedDict):
    steps: list[Step]


def test_value_of_a_shape() -> None:
    assert parse_json('\ufeff{"steps": [{"op": "same", "more": 1}]}', "f", shape=Plan) == {"steps": [{"op": "same"}]}
    assert parse_json("[1, 2.5, null]", "f") == [1, 2.5, None]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "line 1: is not JSON: it ends too early"),
        ('{"steps":\n[{"op": "a"},\n]}', "line 3: is not JSON: trailing comma in array"),
        ("NaN", "line 1: is not JSON: invalid character"),
        ('{"steps": [], "more": ' + "[" * 5000, "is nested too deep"),
        (b'{\n"a": "\xff"}', "line 2: is not UTF-8"),
        ("[]", "must be an object, not a list"),
        ("{}", "needs the key steps"),
        ('{"steps": [1]}', "steps[0]: must be an object, not a whole number"),
        ('{"steps": [{"op": null}]}', "steps[0].op: must be text, not null"),
        (
            '{"steps": [{"op": "a", "count": true}]}',
            "steps[0].count: must be a whole number or null, not true or false",
        ),
    ],
)
def test_refusal(text: str | bytes, fault: str) -> None:
    with pytest.raises(DocumentError) as error:
        parse_json(text, "f", "write another", shape=Plan)
    assert str(error.value) == f"f: {fault}; write another"


def test_the_line_of_a_file_with_a_document_in_each() -> None:
    with pytest.raises(DocumentError) as error:
        parse_json('{"op": 1}', "f", shape=Step, line=7)
    assert str(error.value) == "f: line 7: op: must be text, not a whole number"


def test_a_number_that_no_program_has() -> None:
    with pytest.raises(DocumentError, match=r"f: the document\[0\]: number out of range|integer value out of range"):
        parse_json("[" + "1" * 5000 + "]", "f")


def test_size() -> None:
    with pytest.raises(DocumentError, match="f: has more than 1 KiB"):
        parse_json("1" * 1025, "f", most=1024)


def test_shape_of_a_value_that_is_there_already() -> None:
    with pytest.raises(DocumentError, match=r"f: steps\[0\]: needs the key op"):
        check_shape({"steps": [{}]}, Plan, "f")


def test_what_a_document_holds_does_not_reach_the_terminal() -> None:
    error = DocumentError("f", "has the key \x1b[31m\n twice")
    assert str(error) == "f: has the key \\x1b[31m\\n twice"
