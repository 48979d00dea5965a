"""Assumptions: what they read, and one line for each fault."""

import re
from pathlib import Path

import pytest

from gpufleet.cost.usage_assumptions import (
    AMOUNTS,
    UsageArgs,
    UsageAssumptions,
    UsageError,
    read_usage,
    read_usage_file,
)
from gpufleet.documents.content import DocumentError


def test_every_key_has_a_default_and_words() -> None:
    assert set(UsageArgs.__annotations__) == set(UsageAssumptions().as_args()) == {*AMOUNTS, "busy_nodes"}


def test_docstrings_say_the_defaults() -> None:
    text = Path(read_usage.__code__.co_filename).read_text().split("class UsageError")[0]
    said = dict(re.findall(r'    (\w+): NotRequired\[.+\]\n    """.*?Default (\d+)', text))
    defaults = {
        key: value for key, value in UsageAssumptions().as_args().items() if key != "busy_nodes" and value is not None
    }
    assert {key: float(value) for key, value in said.items()} == defaults


def test_nothing_is_the_defaults() -> None:
    assert read_usage(None, "usage") == read_usage({}, "usage") == UsageAssumptions()


def test_given_keys_replace_defaults() -> None:
    found = read_usage({"nat_gb": 5, "busy_hours": 730, "busy_nodes": {"aws-dev-*": 2.0}, "logs_gb": None}, "usage")
    assert (found.nat_gb, found.busy_hours, found.logs_gb) == (5, 730, 20)
    assert found.nodes_of("aws-dev-trainers", 0) == 2
    assert found.nodes_of("aws-prod-trainers", 1) == 1


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ([], "usage=[]: must be a mapping; write keys under it, such as nat_gb: 500 [cost-usage]"),
        ("500", "usage=500: must be a mapping; write keys under it, such as nat_gb: 500 [cost-usage]"),
        ({"nat_gbs": 5}, "usage.nat_gbs: unknown key; did you mean nat_gb? [cost-usage]"),
        ({"nat_gb": "5"}, "usage.nat_gb=5: must be a number of GB, 0 or more [cost-usage]"),
        ({"nat_gb": True}, "usage.nat_gb=true: must be a number of GB, 0 or more [cost-usage]"),
        ({"files_gib": -0.1}, "usage.files_gib=-0.1: must be a number of GiB, 0 or more [cost-usage]"),
        ({"logs_gb": float("nan")}, "usage.logs_gb=nan: must be a number of GB, 0 or more [cost-usage]"),
        ({"logs_gb": float("inf")}, "usage.logs_gb=inf: must be a number of GB, 0 or more [cost-usage]"),
        ({"busy_hours": 730.1}, "usage.busy_hours=730.1: must be 0 to 730 hours [cost-usage]"),
        ({"busy_nodes": 2}, "usage.busy_nodes=2: must be a mapping; write {<pool>: <nodes>} [cost-usage]"),
        (
            {"busy_nodes": {"a": 1.5}},
            "usage.busy_nodes.a=1.5: must be a whole number, 0 or more [cost-usage]",
        ),
    ],
)
def test_fault_is_one_line(values: object, line: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_usage(values, "usage")
    assert str(caught.value) == line


def test_all_faults_at_once() -> None:
    with pytest.raises(UsageError) as caught:
        read_usage({"nat_gb": -1, "xyzzy": 1}, "gpufleet:usage")
    assert [line.split(":")[1].split("=")[0] for line in str(caught.value).splitlines()] == [
        "usage.nat_gb",
        "usage.xyzzy",
    ]


def test_file(tmp_path: Path) -> None:
    file = tmp_path / "usage.yaml"
    file.write_text("nat_gb: 0\nbusy_nodes: {trainers: 4}\n")
    assert read_usage_file(file) == UsageAssumptions(nat_gb=0, busy_nodes=(("trainers", 4),))


@pytest.mark.parametrize(
    ("content", "part"), [(b"a: [", "not YAML"), (b"\xff\xfe\x00", "not UTF-8"), (None, "No such")]
)
def test_bad_file_is_one_line(tmp_path: Path, content: bytes | None, part: str) -> None:
    file = tmp_path / "usage.yaml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(DocumentError, match=part) as caught:
        read_usage_file(file)
    assert str(caught.value).count("\n") == 0
