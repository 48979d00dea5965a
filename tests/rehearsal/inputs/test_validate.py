"""What `problems.problems` lets pass and what it rejects, with whole messages."""

import copy
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from gpufleet_rehearsal.inputs import validate
from gpufleet_rehearsal.inputs.wire_values import UNKNOWN, Hidden, is_unknown, plain, shown, validated_value

HERE = Path(__file__).parent
GOOD: dict[str, dict[str, Any]] = yaml.load((HERE / "good.yaml").read_text(), yaml.CSafeLoader)
BAD: list[dict[str, Any]] = yaml.load((HERE / "bad.yaml").read_text(), yaml.CSafeLoader)

SECRET = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270"}
OUTPUT = {"4dabf18193072939515e22adb298388d": "d0e6a833031e9bbcd3f4e8bde6ca49a4"}
ASSET = {"4dabf18193072939515e22adb298388d": "c44067f5952c0a294b673a41bacd8c17", "text": "x"}


def lines(type_token: str, request: object) -> list[str]:
    return [problem.reason for problem in validate.problems(type_token, request)]  # type: ignore[arg-type]


def changed(type_token: str, sets: dict[str, Any], drops: list[str]) -> dict[str, Any]:
    """The good request of a type, with values at paths set or removed."""
    request = copy.deepcopy(GOOD[type_token])
    for path in [*sets, *drops]:
        *above, last = re.findall(r"[^.\[\]]+", path)
        place: Any = request
        for part in above:
            place = place[int(part)] if isinstance(place, list) else place[part]
        key = int(last) if isinstance(place, list) else last
        if path in sets:
            place[key] = sets[path]
        else:
            del place[key]
    return request


def test_every_type_has_a_good_request() -> None:
    assert GOOD.keys() == validate.types("aws").keys()


@pytest.mark.parametrize("type_token", sorted(GOOD))
def test_a_good_request_passes(type_token: str) -> None:
    assert lines(type_token, GOOD[type_token]) == []


@pytest.mark.parametrize("case", BAD, ids=[case["name"] for case in BAD])
def test_a_bad_request_is_refused_in_these_words(case: dict[str, Any]) -> None:
    request = changed(case["type"], case.get("set", {}), case.get("drop", []))
    assert lines(case["type"], request) == case["lines"]
    assert case["lines"]


def test_a_path_begins_its_line() -> None:
    for case in BAD:
        for problem in validate.problems(
            case["type"], changed(case["type"], case.get("set", {}), case.get("drop", []))
        ):
            assert problem.reason.startswith(problem.path)


def test_a_type_without_a_schema_names_the_nearest() -> None:
    assert lines("aws:eks/nodegroup:Nodegroup", {}) == [
        "aws:eks/nodegroup:Nodegroup: no input schema; did you mean aws:eks/nodeGroup:NodeGroup? "
        "run python -m gpufleet_rehearsal.inputs.sdk_schema"
    ]


def test_keys_of_the_provider_s_configuration() -> None:
    legal = {
        "region": "us-east-1",
        "skipMetadataApiCheck": "true",
        "endpoints": "[]",
        "version": "7.51.1",
        "__internal": {},
    }
    assert validate.config_problems("aws", legal) == []
    assert validate.config_problems("aws", {**legal, "regoin": "us-east-1", "zzz": 1}) == [
        ("regoin", "aws:regoin: no such key of the provider's configuration; did you mean region?"),
        ("zzz", "aws:zzz: no such key of the provider's configuration"),
    ]


@pytest.mark.parametrize("type_token", sorted(GOOD))
def test_what_is_not_known_yet_is_not_judged(type_token: str) -> None:
    everything = dict.fromkeys(validate.types("aws")[type_token]["properties"], UNKNOWN)
    assert lines(type_token, everything) == []
    assert lines(type_token, {**GOOD[type_token], **dict.fromkeys(GOOD[type_token], OUTPUT)}) == []


@pytest.mark.parametrize("type_token", sorted(GOOD))
def test_a_misspelt_name_is_refused_on_every_type(type_token: str) -> None:
    name = next(iter(GOOD[type_token]))
    request = {**GOOD[type_token], f"{name}X": GOOD[type_token][name]}
    assert lines(type_token, request) == [f"{name}X: no such property of {type_token}; did you mean {name}?"]


def test_the_bridge_coerces_between_strings_numbers_and_booleans() -> None:
    group = "aws:eks/nodeGroup:NodeGroup"
    assert lines(group, changed(group, {"scalingConfig.maxSize": "512", "scalingConfig.minSize": 0.0}, [])) == []
    assert lines(group, changed(group, {"launchTemplate.version": 3, "nodeRepairConfig.enabled": "true"}, [])) == []
    template = "aws:ec2/launchTemplate:LaunchTemplate"
    assert (
        lines(template, changed(template, {"ebsOptimized": True, "blockDeviceMappings[0].ebs.encrypted": 1}, [])) == []
    )


def test_nothing_is_made_of_the_engine_s_own_properties() -> None:
    assert lines("aws:ec2/vpc:Vpc", {"cidrBlock": "10.0.0.0/16", "__defaults": ["x"], "__meta": "{}"}) == []
    assert lines("aws:ec2/vpc:Vpc", {"cidrBlock": "10.0.0.0/16", "tags": {"__defaults": [], "a": "b"}}) == []


def test_null_is_absent() -> None:
    assert lines("aws:ec2/placementGroup:PlacementGroup", {"strategy": "cluster", "partitionCount": None}) == []


def test_an_empty_optional_string_is_absent() -> None:
    assert lines("aws:iam/role:Role", {**GOOD["aws:iam/role:Role"], "description": "", "permissionsBoundary": ""}) == []


def test_an_unknown_target_may_be_the_one() -> None:
    route = {"routeTableId": "rtb-1", "destinationCidrBlock": "0.0.0.0/0"}
    assert lines("aws:ec2/route:Route", {**route, "natGatewayId": UNKNOWN}) == []
    assert len(lines("aws:ec2/route:Route", route)) == 1
    assert lines("aws:ec2/route:Route", {**route, "gatewayId": UNKNOWN, "natGatewayId": UNKNOWN}) == []


def test_a_document_may_be_an_object() -> None:
    trust = {"Statement": [{"Effect": "Allow", "Principal": "*", "Action": "sts:AssumeRole"}]}
    assert lines("aws:iam/role:Role", {"assumeRolePolicy": trust}) == []


def test_a_secret_s_json_is_judged_and_not_shown() -> None:
    definition = "aws:batch/jobDefinition:JobDefinition"
    secret = {**SECRET, "value": '{"token": 1}'}
    assert lines(definition, {**GOOD[definition], "containerProperties": secret}) == [
        "containerProperties=[secret]: not what the call takes (BATCH RegisterJobDefinition)"
    ]


def test_values_out_of_their_wrappers() -> None:
    assert plain({**OUTPUT, "value": "x"}) == "x"
    assert plain({**OUTPUT}) == UNKNOWN
    assert plain({**SECRET, "value": {"a": ["b", UNKNOWN]}}) == {"a": [Hidden("b"), UNKNOWN]}
    assert shown({"a": {**SECRET, "value": "b"}, "c": UNKNOWN}) == '{"a": "[secret]", "c": "[unknown]"}'
    assert shown("x" * 100) == '"' + "x" * 76 + "..."
    assert is_unknown(ASSET)
    assert not is_unknown(None)
    assert validated_value(0)
    assert not validated_value(object())


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from([UNKNOWN, "", "-1", "a.b"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=8), inner, max_size=3)
        | inner.map(lambda value: {**SECRET, "value": value})
        | inner.map(lambda value: {**OUTPUT, "value": value})
    ),
    max_leaves=8,
)


@settings(deadline=None, max_examples=300)
@given(st.data())
def test_it_never_raises_and_never_names_a_lost_path(data: st.DataObject) -> None:
    type_token = data.draw(st.sampled_from(sorted(GOOD)))
    request = {**GOOD[type_token]}
    names = st.sampled_from(sorted(validate.types("aws")[type_token]["properties"])) | st.text(max_size=8)
    for name in data.draw(st.lists(names, max_size=4)):
        request[name] = data.draw(VALUES)
    for problem in validate.problems(type_token, request):
        assert problem.reason
        assert "\n" not in problem.reason.replace(problem.path, "")


def test_start_up_needs_no_sdk(capsys: pytest.CaptureFixture[str]) -> None:
    program = (
        "import time, sys; a = time.perf_counter();"
        "from gpufleet_rehearsal.inputs import validate; b = time.perf_counter();"
        "validate.types('aws'); c = time.perf_counter();"
        "print(f'import {1000 * (b - a):.0f} ms, load {1000 * (c - b):.0f} ms');"
        "sys.exit(bool({'pulumi', 'pulumi_aws', 'botocore', 'pydantic', 'yaml'} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=HERE.parents[2] / "rehearsal"
    )
    with capsys.disabled():
        print(f"\ninputs: {done.stdout.strip()}")
    assert done.returncode == 0, done.stdout + done.stderr
