"""The generated schema: it is what the SDK, botocore and aws/calls give, and no property slips through."""

import json
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from gpufleet_rehearsal.inputs import aws_calls, call_table, formats, rules, sdk_schema, sdk_shapes, validate
from gpufleet_rehearsal.inputs.call_table import CallRow

REHEARSAL = Path(__file__).parents[3] / "rehearsal"


def shapes(properties: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every shape of a type, with its path."""
    for name, shape in properties.items():
        path = f"{above}.{name}".lstrip(".")
        yield path, shape
        inner = shape.get("items", shape)
        if "items" in shape:
            yield path, inner
        yield from shapes(inner.get("properties", {}), path)


CLOUDS = sorted(sdk_schema.MODELS)
EVERY_TYPE = [(token, one) for cloud in CLOUDS for token, one in validate.types(cloud).items()]
EVERY_SHAPE = [(token, path, shape) for token, one in EVERY_TYPE for path, shape in shapes(one["properties"])]
EVERY_RULE = [(token, rule) for token, one in EVERY_TYPE for rule in one.get("rules", [])]


def test_the_committed_file_is_what_the_generator_gives() -> None:
    assert sdk_schema.generate("aws") == validate.schema_file("aws").read_text(), (
        "run python -m gpufleet_rehearsal.inputs.sdk_schema"
    )


def test_check_says_so(tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert sdk_schema.main(["--check", "aws"]) == 0
    other = tmp_path / "schema.json"
    other.write_text("{}")
    monkeypatch.setattr(sdk_schema, "table_types", lambda cloud: set())
    monkeypatch.setattr(sdk_schema, "schema_file", lambda cloud: other)
    assert sdk_schema.main(["--check", "aws"]) == 1
    assert "schema.json: not what the SDK and aws/calls give" in capsys.readouterr().err


def test_every_type_of_the_table_has_a_row() -> None:
    assert sdk_schema.table_types("aws") <= call_table.call_table("aws").types.keys()
    assert len(sdk_schema.table_types("aws")) > 40


@pytest.mark.parametrize("token", sorted(call_table.call_table("aws").types))
def test_every_property_is_matched_or_listed_with_a_reason(token: str) -> None:
    row = call_table.call_table("aws").types[token]
    found = aws_calls.merge(row, sdk_shapes.inputs_of(token))
    assert found.loose == []
    assert found.unused == set()
    assert all(len(reason) > 10 for reason in row.local.values())


@pytest.mark.parametrize("token", sorted(call_table.call_table("aws").types))
def test_every_call_of_a_row_exists(token: str) -> None:
    for spelt in call_table.call_table("aws").types[token].calls:
        assert aws_calls.find_call(spelt).structure.type_name == "structure"


def test_a_call_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(KeyError, match="no operation CreateNodeGroup"):
        aws_calls.find_call("eks:CreateNodeGroup")


def test_a_property_that_slips_is_named() -> None:
    row = CallRow(
        calls=["eks:CreateNodegroup"],
        rename={"nodeRoleArn": "nodeRole", "nosuch": "x"},
        local={"gone": "it is not there"},
    )
    found = aws_calls.merge(row, sdk_shapes.inputs_of("aws:eks/nodeGroup:NodeGroup"))
    assert found.loose == [
        "forceUpdateVersion",
        "nodeGroupNamePrefix",
        "remoteAccess.sourceSecurityGroupIds",
        "subnetIds",
    ]
    assert found.unused == {"nosuch", "gone"}


def test_a_shape_that_does_not_fit_is_named() -> None:
    row = CallRow(calls=["efs:CreateAccessPoint"], rename={"posixUser": "FileSystemId", "fileSystemId": "PosixUser"})
    found = aws_calls.merge(row, sdk_shapes.inputs_of("aws:efs/accessPoint:AccessPoint"))
    assert found.loose == [
        "fileSystemId: string against structure PosixUser",
        "posixUser: object against string FileSystemId",
    ]


@pytest.mark.parametrize(
    ("token", "words"),
    [
        ("aws:eks/nodes:NodeGroup", "registers another type token"),
        ("aws:eks/nodeGroup:Nodegroup", "no such class"),
        ("aws:nosuch/x:X", "no such class"),
        ("eks.NodeGroup", "not of the form"),
    ],
)
def test_a_type_that_the_sdk_does_not_have(token: str, words: str) -> None:
    with pytest.raises(sdk_shapes.UnknownSdkType, match=words):
        sdk_shapes.inputs_of(token)


def test_what_the_shapes_know() -> None:
    group = validate.types("aws")["aws:eks/nodeGroup:NodeGroup"]["properties"]
    assert group["scalingConfig"]["properties"]["minSize"] == {
        "call": "EKS CreateNodegroup",
        "min": 0,
        "required": True,
        "type": "integer",
    }
    assert group["taints"]["items"]["properties"]["effect"]["enum"] == [
        "NO_SCHEDULE",
        "NO_EXECUTE",
        "PREFER_NO_SCHEDULE",
    ]
    template = validate.types("aws")["aws:ec2/launchTemplate:LaunchTemplate"]["properties"]
    assert template["ebsOptimized"] == {"call": "EC2 CreateLaunchTemplate", "form": "boolean", "type": "string"}
    assert validate.types("aws")["aws:iam/role:Role"]["properties"]["assumeRolePolicy"]["type"] == "document"
    assert validate.types("aws")["aws:eks/cluster:Cluster"]["outputs"]["identities"] == [
        {"oidcs": [{"issuer": "string"}]}
    ]
    # Of an enum or an asset the SDK has a class, too.
    group = validate.types("aws")["aws:autoscaling/group:Group"]
    assert group["properties"]["enabledMetrics"]["items"]["type"] == "string"
    assert (group["outputs"]["enabledMetrics"], group["outputs"]["metricsGranularity"]) == (["string"], "string")
    script = validate.types("aws")["aws:s3/bucketObjectv2:BucketObjectv2"]
    assert (script["properties"]["source"]["type"], script["outputs"]["source"]) == ("asset", "any")
    # A nested type has the name that the resource's own arguments would have.
    assert "versioningConfiguration" in validate.types("aws")["aws:s3/bucketVersioning:BucketVersioning"]["properties"]


def test_an_open_enum_refuses_nothing_new() -> None:
    request = {
        "availabilityZone": "us-east-1a",
        "instanceCount": 1,
        "instancePlatform": "Linux/UNIX",
        "instanceType": "p99.48xlarge",
    }
    assert validate.problems("aws:ec2/capacityReservation:CapacityReservation", request) == []
    assert all("p5.48xlarge" not in shape.get("enum", ()) for _, _, shape in EVERY_SHAPE)
    assert all(len(why) > 10 for why in call_table.call_table("aws").open_enums.values())
    assert all(len(fix["why"]) > 10 for fix in call_table.call_table("aws").corrections.values())


def test_every_pattern_compiles_and_every_form_exists() -> None:
    patterns = [shape["pattern"] for _, _, shape in EVERY_SHAPE if "pattern" in shape]
    assert len(patterns) > 40
    for pattern in patterns:
        re.compile(pattern)
    assert {shape["form"] for _, _, shape in EVERY_SHAPE if "form" in shape} <= formats.FORMATS.keys()


def test_words_stand_for_a_pattern() -> None:
    said = {shape["says"] for _, _, shape in EVERY_SHAPE if "says" in shape}
    assert said == {words for cloud in CLOUDS for words in call_table.call_table(cloud).words.values()}


def test_java_s_patterns_as_python_s() -> None:
    unicode = re.compile(aws_calls.python_pattern(r"[\p{L}\p{Z}\p{N}_.:/=+\-@]+"), re.ASCII)
    assert unicode.fullmatch("Größe 1_a")
    assert not unicode.fullmatch("a|b")
    surrogates = aws_calls.python_pattern(r"[\u0020-\uD7FF\uE000-\uFFFD\uD800\uDC00-\uDBFF\uDFFF]*")
    assert re.fullmatch(surrogates, "a\U0001f600")
    with pytest.raises(ValueError, match="no Python pattern"):
        aws_calls.python_pattern("[z-a]")


def test_no_pattern_takes_for_ever() -> None:
    for _, _, shape in EVERY_SHAPE:
        if "pattern" in shape:
            for text in ("a" * 200 + "!", "a-" * 100 + "!", "/a" * 100 + "\n", "_" * 200 + "!"):
                began = time.process_time()
                re.fullmatch(shape["pattern"], text, re.ASCII)
                assert time.process_time() - began < 10, shape["pattern"]


def test_a_constraint_names_its_call() -> None:
    for token, path, shape in EVERY_SHAPE:
        # The enums of Azure's SDK stand where no model knows the property.
        if shape.keys() & {"pattern", "min", "max", "form", *(("enum",) if token.startswith("aws:") else ())}:
            assert shape.get("call"), (token, path)


def test_every_demand_and_form_is_used() -> None:
    used = {word for _, rule in EVERY_RULE for word in rule if word in rules.DEMANDS}
    assert used == rules.DEMANDS.keys()
    known = {form for _, rule in EVERY_RULE for form in rule.get("form", {}).values()}
    known |= {shape["form"] for _, _, shape in EVERY_SHAPE if "form" in shape} | set(aws_calls.NUMBERS.values())
    assert known == formats.FORMATS.keys()


def test_every_rule_has_a_source() -> None:
    assert len(EVERY_RULE) > 150
    for token, rule in EVERY_RULE:
        assert len(rule["source"]) > 15, (token, rule)
        assert rule["evidence"] in ("observed", "documented", "assumed"), (token, rule)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"one_of": {"amiTyp": ["x"]}}, "rule: amiTyp: no such property"),
        ({"at": "taints", "needs": ["effect"]}, "rule: taints.effect: no such property"),
        ({"at": "taints[*]", "needs": ["effects"]}, "rule: taints[*].effects: no such property"),
        ({"requires": {"amiType": ["nosuch"]}}, "rule: nosuch: no such property"),
        ({"needs": ["amiType"], "where": {"nosuch": 1}}, "rule: nosuch: no such property"),
        ({"form": {"amiType": "nosuch"}}, "rule: nosuch: no such form"),
    ],
)
def test_a_rule_that_does_not_fit_is_named(rule: dict[str, Any], words: str) -> None:
    properties = sdk_shapes.inputs_of("aws:eks/nodeGroup:NodeGroup")
    proof = {"source": "somewhere or other", "evidence": "documented"}
    assert list(sdk_schema.rule_faults({**rule, **proof}, properties)) == [words]


def test_a_rule_of_unknown_words_is_named() -> None:
    properties = sdk_shapes.inputs_of("aws:eks/nodeGroup:NodeGroup")
    for rule in ({"nosuch": ["a"]}, {"needs": ["amiType"], "lacks": ["amiType"]}, {"needs": ["amiType"], "when": {}}):
        assert "one demand of" in next(sdk_schema.rule_faults(rule, properties))
    assert "needs a source" in next(sdk_schema.rule_faults({"needs": ["amiType"]}, properties))


def test_a_fault_of_the_data_is_one_line_and_no_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lacking = call_table.CallTable(types={"aws:eks/addon:Addon": CallRow(calls=["eks:CreateAddon"])})
    monkeypatch.setattr(aws_calls, "call_table", lambda cloud: lacking)
    monkeypatch.setattr(call_table, "call_table", lambda cloud: lacking)
    monkeypatch.setattr(sdk_schema, "table_types", lambda cloud: {"aws:eks/addon:Addon", "aws:eks/cluster:Cluster"})
    before = validate.schema_file("aws").read_text()
    assert sdk_schema.main(["aws"]) == 1
    said = capsys.readouterr().err
    assert "aws:eks/cluster:Cluster: in the table, but without a row in aws/calls" in said
    assert "aws:eks/addon:Addon: preserve: neither a member of eks:CreateAddon nor listed in local" in said
    assert validate.schema_file("aws").read_text() == before


def test_the_file_is_one_line_per_type() -> None:
    text = validate.schema_file("aws").read_text()
    assert len(text.splitlines()) == len(validate.types("aws")) + 4
    assert json.loads(text)["made_from"].keys() == {"botocore", "pulumi_aws"}
