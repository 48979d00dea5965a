"""The path language, templates and zone names."""

import pytest

from gpufleet_rehearsal.cloud.scope import ResourceRequest
from gpufleet_rehearsal.table.paths import PathError, Scope, parse_path
from gpufleet_rehearsal.table.templates import fill, generated, parse_template
from gpufleet_rehearsal.table.zone_names import zone_id, zone_letter, zone_prefix

VIEW = {
    "name": "n",
    "nothing": "",
    "bar": "a|b|c",
    "kind": "network",
    "service": "spot.amazonaws.com",
    "a": {"b": [{"c": 1}, {"c": 2}, {"d": 3}]},
    "tags": {"x.y/z": "v"},
    "size": 2,
    "ratio": 0.5,
    "on": True,
    "text": "aGVsbG8=",
    "zone": "us-east-1b",
    "place": "East US 2",
    "version": "1.34.2",
    "range": "10.200.0.0/16",
    "json": '{"a": [{"b": 1}, {"b": 2}]}',
    "objects": "arn:aws:s3:::data/runs/*",
}


@pytest.fixture
def scope(toy):
    network = toy.create("toy:net/network:Network", "main", cidr="10.0.0.0/16", name="core")
    view = {**VIEW, "networkId": network.id, "networkName": "core", "networkArn": network.view["arn"]}
    return Scope(ResourceRequest("toy:net/subnet:Subnet", "sub-1", "logical", view, 3), toy.cloud.view)


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("name", ["n"]),
        ("missing", []),
        ("name.deeper", []),
        ("a.b[0].c", [1]),
        ("a.b[-1].d", [3]),
        ("a.b[7].c", []),
        ("a.b[*].c", [1, 2]),
        ("a[*][*].c", [1, 2]),
        ("name[*]", ["n"]),
        ('tags["x.y/z"]', ["v"]),
        ("$id", ["sub-1"]),
        ("$name", ["logical"]),
        ("$version", [3]),
        ("$region", ["us-east-1"]),
        ("$account", ["000000000000"]),
        ("$self.size", [2]),
        ("$old.size", []),
        ("networkId -> cidr", ["10.0.0.0/16"]),
        ("networkName -> cidr", ["10.0.0.0/16"]),
        ("networkArn -> cidr", ["10.0.0.0/16"]),
        ("networkId -> defaultGroupId -> networkId -> name", ["core"]),
        ("size -> cidr", []),
        ("text | text", ["hello"]),
        ("name | text", ["n"]),
        ("zone | zone-id", ["use1-az2"]),
        ("a.b | length", [3]),
        ("json.$json.a[*].b", [1, 2]),
        ("a.$json.b[0].c", [1]),
        ("name.$json.a", []),
        ("objects | bucket", ["data"]),
        ("name | bucket", ["n"]),
        ("zone | zone-id | zone-letter", ["b"]),
        ("place | location", ["eastus2"]),
        ("version | minor", [34]),
        ("version | oldest-minor", [31]),
        ("name | minor", []),
        ("name | oldest-minor", []),
        ("range | tenth", ["10.200.0.10"]),
        ("name | tenth", []),
        ("kind | load-balancer", ["net"]),
        ("name | load-balancer", ["app"]),
        ("service | service-role", ["AWSServiceRoleForEC2Spot"]),
        ("name | service-role", ["AWSServiceRoleForN"]),
        ("bar | after-bar", ["c"]),
        ("name | underscored", ["_n"]),
        ("nothing | underscored", [""]),
    ],
)
def test_path(scope, path, values):
    assert parse_path(path).values(scope) == values


def test_old_and_it(scope):
    seen = Scope(scope.here, scope.cloud, old={"size": 1}).with_item("x")
    assert parse_path("$old.size").values(seen) == [1]
    assert parse_path("$it").values(seen) == ["x"]


@pytest.mark.parametrize("path", ["", "a..b", "a[b]", "$nothing", "a -> ", "a | nothing", "a b", "[0"])
def test_unreadable_path(path):
    with pytest.raises(PathError, match="path"):
        parse_path(path)


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("plain", "plain"),
        ("{size}", 2),
        ("{on}", True),
        ("{a.b[*].c}", [1, 2]),
        ("{missing}", None),
        ("x-{missing}", None),
        ("x-{size}-{name}", "x-2-n"),
        ("{on} {ratio}", "true 0.5"),
        ("{{size}}", "{size}"),
        ({"k": ["{size}", "{missing}"], "gone": "{missing}"}, {"k": [2]}),
        (
            {"$each": "a.b[*].c", "$as": {"is": "c{$it}", "size": "{size}"}},
            {k: {"is": f"c{k}", "size": 2} for k in "12"},
        ),
        ({"$each": "missing[*]", "$as": "x"}, {}),
        ({"text": {"$base64": {"name": "{name}"}}}, {"text": "eyJuYW1lIjogIm4ifQ=="}),
        (7, 7),
    ],
)
def test_template(scope, template, value):
    assert fill(template, scope) == value


def test_template_with_an_unreadable_path():
    with pytest.raises(PathError):
        parse_template("x-{a..b}")


def test_generated_identifiers(scope):
    first = fill("id-{hex:17}-{hex:17}", scope, "out")
    _, one, two = str(first).split("-")
    assert one != two
    assert len(one) == 17
    assert set(one) <= set("0123456789abcdef")
    assert fill("id-{hex:17}-{hex:17}", scope, "out") == first
    assert fill("id-{hex:17}-{hex:17}", scope, "other") != first
    assert generated("digits", 12, 1).isdigit()
    assert generated("letters", 32, 1) == generated("letters", 32, 1)


@pytest.mark.parametrize(
    ("region", "prefix"),
    [
        ("us-east-1", "use1"),
        ("us-west-2", "usw2"),
        ("ap-northeast-2", "apne2"),
        ("us-gov-west-1", "usgw1"),
        ("ca-central-1", "cac1"),
        ("eu-north-1", "eun1"),
    ],
)
def test_zone_names(region, prefix):
    assert zone_prefix(region) == prefix
    assert zone_id(f"{region}c") == f"{prefix}-az3"
    assert zone_id(f"{prefix}-az3") == f"{prefix}-az3"
    assert zone_letter(f"{prefix}-az3") == "c"


@pytest.mark.parametrize(
    ("text", "value", "found"),
    [
        ("x | parent", "/aws/eks/training/cluster", ["training"]),
        ("x | parent", "plain", []),
        ("x | keys", {"a.b/c": "1", "d": "2"}, ["a.b/c\nd"]),
        ("x | keys", "plain", []),
    ],
)
def test_filters_of_names_and_keys(scope, text, value, found):
    here = ResourceRequest("toy:run/pool:Pool", "p", "p", {"x": value})
    assert parse_path(text).values(Scope(here, scope.cloud)) == found
