"""Checks of a whole Azure environment: what runs, quotas, addresses, and what Batch pools mount."""

from gpufleet.config.azure import AzureConfig, BatchConfig
from gpufleet.config.azure_parts import account_name, containers_of, shares_of
from gpufleet.config.environment import Environment
from gpufleet.plan.quotas import validate_quotas
from gpufleet.rules.access_logs import validate_access_logs
from gpufleet.rules.azure.addresses import validate_azure_addresses
from gpufleet.rules.azure.network import DEFAULT_CIDR
from gpufleet.rules.azure.stack import validate_azure_stack, validate_job_containers, validate_stack_mounts
from gpufleet.rules.azure.system_pool import most_system_nodes
from gpufleet.rules.resource_finding import ResourceFinding
from gpufleet.rules.rule import Finding
from gpufleet.validation import validate_stack


def check_azure(env: Environment[AzureConfig]) -> None:
    """Findings on the environment as a whole."""
    config = env.config
    batch = config["batch"]["pools"] if "batch" in config else None
    there = config.get("subscription_id"), config.get("resource_group")
    whole = validate_azure_stack("cluster" in config, config["pools"], batch, *there)
    containers = validate_job_containers(containers_of(config["files"]), batch is not None)
    validate_stack(ResourceFinding(env.name, each) for each in whole)
    validate_stack(ResourceFinding(env.part("network"), each) for each in _addresses(config))
    containers += validate_access_logs(config["access_logs"], ["azure-storage"])
    validate_stack(ResourceFinding(env.part("files"), each) for each in containers)
    if "batch" in config:
        _check_mounts(env, config["batch"])
    validate_stack(_quotas(env))


def _addresses(config: AzureConfig) -> list[Finding]:
    """Addresses of a network that is made for the environment."""
    if "vnet_id" in config["network"]:
        return []
    nodes: dict[str, int] = {}
    if "batch" in config:
        nodes["batch"] = sum(pool["max"] for pool in config["batch"]["pools"].values())
    cluster = config.get("cluster")
    if cluster is not None:
        nodes["nodes"] = most_system_nodes(cluster) + sum(pool["max"] for pool in config["pools"].values())
    return validate_azure_addresses(config["network"].get("cidr", DEFAULT_CIDR), nodes, cluster)


def _check_mounts(env: Environment[AzureConfig], batch: BatchConfig) -> None:
    files = env.config["files"]
    containers, shares = containers_of(files), shares_of(files)
    for name, pool in batch["pools"].items():
        findings = validate_stack_mounts(pool.get("mounts", containers), [*containers, *shares])
        validate_stack(ResourceFinding(env.part(name), each) for each in findings)


def _quotas(env: Environment[AzureConfig]) -> list[ResourceFinding]:
    """Cores of the agent pools against the subscription's limits, and of Batch pools against those of their account."""
    config = env.config
    pools = {env.part(name): dict(pool) for name, pool in config["pools"].items()}
    accounts: dict[str, str] = {}
    if "batch" in config:
        of_batch = {env.part(name): dict(pool) for name, pool in config["batch"]["pools"].items()}
        accounts = dict.fromkeys(of_batch, account_name(env.name, config["batch"]))
        pools |= of_batch
    return validate_quotas(env.name, pools, config["location"], config["quotas"], "azure", accounts)
