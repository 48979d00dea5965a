"""What happens to each resource, what is lost with it, and which of its properties change."""

import json
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest

import gpufleet.report
from gpufleet.report.changes import compare_previews, count_operations, resource_changes
from gpufleet.report.load_previews import read_preview
from gpufleet.report.model import Property, ResourceChange
from gpufleet.report.preview_json import parse_preview
from gpufleet.report.property_diff import changed_properties, parse_path
from gpufleet.report.text import loss_text
from tests.unit.report.written_previews import document, step, urn, written

HOLDINGS = Path(gpufleet.report.__file__).with_name("holdings.json")
SECRET = "kubernetes:core/v1:Secret"
BUCKET, FILES, NODES = "aws:s3/bucket:Bucket", "aws:efs/fileSystem:FileSystem", "aws:eks/nodeGroup:NodeGroup"


def change(one: dict[str, Any]) -> ResourceChange:
    (found,) = resource_changes(parse_preview(document(one), "p"))
    return found


LOSSES = {
    "files": (step("delete", FILES, "f", {}), "loses every file in the file system", True),
    "bucket": (
        step("delete", BUCKET, "b", {}),
        "loses the objects in the bucket; S3 refuses while objects are in it",
        True,
    ),
    "emptied bucket": (step("delete", BUCKET, "b", {"forceDestroy": True}), "loses the objects in the bucket", True),
    "protected": (
        step("delete", FILES, "f", {}, oldStates={"protect": True}),
        "loses every file in the file system; protected: the engine refuses to delete it",
        True,
    ),
    "retained": (
        step("delete", FILES, "f", {}, oldStates={"retainOnDelete": True}),
        "keeps every file in the file system in the cloud; retained: it stays in the cloud and leaves the stack",
        False,
    ),
    "nodes": (step("replace", NODES, "n", {}, {}), "its nodes are drained and end, and the jobs on them", False),
    "queue": (
        step("replace", "aws:batch/jobQueue:JobQueue", "q", {}, {}),
        "loses the jobs that wait in the queue; jobs of the queue that run are cancelled",
        True,
    ),
    "rotated secret": (step("replace", SECRET, "pull-secret", {"stringData": {}}, {"stringData": {}}), "", False),
    "deleted secret": (step("delete", SECRET, "pull-secret", {}), "loses the secret's values", True),
    "share of any API version": (
        step("delete", "azure-native:storage/v20240101:FileShare", "s", {}),
        "loses the files in the share",
        True,
    ),
    "nothing known": (step("delete", "aws:ec2/route:Route", "r", {}), "", False),
    "kept": (step("update", FILES, "f", {"a": 1}, {"a": 2}), "", False),
}


@pytest.mark.parametrize("name", LOSSES)
def test_what_is_lost(name: str) -> None:
    one, said, loses = LOSSES[name]
    found = change(one)
    assert (loss_text(found), found.loses_data) == (said, loses)


def test_replacements_and_deletions_come_first_and_components_not_at_all() -> None:
    steps = [
        step("same", BUCKET, "same", {}, {}),
        step("create", BUCKET, "new", None, {}),
        step("create", "gpufleet-aws:index:Network", "net", None, {}, newStates={"custom": False}),
        step("update", BUCKET, "other", {}, {}),
        step("delete", BUCKET, "gone", {}),
        step("create-replacement", BUCKET, "again", {}, {}),
        step("replace", BUCKET, "again", {}, {}, replaceReasons=["bucket"]),
        step("delete-replaced", BUCKET, "again", {}),
        step("refresh", BUCKET, "looked at", {}, {}),
    ]
    found = resource_changes(parse_preview(document(*steps), "p"))
    assert [(each.operation, each.name) for each in found] == [
        ("replace", "again"),
        ("delete", "gone"),
        ("update", "other"),
        ("create", "new"),
    ]
    assert count_operations(found) == {"replace": 1, "delete": 1, "update": 1, "create": 1}


def test_two_previews_compared() -> None:
    old = document(step("create", BUCKET, "a", None, {"x": 1}), step("create", BUCKET, "b", None, {}))
    new = document(step("create", BUCKET, "a", None, {"x": 2}), step("create", BUCKET, "c", None, {}))
    found = compare_previews(parse_preview(old, "old"), parse_preview(new, "new"))
    assert [(each.operation, each.name) for each in found] == [("delete", "b"), ("change", "a"), ("create", "c")]
    assert [(each.path, each.before, each.after) for each in found[1].properties] == [("x", "1", "2")]


UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
P = Property
DIFFS: dict[str, tuple[Any, Any, dict[str, str] | None, list[Property]]] = {
    "provider's diff": ({"a": {"b": [1]}}, {"a": {"b": [2]}}, {"a.b[0]": "update"}, [P("a.b[0]", "1", "2", False)]),
    "quoted": ({"l": {"x.y/z": "1"}}, {"l": {}}, {'l["x.y/z"]': "delete"}, [P('l["x.y/z"]', '"1"', None, False)]),
    "replaces": ({}, {"a": 1}, {"a": "add-replace"}, [P("a", None, "1", True)]),
    "unknown": ({"a": 1}, {"a": UNKNOWN}, {"a": "update"}, [P("a", "1", "(known after deployment)", False)]),
    "place in a set": (
        {"s": ["a", "b"]}, {"s": ["a", "c"]}, {"s[0]": "update", "s[1]": "update"},
        [P("s", '["a", "b"]', '["a", "c"]', False), P("s[1]", '"b"', '"c"', False)],
    ),
    "compared": (
        {"a": 1, "b": {"c": 1, "d": 2}}, {"b": {"c": 3, "d": 2}}, None,
        [P("a", "1", None, False), P("b.c", "1", "3", False)],
    ),
    "lists of other lengths": ({"a": [1]}, {"a": [1, 2]}, None, [P("a", "[1]", "[1, 2]", False)]),
    "nothing that shows": ({"a": 1}, {"a": 1}, None, []),
}  # fmt: skip


@pytest.mark.parametrize("name", DIFFS)
def test_properties(name: str) -> None:
    old, new, diff, wanted = DIFFS[name]
    detailed = {path: {"kind": kind} for path, kind in diff.items()} if diff is not None else None
    one = parse_preview(document(step("update", NODES, "n", old, new, detailedDiff=detailed)), "p").steps[0]
    assert list(changed_properties(one)) == wanted


def test_a_property_that_differs_without_a_diff() -> None:
    said = step("update", NODES, "n", {"a": 1}, {"a": 1}, diffReasons=["a"])
    assert changed_properties(parse_preview(document(said), "p").steps[0]) == [P("a", "1", "1", False)]


def test_a_long_value_is_cut() -> None:
    """At 200 characters, quotes included."""
    said = step("update", NODES, "n", {"a": "x" * 199}, {"a": "y" * 198})
    change = changed_properties(parse_preview(document(said), "p").steps[0])[0]
    assert change.before == f'"{"x" * 199}... (201 characters)'
    assert change.after == f'"{"y" * 198}"'


@pytest.mark.parametrize(
    ("path", "parts"),
    [("a", ("a",)), ("a.b[2].c", ("a", "b", 2, "c")), ('a["x.y"].z', ("a", "x.y", "z")), ('["q\\"r"]', ('q"r',))],
)
def test_paths_of_the_engine(path: str, parts: tuple[str | int, ...]) -> None:
    assert parse_path(path) == parts


def test_read_from_a_file_as_from_a_document(tmp_path: Path) -> None:
    said = document(step("delete", FILES, "f", {}, oldStates={"protect": True}))
    assert resource_changes(read_preview(written(tmp_path, said))) == resource_changes(parse_preview(said, "p"))
    assert resource_changes(parse_preview(said, "p"))[0].urn == urn(FILES, "f")


@pytest.mark.parametrize(("cloud", "package"), [("aws", "pulumi-aws"), ("azure-native", "pulumi-azure-native")])
def test_types_that_hold_something_are_those_of_the_providers(cloud: str, package: str) -> None:
    """Read from the list that each SDK begins with: no process imports two clouds."""
    known = Path(str(distribution(package).locate_file(f"{package.replace('-', '_')}/__init__.py"))).read_text()
    named = [kind for kind in json.loads(HOLDINGS.read_text()) if kind.startswith(f"{cloud}:")]
    assert named
    assert [kind for kind in named if f'"{kind}"' not in known] == []


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("aws:ec2/vpnConnection:VpnConnection", "the line is down; a new one has other addresses and keys"),
        ("azure-native:network/v20240101:VirtualNetworkGateway", "its lines are down; making one takes 20 to 45"),
        ("kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue", "workloads that wait in the queue are not admitted"),
    ],
)
def test_version_of_a_type_makes_no_difference(kind: str, says: str) -> None:
    found = change(step("delete", kind, "x", {}))
    assert loss_text(found).startswith(says)
    assert not found.loses_data
