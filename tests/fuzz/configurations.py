"""Configurations of environments, and what is given beside them."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from tests.fuzz.broken_input import as_yaml
from tests.fuzz.reader import ROOT, TODAY, Reader, try_all


def _configurations() -> list[Any]:
    # That of on-prem clusters has a kubeconfig, encrypted for whoever has its passphrase.
    files = [each for each in sorted((ROOT / "stacks" / "config").glob("Pulumi.*.yaml")) if "onprem" not in each.name]
    return [yaml.safe_load(file.read_text().replace("expires_at: ", "expires_at: !!str ")) for file in files]


def _config_of(file: Path) -> dict[str, str]:
    """As the engine gives a file's configuration to the program."""
    content = json.loads(file.read_bytes())
    return {
        str(key): each if isinstance(each, str) else json.dumps(each)
        for key, each in (content.get("config") or {}).items()
    }


def _read_config(file: Path) -> object:
    from gpufleet.config.reader import read_config

    try:
        config = _config_of(file)
    except (ValueError, AttributeError):
        return None  # The engine has refused it.
    return read_config(config, "aws-dev")


def _expiry(file: Path) -> object:
    from gpufleet.fleet.extend import extended_expiry, read_expiry, replace_expiry

    text = file.read_bytes().decode("utf-8", "replace")
    return replace_expiry(text, extended_expiry("7d", read_expiry(text, "f"), TODAY), "f")


def _preflight(file: Path) -> object:
    from gpufleet.preflight.configuration import read_configuration, values_in_file

    return read_configuration(values_in_file(file), str(file), TODAY)


def _project(file: Path) -> object:
    from gpufleet.fleet.extend import configuration_file
    from gpufleet.report.configuration_files import configuration_folder, environment_names, virtual_environment

    for folder in ("c", "."):
        (file.parent / folder).mkdir(exist_ok=True)
        (file.parent / folder / "Pulumi.dev.yaml").touch()
    virtual_environment(file.parent), configuration_folder(file.parent), environment_names(file.parent)
    return configuration_file(file.parent, "dev")


def _lines(file: Path) -> object:
    from gpufleet.report.config_lines import configuration_lines

    (file.parent / "Pulumi.yaml").write_text("name: p")
    return configuration_lines(file.parent, [("p/dev", "dev")])


def _usage_file(file: Path) -> object:
    from gpufleet.cost.usage_assumptions import read_usage_file

    return read_usage_file(file)


def _servers(file: Path) -> object:
    from gpufleet.choose.onprem_servers import read_servers_file

    return read_servers_file(file)


_SERVERS = (
    [
        {"name": "lab", "gpu_model": "V100", "gpus": 4, "gpu_memory_gib": 32, "count": 2, "usd_per_hour": 0.9},
        {"name": "l2", "gpu_model": "A100", "gpus": 8, "gpu_memory_gib": 80, "nodes": ["a", "b"], "fabric": True},
    ],
)


def _catalog_samples() -> list[Any]:
    folder = ROOT / "components/gpufleet/catalog/aws"
    return [
        json.loads((folder / name).read_bytes())[:3]
        for name in ("instance_types.json", "prices.json", "zones.json", "spot_prices.json")
    ]


def _catalog(file: Path) -> object:
    from gpufleet.catalog import records
    from gpufleet.catalog.loader import read_edition, read_records

    kinds = (records.AwsGpuType, records.Price, records.AwsZone, records.SpotPrice, records.Quota)
    return try_all(lambda: read_edition(file), *(partial(read_records, file, kind) for kind in kinds))


def _policies(file: Path) -> object:
    from gpufleet.plan.resource import Plan
    from gpufleet.policies.configuration import read_policies
    from gpufleet.policies.cost import read_limits
    from gpufleet.policies.ownership import validate_ownership
    from gpufleet.rules.suppression import read_suppressions

    found = read_policies(file)
    for name, config in found.items():
        read_suppressions(config.get("suppress"), name, TODAY)
    validate_ownership(Plan("dev", []), found.get("ownership", {}))
    return read_limits("dev", found.get("cost", {}))


_POLICIES = (
    {
        "cost": {
            "pool_usd_month": 1000,
            "stack_usd_month": 5,
            "suppress": [{"rule": "any-cost-idle", "resource": "a", "reason": "r", "expires": "2026-12-01"}],
        },
        "ownership": {"tags": ["owner"], "suppress": []},
    },
)


def _quotas(file: Path) -> object:
    from gpufleet.documents.yaml import read_yaml
    from gpufleet.plan.quota_limits import read_quotas
    from gpufleet.rules.suppression import read_suppressions

    given = read_yaml(file)
    content = given if isinstance(given, dict) else {}
    return read_quotas(content.get("quotas"), "q"), read_suppressions(content.get("suppress"), "s", TODAY)


_QUOTAS = (
    {
        "quotas": [{"family": "P", "market": "on-demand", "limit": 192, "in_use": 8}],
        "suppress": [{"rule": "any-cost-idle", "resource": "a*", "reason": "why", "expires": "2026-12-01"}],
    },
)


def _among(file: Path) -> object:
    from gpufleet.affected.select import listed_environments

    text = file.read_bytes().decode("utf-8", "replace")
    return listed_environments(ROOT, text)


READERS = {
    "configuration": Reader(_read_config, ["config/reader.py", "rules/coerce.py"], _configurations),
    "expiry": Reader(_expiry, ["fleet/extend.py"], _configurations, form=as_yaml, name="Pulumi.dev.yaml"),
    "preflight configuration": Reader(_preflight, ["preflight/configuration.py"], _configurations, form=as_yaml),
    "project file": Reader(
        _project,
        ["report/configuration_files.py"],
        lambda: [{"name": "p", "stackConfigDir": "c", "runtime": {"name": "python", "options": {"virtualenv": "v"}}}],
        form=as_yaml,
        name="Pulumi.yaml",
    ),
    "lines of a configuration": Reader(
        _lines,
        ["report/config_lines.py"],
        lambda: [{"config": {"aws:region": "us-east-1", "gpufleet:pools": {"p": {"max": 2, "zones": ["a"]}}}}],
        form=as_yaml,
        name="Pulumi.dev.yaml",
    ),
    "usage assumptions": Reader(
        _usage_file,
        ["cost/usage_assumptions.py"],
        lambda: [{"busy_hours": 100, "nat_gb": 5.5, "busy_nodes": {"p5": 2, "lab*": 1}}],
        form=as_yaml,
    ),
    "on-prem servers": Reader(_servers, ["choose/onprem_servers.py"], lambda: _SERVERS, form=as_yaml),
    "catalog": Reader(_catalog, ["catalog/loader.py"], _catalog_samples),
    "policy configuration": Reader(_policies, ["policies/configuration.py"], lambda: _POLICIES),
    "quotas and suppressions": Reader(_quotas, ["plan/quota_limits.py"], lambda: _QUOTAS, form=as_yaml),
    "--among": Reader(_among, ["affected/select.py"], lambda: [["aws-dev", "aws-prod"]]),
}
