"""The JSON schema of an environment's file: it says what the reader says."""

import copy
import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from gpufleet.config.reader import ConfigError, read_config
from gpufleet.config.schema import FILE, environment_schema
from gpufleet.config.stacks import KINDS
from gpufleet.documents.yaml import read_yaml
from gpufleet.rules import validate_batch_environment, validate_batch_queue, validate_pool
from gpufleet.rules.aws.data_sync import validate_data_sync
from gpufleet.rules.aws.hybrid_credentials import validate_hybrid_nodes
from gpufleet.rules.aws.managed_prometheus import validate_managed_prometheus
from gpufleet.rules.aws.subnet_plan import validate_subnet_plan
from gpufleet.rules.aws.training_job import validate_training_job
from gpufleet.rules.azure.batch_pool import validate_azure_batch_pool
from gpufleet.rules.azure.budget import validate_azure_budget
from gpufleet.rules.azure.nfs_share import validate_nfs_share
from gpufleet.rules.azure.storage_files import validate_azure_files
from gpufleet.rules.budget import validate_budget
from gpufleet.rules.kubernetes.device_plugins import validate_monitoring
from gpufleet.rules.kubernetes.node_health import validate_node_health
from gpufleet.rules.rule import Status
from gpufleet.typed_dicts import fields_of, is_record

ROOT = Path(__file__).parents[3]
CONFIG = ROOT / "stacks" / "config"
FILES = sorted(CONFIG.glob("Pulumi.*.yaml"))
SCHEMA = environment_schema()
VALIDATOR = Draft7Validator(SCHEMA)


def content(file: Path) -> dict:
    """A file as an editor reads it: YAML 1.2 has no days, so that they are texts."""
    return json.loads(json.dumps(read_yaml(file), default=date.isoformat))


def schema_refuses(environment: object) -> bool:
    return not VALIDATOR.is_valid(environment)


def reader_refuses(environment: dict) -> bool:
    """Whether the reader does, of what the engine makes of the file."""
    config = {key: each if isinstance(each, str) else json.dumps(each) for key, each in environment["config"].items()}
    if config.get("gpufleet:cloud") == "onprem":
        config.setdefault("gpufleet:kubeconfig", "text")  # of a command, or of a rehearsal
    try:
        read_config(config, "dev")
    except ConfigError:
        return True
    return False


def at(tree: dict, path: tuple) -> dict:
    for step in path:
        tree = tree[step]
    return tree


def mappings(tree: object, path: tuple = ()) -> Iterator[tuple]:
    """The path of every mapping in a tree, its own first."""
    if isinstance(tree, dict):
        yield path
    for key, each in tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ():
        yield from mappings(each, (*path, key))


def changed(environment: dict) -> Iterator[tuple[str, dict]]:
    """The environment with one key more, one misspelt and one left out, at each place in turn."""
    for path in mappings(environment["config"], ("config",)):
        made = copy.deepcopy(environment)
        at(made, path)["gpufleet:none" if path == ("config",) else "none"] = "x"
        yield f"{path}: one more", made
        for key in at(environment, path):
            made = copy.deepcopy(environment)
            within = at(made, path)
            within[f"{key}x"] = within.pop(key)
            yield f"{path}: {key} misspelt", made
            del within[f"{key}x"]
            yield f"{path}: {key} left out", made


def schema_keys(definition: dict, prefix: str = "") -> Iterator[str]:
    """Every key as `walk` names it."""
    definition = definition.get("anyOf", [definition])[0]
    named = definition.get("$ref", "").rpartition("/")[2]
    if named in ("text", "encrypted"):
        return
    definition = SCHEMA["definitions"].get(named, definition)
    for key, each in definition.get("properties", {}).items():
        yield f"{prefix}{key}"
        yield from schema_keys(each, f"{prefix}{key}.")
    if isinstance(more := definition.get("additionalProperties"), dict):
        yield from schema_keys(more, f"{prefix}<name>.")
    if "items" in definition:
        yield from schema_keys(definition["items"], f"{prefix.removesuffix('.')}[].")


def declared_keys(declared: type, prefix: str = "") -> Iterator[str]:
    """The same, of the classes that the reader reads by."""
    for name, field in fields_of(declared).items():
        yield f"{prefix}{name}"
        step, shape = "", field.shape
        while shape is not None and shape.kind in (list, dict):
            step, shape = step + ("[]" if shape.kind is list else ".<name>"), shape.item
        if shape is not None and is_record(shape):
            yield from declared_keys(shape.kind, f"{prefix}{name}{step}.")


def test_it_is_a_schema_of_draft_7():
    Draft7Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "http://json-schema.org/draft-07/schema#"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_environment_of_ours_names_it_and_is_valid(file):
    first = file.read_text(encoding="utf-8").partition("\n")[0]
    named = first.removeprefix("# yaml-language-server: $schema=")
    assert named != first
    assert (file.parent / named).resolve() == ROOT / "components" / "gpufleet" / "config" / FILE
    assert [error.message for error in VALIDATOR.iter_errors(content(file))] == []
    assert not reader_refuses(content(file))


@pytest.mark.parametrize("cloud", KINDS)
def test_it_has_every_key_and_no_other(cloud):
    found, declared = set(schema_keys(SCHEMA["definitions"][cloud])), set(declared_keys(KINDS[cloud].config))
    assert len(found) > 70
    assert {key.partition(":")[2] for key in found} == declared


@pytest.mark.parametrize("cloud", KINDS)
def test_it_has_the_descriptions_and_defaults(cloud):
    for field in ("gpufleet:owner", "gpufleet:erase", "gpufleet:tags"):
        assert SCHEMA["definitions"][cloud]["properties"][field]["description"]
    assert SCHEMA["definitions"][cloud]["properties"]["gpufleet:erase"]["default"] is False


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_schema_and_reader_never_disagree_on_keys(file):
    tried = list(changed(content(file)))
    assert len(tried) > 40
    disagree = [name for name, made in tried if schema_refuses(made) is not reader_refuses(made)]
    assert disagree == []


DEV = content(CONFIG / "Pulumi.aws-dev.yaml")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("gpufleet:cloud",), "gcp"),
        (("gpufleet:region",), "us-east-1"),
        (("gpuflet:owner",), "team"),
        (("azure-native:location",), "eastus"),
        (("gpufleet:tags",), ["a"]),
        (("gpufleet:erase",), "perhaps"),
        (("gpufleet:phase",), "clouds"),
        (("gpufleet:network", "zones"), "use1-az1"),
        (("gpufleet:network", "max_zones"), "three"),
        (("gpufleet:network", "flow_logs"), 1),
        (("gpufleet:cluster", "version"), 1.35),
        (("gpufleet:pools", "trainers"), "g5.8xlarge"),
        (("gpufleet:pools", "trainers", "types"), [8]),
        (("gpufleet:pools", "trainers", "max"), 2.5),
        (("gpufleet:team",), {"docker_config": "in plain text"}),
        (("gpufleet:usage",), {"busy_hours": 731}),
        (("gpufleet:usage",), {"nat_gb": -1}),
        (("gpufleet:quotas",), [{"family": "P", "market": "spot", "limit": -1}]),
        (("gpufleet:budgets",), {"users": {"ann": {"usd_per_month": 0}}}),
        (("gpufleet:queue",), {"overflow": {"capacity_timeout_minutes": 0}}),
        (("gpufleet:budgets",), {"users": {"ann": {"usd_per_month": 5, "at_end": "stop"}}}),
    ],
    ids=str,
)
def test_both_refuse(path, value):
    made = copy.deepcopy(DEV)
    at(made["config"], path[:-1])[path[-1]] = value
    assert schema_refuses(made)
    assert reader_refuses(made)


EC2 = {"types": ["g5.8xlarge"], "zones": ["use1-az1"]}
BATCH = {"types": ["Standard_NC4as_T4_v3"], "max": 1}
SYNC = {"nfs_server": "10.0.0.5", "nfs_path": "/export", "agent_arns": []}
RULES = {
    "aws.network.NetworkConfig.max_zones": lambda args: validate_subnet_plan(args, "10.0.0.0/16", 3),
    "config.aws_account.SyncConfig.every_hours": lambda args: validate_data_sync(SYNC | args),
    "config.aws.OnpremServersConfig.count": lambda args: validate_hybrid_nodes({"credentials": "ssm"} | args),
    "config.aws_batch.JobQueueConfig.runnable_minutes": validate_batch_queue,
    "config.aws_batch.MultinodeConfig.retries": validate_training_job,
    "aws.batch_environment.BatchEnvironmentConfig.max": lambda args: validate_batch_environment(EC2 | args),
    "pools.schedule.ScheduledPool.max": lambda args: validate_pool(EC2 | args, "us-east-1"),
    "config.azure.BatchNodesConfig.max": lambda args: validate_azure_batch_pool(BATCH | args, "eastus"),
    "config.azure.BatchNodesConfig.idle_minutes": lambda args: validate_azure_batch_pool(BATCH | args, "eastus"),
    "azure.nfs_share.NfsShareConfig.gib": validate_nfs_share,
    "azure.shared_files.SharedFilesConfig.share_gib": lambda args: validate_azure_files({"shares": ["a"]} | args),
    "aws.budget.BudgetConfig.usd_per_month": lambda args: validate_budget({"emails": ["a@b.de"]} | args),
    **{
        f"kubernetes.node_health.NodeHealthConfig.{key}": validate_node_health
        for key in ("most_percent", "every_seconds", "lasting_minutes", "young_minutes")
    },
    "kubernetes.monitoring.MonitoringConfig.storage_gib": validate_monitoring,
    "aws.managed_prometheus.ManagedPrometheusConfig.retention_days": validate_managed_prometheus,
    "azure.budget.BudgetConfig.usd_per_month": lambda args: validate_azure_budget({"emails": ["a@b.de"]} | args),
}
"""Numbers with a range, by definition and key, and who refuses others: what both read is tested above."""


@pytest.mark.parametrize("key", RULES)
def test_numbers_are_in_the_range_of_their_rule(key):
    definition, _, name = key.rpartition(".")
    declared = SCHEMA["definitions"][definition]["properties"][name]
    least, most = declared.get("minimum", declared.get("exclusiveMinimum", 0) + 0.01), declared.get("maximum")
    ends = {least: True, least - 1: False} | ({most: True, most + 1: False} if most else {})
    for number, legal in ends.items():
        findings = [each for each in RULES[key]({name: number}) if each.argument == name]
        assert all(each.status is Status.PASS for each in findings) is legal, (number, findings)
        assert Draft7Validator(declared).is_valid(number) is legal, number


def test_every_other_range_is_of_a_reader():
    ranges = {
        f"{definition}.{key}"
        for definition, each in SCHEMA["definitions"].items()
        for key, value in each.get("properties", {}).items()
        if {"minimum", "exclusiveMinimum"} & set(value)
    }
    others = {key.rpartition(".")[0] for key in ranges - set(RULES)}
    assert set(RULES) <= ranges
    assert others == {
        "cost.usage_assumptions.UsageArgs",
        "plan.quota_limits.QuotaArgs",
        "jobs.budgets.JobBudgetConfig",
        "kubernetes.overflow.OverflowConfig",
        # Its budget is one of the cloud's.
        "platform.config.TeamBudgetConfig",
        # As that of MultinodeConfig.
        "config.aws_batch.SingleJobConfig",
    }


def test_what_pulumi_writes_itself_is_valid():
    made = copy.deepcopy(DEV)
    made |= {"encryptionsalt": "v1:abc", "secretsprovider": "awskms://alias/a", "encryptedkey": "AQ"}
    made["environment"] = ["shared/aws"]
    made["config"] |= {
        "aws:profile": "mine",
        "pulumi:tags": {"a": "b"},
        # `pulumi config set` without --path.
        "gpufleet:erase": "true",
        "gpufleet:tags": '{"a": "b"}',
        "gpufleet:purpose": {"secure": "v1:abc"},
        "gpufleet:team": {"docker_config": {"secure": "v1:abc"}},
    }
    assert [error.message for error in VALIDATOR.iter_errors(made)] == []
    onprem = content(CONFIG / "Pulumi.onprem.yaml")
    for kubeconfig in ("text", {"clusters": []}, {"secure": "v1:abc"}):
        onprem["config"]["gpufleet:kubeconfig"] = kubeconfig
        assert VALIDATOR.is_valid(onprem)
    assert schema_refuses({"confg": {}})
