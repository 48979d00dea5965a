"""What holds for every rule: found by walking the package, so that a new rule cannot be forgotten."""

import importlib.util
import inspect
import re
from pathlib import Path

import pytest

import gpufleet.rules
from gpufleet.rules import (
    Rule,
    Severity,
    all_rules,
    judge_cluster,
    judge_network,
    judge_pool,
    judge_registry,
    judge_shared_files,
    rules_table_markdown,
)
from gpufleet.rules.address_plan import judge_address_plan
from gpufleet.rules.cluster_access import judge_cluster_access
from gpufleet.rules.existing_network import judge_existing_network
from gpufleet.rules.node_image import judge_node_image
from gpufleet.rules.registry_host import judge_registry_host
from gpufleet.rules.subnet import judge_subnets
from gpufleet.rules.system_nodes import judge_system_nodes

RULES = {rule.name: rule for rule in all_rules()}
HERE = Path(__file__).parent


def cases_of(rule: Rule):
    """The rows of the case table beside this file that mirrors the rule's module."""
    path = HERE / f"test_{rule.judge.__module__.rpartition('.')[2]}.py"
    assert path.exists(), f"{path.name} is missing: it must hold the cases of {rule.name}"
    spec = importlib.util.spec_from_file_location(f"cases_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.CASES.get(rule, [])


def test_the_walk_finds_the_rules():
    assert len(RULES) > 60
    assert "any-placement-one-zone" in RULES


@pytest.mark.parametrize("name", RULES)
def test_every_rule_has_cases_of_each_outcome(name):
    statuses = {status for _, _, status, _ in cases_of(RULES[name])}
    wanted = {"pass", "fail"}
    if "unverified(" in inspect.getsource(RULES[name].judge):
        wanted.add("unverified")
    assert statuses == wanted


@pytest.mark.parametrize("name", RULES)
def test_every_rule_states_itself_and_its_source(name):
    rule = RULES[name]
    assert re.fullmatch(r"(any|aws|azure)(-[a-z0-9]+){2,}", name)
    assert rule.sentence.endswith(".")
    assert rule.source
    assert isinstance(rule.severity, Severity)


@pytest.mark.parametrize("name", RULES)
def test_every_rule_takes_few_plain_keyword_arguments(name):
    parameters = inspect.signature(RULES[name].judge).parameters.values()
    assert 1 <= len(parameters) <= 6
    assert {parameter.kind for parameter in parameters} == {inspect.Parameter.KEYWORD_ONLY}
    assert "pulumi" not in str(inspect.signature(RULES[name].judge))


def test_every_rule_is_called_by_a_door():
    """The doors, on arguments that bring every rule into play, give a finding of each rule."""
    region, zones = "us-east-1", ["use1-az1"]
    cluster = {
        "region": region,
        "zones": zones,
        "version": "1.34",
        "public_access_cidrs": ["203.0.113.0/24"],
        "log_types": ["api"],
        "cluster_name": "train",
        "admins": {"ops": "arn:aws:iam::123456789012:role/ops"},
        "addon_versions": {"coredns": "v1"},
        "support": "STANDARD",
    }
    files = {"region": region, "zones": zones, "tags": {"expires-at": "2027-01-31"}}
    registry = {
        "region": region,
        "repositories": ["llm"],
        "pull_through": {"gh": "ghcr.io"},
        "credentials": {"gh": "arn:..."},
    }
    network = {"region": region, "zones": zones, "nat": "none", "interface_endpoints": []}
    findings = [
        *judge_pool({"types": ["g5.8xlarge"], "max": 1, "zones": zones}, region),
        *judge_network(network),
        *judge_address_plan(network, "10.0.0.0/16", 3),
        *judge_existing_network(network),
        *judge_cluster(cluster),
        *judge_cluster_access(cluster, ["coredns"]),
        *judge_system_nodes(cluster, (["m7i.large"], 2, 3, 50)),
        *judge_shared_files(files),
        *judge_subnets({"zones": zones, "subnet_ids": {"use1-az1": "subnet-1"}}),
        *judge_node_image({}),
        *judge_registry(registry),
        *judge_registry_host(registry),
    ]
    assert sorted(RULES) == sorted({finding.rule for finding in findings})


def test_rules_import_no_pulumi_and_no_sdk():
    folder = Path(gpufleet.rules.__file__).parent
    for path in [*folder.glob("*.py"), *(folder.parent / "catalog").glob("*.py")]:
        assert not re.search(r"^\s*(from|import) (pulumi|boto|azure|moto)", path.read_text(), re.M), path.name


def test_the_table_lists_every_rule_once_in_one_row():
    rows = rules_table_markdown().splitlines()[2:]
    assert [re.match(r'\| <a id="([^"]+)"', row)[1] for row in rows] == sorted(RULES)
    assert all(len(re.split(r"(?<!\\)\|", row)) == 6 for row in rows)
