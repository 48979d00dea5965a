"""YAML from outside: what it says, and what it refuses, with the line."""

from datetime import date
from pathlib import Path

import pytest

from gpufleet.documents.content import DocumentError
from gpufleet.documents.yaml import parse_yaml, parse_yaml_documents, read_yaml

BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(9)
)
MERGES = "a: &a {x: 1}\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)}\n  <<: [*{chr(97 + n)}, *{chr(97 + n)}]\n" for n in range(24)
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("\ufeffa: 1\n", {"a": 1}),
        ("a: 2027-01-31", {"a": date(2027, 1, 31)}),
        ("a: &x {b: 1}\nc: {<<: *x, d: *x}", {"a": {"b": 1}, "c": {"b": 1, "d": {"b": 1}}}),
        ('{"a": [1, 2.5, true, null, "é"]}', {"a": [1, 2.5, True, None, "é"]}),
    ],
)
def test_value(text: str, value: object) -> None:
    assert parse_yaml(text, "f") == value


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a: 1\nb: 2027-02-30\n", "line 2: 2027-02-30 is not a day that the calendar has"),
        ("a: [1", "line 1: is not YAML: did not find expected ',' or ']'"),
        ("a: 1\nb: 2\na: 3\n", "line 3: has the key a twice"),
        ("a: !!set {x}", "line 1: has the tag !!set, which is not read"),
        ("a: !!python/object/apply:os.system [true]", "line 1: has the tag !!python/object/apply:os.system, which is"),
        ("a: !!bool x", "line 1: x is not true or false"),
        ("a: !!timestamp x", "line 1: x is not a day that the calendar has"),
        ("a: .nan", "line 1: .nan is not a finite number"),
        ("a: " + "9" * 101, f"line 1: {'9' * 37}... is not a whole number"),
        ('a: "x\\0"', "line 1: has a NUL character"),
        ("a: &a [*a]", "line 1: has an alias inside of what it stands for"),
        ("--- 1\n--- 2\n", "has several documents"),
        ("[" * 101, "line 1: is nested more than 100 deep"),
        ("- " * 100_000, "line 1: is nested more than 100 deep"),
        (BOMB, "line 7: is more than 4 MiB with its aliases replaced"),
        (MERGES, "is more than 4 MiB with its aliases replaced"),
        ("x" * (2**20 + 1), "has more than 1 MiB"),
        (b"a: 1\nb: \xff", "line 2: is not UTF-8"),
        ("a\n\ud800", "line 2: has half a character of UTF-16"),
    ],
)
def test_refusal(text: str | bytes, fault: str) -> None:
    with pytest.raises(DocumentError) as error:
        parse_yaml(text, "f", "write another")
    line = str(error.value)
    assert line.startswith("f: ")
    assert fault in line
    assert line.endswith("; write another")
    assert "\n" not in line


def test_all_documents_of_a_manifest() -> None:
    assert parse_yaml_documents("a: 1\n---\n---\nb: 2\n", "f") == [{"a": 1}, {"b": 2}]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DocumentError) as error:
        read_yaml(tmp_path / "none.yaml", "give one")
    assert str(error.value) == f"{tmp_path / 'none.yaml'}: No such file or directory; give one"


def test_an_endless_file_is_not_read_to_its_end() -> None:
    with pytest.raises(DocumentError, match="has more than 1 MiB"):
        read_yaml(Path("/dev/zero"))
