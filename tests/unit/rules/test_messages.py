"""How values and suggestions read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpufleet.rules.messages import format_value, join_words, nearest, one_line, use_one_of


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("efa", "efa"),
        ("", "''"),
        ("two\nlines", "'two\\nlines'"),
        (None, "null"),
        (True, "true"),
        (2.5, "2.5"),
        (("use1-az1", "use1-az2"), "[use1-az1, use1-az2]"),
        ({"a": [1, None]}, "{a: [1, null]}"),
        (object(), "<object>"),
        (b"raw", "<bytes>"),
        ("x" * 160, "x" * 160),
        ("x" * 161, "x" * 157 + "..."),
    ],
)
def test_shown(value, text):
    assert format_value(value) == text


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda of: st.lists(of) | st.dictionaries(of.filter(lambda key: isinstance(key, str)), of),
    )
)
def test_shown_is_one_short_line(value):
    text = format_value(value)
    assert len(text) <= 160
    assert text.isprintable()


@pytest.mark.parametrize(
    ("words", "text"), [([], ""), (["a"], "a"), (["a", "b"], "a or b"), (["a", "b", "c"], "a, b or c")]
)
def test_listed(words, text):
    assert join_words(words) == text


def test_nearest_ignores_case_and_gives_up_on_the_far():
    assert nearest("ON_DEMAND", ["on-demand", "spot"]) == "on-demand"
    assert nearest("zebra", ["on-demand", "spot"]) is None


def test_use_one_of_many_names_an_example():
    legal = [f"word-{number:02}" for number in range(13)]
    assert use_one_of("zzz", legal) == "use one of the 13 known, for instance word-00"
    assert use_one_of("word-3", legal) == "did you mean word-03?"


@pytest.mark.parametrize(
    ("text", "line"), [("plain ü", "plain ü"), ("two\nlines", "two\\nlines"), ("\ud7fc", "\\ud7fc")]
)
def test_one_line_escapes_what_cannot_be_printed(text, line):
    assert one_line(text) == line
