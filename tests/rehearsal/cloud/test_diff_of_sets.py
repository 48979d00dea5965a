"""Lists that the cloud keeps in no order: the engine also sends the keys of what is in them in any."""

import pytest

from gpufleet_rehearsal.cloud.diff import _compare


@pytest.mark.parametrize(
    ("old", "new", "paths"),
    [
        ([{"a": 1, "b": 2}, {"a": 1, "b": 3}], [{"b": 3, "a": 1}, {"b": 2, "a": 1}], []),
        ([{"a": {"x": 1, "y": [2]}}, {"a": 1}], [{"a": 1}, {"a": {"y": [2], "x": 1}}], []),
        ([{"a": 1, "b": 2}], [{"b": 2, "a": 2}], ["n[0].a"]),
        (["b", "a"], ["a", "b"], []),
    ],
)
def test_order_is_no_change(old, new, paths):
    assert [path for path, _, _ in _compare({"n": old}, {"n": new}, "", "", ["n"])] == paths
