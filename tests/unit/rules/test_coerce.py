"""Reading plain values: another kind reads as the default, and never raises."""

import pytest

from gpufleet.rules.coerce import flag, is_texts, is_whole, mapping, text, texts, whole

OUTPUT = object()


@pytest.mark.parametrize(
    ("value", "read"), [(2, 2), (2.0, 2), (2.5, 7), (True, 7), ("2", 7), (float("inf"), 7), (OUTPUT, 7), (None, 7)]
)
def test_whole(value, read):
    assert whole({"n": value}, "n", 7) == read
    assert is_whole(value) is (read == 2)


@pytest.mark.parametrize(
    ("value", "read", "pure"),
    [
        (["a", "b"], ("a", "b"), True),
        (("a",), ("a",), True),
        ([], (), True),
        (["a", 1, OUTPUT], ("a",), False),
        ("ab", (), False),
        (b"ab", (), False),
        (OUTPUT, (), False),
    ],
)
def test_texts(value, read, pure):
    assert texts({"n": value}, "n") == read
    assert is_texts(value) is pure


def test_text_flag_and_mapping():
    args = {"text": "a", "flag": False, "mapping": {"a": OUTPUT, 1: "b"}}
    assert (text(args, "text", "z"), text(args, "flag", "z"), text(args, "none")) == ("a", "z", "")
    assert (flag(args, "flag", True), flag(args, "text", True), flag(args, "none", True)) == (False, True, True)
    assert (mapping(args, "mapping"), mapping(args, "text")) == ({"a": OUTPUT}, {})
