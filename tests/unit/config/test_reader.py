"""Reading a configuration: values as its TypedDict declares them."""

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest

from gpufleet.config.reader import read_config
from gpufleet.config.stacks import KINDS
from gpufleet.typed_dicts import Field, fields_of, is_record, record_in

NETWORK = {"zones": ["use1-az1"]}
POOL = {"types": ["g5.8xlarge"], "max": 2, "zones": ["use1-az1"]}
LEGAL = {
    "aws:region": "us-east-1",
    "gpufleet:cloud": "aws",
    "gpufleet:owner": "team",
    "gpufleet:project": "training",
    "gpufleet:network": json.dumps(NETWORK),
    "gpufleet:pools": json.dumps({"trainers": POOL}),
}
ONPREM = {
    "gpufleet:cloud": "onprem",
    "gpufleet:owner": "team",
    "gpufleet:project": "training",
    "gpufleet:nfs": "10.0.0.5:/export/shared",
}


def test_legal_configuration_is_typed():
    config = read_config(
        LEGAL | {"gpufleet:expires_at": "2027-12-31 00:00:00 +0000 UTC", "gpufleet:erase": "true"}, "dev"
    )
    assert config["region"] == "us-east-1"
    assert config["erase"] is True
    assert config["expires_at"] == "2027-12-31"
    assert config["pools"] == {"trainers": POOL}


def test_keys_of_provider_and_engine_pass():
    config = read_config(LEGAL | {"aws:profile": "mine", "pulumi:tags": '{"a": "b"}'}, "dev")
    assert config["owner"] == "team"
    assert config["tags"] == {}


def test_text_that_looks_like_json_is_text():
    assert read_config(LEGAL | {"gpufleet:owner": "{team"}, "dev")["owner"] == "{team"


def test_what_is_not_given_is_left_out_or_has_its_default():
    config = read_config(LEGAL, "dev")
    assert {key: config[key] for key in ("tags", "quotas", "usage", "suppress", "erase", "files", "zone_names")} == {
        "tags": {},
        "quotas": [],
        "usage": {},
        "suppress": [],
        "erase": False,
        "files": {},
        "zone_names": {},
    }
    assert set(config) & {"purpose", "expires_at", "grace", "budget", "existing_cluster", "queue", "team"} == set()
    multinode = LEGAL | {"gpufleet:cloud": "aws-batch", "gpufleet:multinode": '{"pool": "trainers"}'}
    assert read_config(multinode, "dev")["multinode"] == {"pool": "trainers", "nodes": 2}


def test_null_is_not_given():
    network = json.dumps(NETWORK | {"nat": None})
    assert read_config(LEGAL | {"gpufleet:network": network}, "dev")["network"] == NETWORK


@pytest.mark.parametrize(
    ("given", "read"),
    [("4", 4), (4, 4), (4.0, 4), ("4.0", 4), ("-1", -1)],
    ids=["text", "whole", "4.0", "text 4.0", "-1"],
)
def test_whole_numbers(given, read):
    network = json.dumps(NETWORK | {"max_zones": given})
    found = read_config(LEGAL | {"gpufleet:network": network}, "dev")["network"]["max_zones"]
    assert (found, type(found)) == (read, int)


@pytest.mark.parametrize(("given", "read"), [("0.5", 0.5), (2, 2.0), ("2000", 2000.0), (1.25, 1.25)])
def test_numbers(given, read):
    budget = json.dumps({"usd_per_month": given, "emails": ["ml@example.com"]})
    found = read_config(LEGAL | {"gpufleet:budget": budget}, "dev")["budget"]["usd_per_month"]
    assert (found, type(found)) == (read, float)


@pytest.mark.parametrize(
    ("given", "read"), [("true", True), ("True", True), ("FALSE", False), (True, True), (False, False)]
)
def test_true_and_false(given, read):
    files = json.dumps({"access_point": given})
    assert read_config(LEGAL | {"gpufleet:files": files}, "dev")["files"]["access_point"] is read


def test_what_a_check_makes_of_a_value_is_read():
    kubeconfig = {"clusters": []}
    read = read_config(ONPREM | {"gpufleet:kubeconfig": json.dumps(kubeconfig)}, "lab")
    assert read["kubeconfig"] == json.dumps(kubeconfig)
    assert read_config(ONPREM | {"gpufleet:kubeconfig": "# a text"}, "lab")["kubeconfig"] == "# a text"


def test_what_packs_and_commands_read_is_typed():
    day = {"expires": "2999-01-31 00:00:00 +0000 UTC", "resource": "dev-*"}
    quotas = json.dumps([{"family": "P", "market": "spot", "limit": 192}])
    usage = json.dumps({"nat_gb": 20, "busy_nodes": {"dev-trainers": 1}})
    suppressed = [{"rule": "any-capacity-spot-choice", "reason": "one zone has them"} | day]
    more = {"gpufleet:suppress": json.dumps(suppressed), "gpufleet:quotas": quotas, "gpufleet:usage": usage}
    config = read_config(LEGAL | more, "dev")
    assert config["suppress"][0]["resource"] == "dev-*"
    assert config["quotas"] == [{"family": "P", "market": "spot", "limit": 192}]
    assert config["usage"] == {"nat_gb": 20.0, "busy_nodes": {"dev-trainers": 1}}


def test_reading_loads_no_cloud_but_that_of_the_environment():
    script = (
        "import sys\n"
        "from gpufleet.config.reader import read_config\n"
        "def clouds():\n"
        "    return sorted({name for name in sys.modules if name in ('pulumi_aws', 'pulumi_azure_native')})\n"
        "print(clouds(), [name for name in sys.modules if name.startswith(('gpufleet.aws', 'gpufleet.azure'))])\n"
        f"read_config({LEGAL!r}, 'dev')\n"
        "print(clouds())\n"
    )
    environment = {"PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.splitlines() == ["[] []", "['pulumi_aws']"]


def fields_in(declared: type) -> Iterator[Field]:
    """Every field of a configuration, those of inner keys too."""
    for field in fields_of(declared).values():
        yield field
        inner = record_in(field.shape)
        if inner is not None:
            yield from fields_in(inner)


@pytest.mark.parametrize("cloud", KINDS)
def test_defaults_are_what_reading_them_would_give(cloud):
    defaults = [field for field in fields_in(KINDS[cloud].config) if field.default is not None]
    assert defaults
    for field in defaults:
        if is_record(field.shape):
            # Otherwise a configuration without the key would lack what one with an empty key has.
            inner = fields_of(field.shape.kind).values()
            assert [each.name for each in inner if each.required or each.default is not None] == [], field.name
            assert field.default.value == {}
        else:
            assert type(field.default.value) is field.shape.kind, field.name
