"""Checks of a whole AWS environment: quotas, addresses, own servers, and who reaches the cluster."""

from collections.abc import Mapping
from typing import Any, TypedDict

from gpufleet.aws.addons import ADDRESSES_PER_NODE
from gpufleet.aws.network import DEFAULT_CIDR, DEFAULT_MAX_ZONES
from gpufleet.aws.subnet_plan import plan_subnets
from gpufleet.config.aws import AwsConfig, OnpremServersConfig
from gpufleet.config.aws_account import AwsAccountConfig
from gpufleet.config.aws_parts import pools_of, software_of
from gpufleet.config.environment import Environment
from gpufleet.config.onprem_servers import service_cidr, vpc_cidr
from gpufleet.config.software_images import software_images
from gpufleet.plan.quotas import validate_quotas
from gpufleet.rules.access_logs import validate_access_logs
from gpufleet.rules.aws.cluster_access import validate_installation
from gpufleet.rules.aws.data_sync import validate_synced_files
from gpufleet.rules.aws.image_pull import validate_images
from gpufleet.rules.aws.lustre import validate_lustre_environment
from gpufleet.rules.aws.managed_prometheus import validate_prometheus_environment
from gpufleet.rules.aws.node_version import version_near_cluster
from gpufleet.rules.aws.onprem_servers import validate_onprem_servers
from gpufleet.rules.aws.remote_networks import validate_remote_networks
from gpufleet.rules.aws.service_cidr import validate_service_overlap
from gpufleet.rules.kubernetes.onprem_nodes import validate_onprem_nodes
from gpufleet.rules.kubernetes.software import validate_software
from gpufleet.rules.labels import value_form
from gpufleet.rules.resource_finding import ResourceFinding
from gpufleet.rules.subnet import validate_addresses
from gpufleet.typed_dicts import pick
from gpufleet.validation import validate_stack


class Installation(TypedDict, total=False):
    """What says whether anything is installed on the cluster, and by which way."""

    phase: str
    own_servers: OnpremServersConfig


def check_aws(env: Environment[AwsConfig]) -> None:
    """Findings on an environment with an EKS cluster, before its parts."""
    config = env.config
    own = "existing_cluster" not in config
    if own:
        findings = validate_installation({**config["cluster"], **pick(Installation, config)})
        findings += validate_service_overlap(config["cluster"].get("service_cidr", ""), vpc_cidr(config))
        validate_stack(ResourceFinding(env.part("cluster"), each) for each in findings)
        its_version = config["cluster"].get("version", "")
        for name, pool in config["pools"].items():
            version = version_near_cluster(version=pool.get("version", ""), cluster=its_version)
            validate_stack([ResourceFinding(env.part(name), version)])
    _check_software(env, own)
    check_pools(env.name, config, config["pools"], ADDRESSES_PER_NODE if own else None)
    if "data_sync" in config:
        synced = validate_synced_files(config["data_sync"]["to"], "own_servers" in config or "lustre" in config)
        validate_stack(ResourceFinding(env.part("data-sync"), each) for each in synced)
    kind = "nfs" if "own_servers" in config else "lustre" if "lustre" in config else "efs"
    recorded = validate_access_logs(config["access_logs"], [kind])
    validate_stack(ResourceFinding(env.part("files"), each) for each in recorded)
    if "lustre" in config:
        zones = {zone for pool in config["pools"].values() for zone in pool["zones"]}
        others = [*(["files"] if config["files"] else []), *(["own_servers"] if "own_servers" in config else [])]
        networks = [str(pool.get("network", "plain")) for pool in config["pools"].values()]
        found = validate_lustre_environment(config["lustre"], sorted(zones), networks, others)
        validate_stack(ResourceFinding(env.part("lustre"), each) for each in found)
    if "own_servers" in config:
        _check_own_servers(env, config["own_servers"])


def _check_software(env: Environment[AwsConfig], own: bool) -> None:
    """What is installed on the cluster: all that pools need, from where nodes pull it. own: whether it is made here."""
    config, network = env.config, env.config["network"]
    findings = validate_software(config["software"], pools_of(config)) if own and "software" in config else []
    if "vpc_id" not in network and network.get("nat") == "none":
        caches = list(config["registry"].get("pull_through", ()))
        findings += validate_images(software_images(config), config["region"], caches)
    if "managed_prometheus" in config:
        nat = "given" if "vpc_id" in network else network.get("nat", "single")
        endpoints = network.get("interface_endpoints", ())
        findings += validate_prometheus_environment(list(software_of(config)), nat, list(endpoints))
    validate_stack(ResourceFinding(env.name, each) for each in findings)


def check_pools(
    environment: str, config: AwsAccountConfig, pools: Mapping[str, Mapping[str, Any]], held: int | None
) -> None:
    """What all pools need at once: quotas, and addresses in the subnets that are made here.

    held: addresses that a node holds, its own among them; None where that is not known.
    """
    named = {f"{environment}-{pool}": args for pool, args in pools.items()}
    validate_stack(validate_quotas(environment, named, config["region"], config["quotas"]))
    ranges = _private_ranges(config)
    for name, pool in named.items():
        cidrs = [ranges[zone] for zone in pool["zones"] if zone in ranges]
        if cidrs:
            validate_stack(ResourceFinding(name, each) for each in validate_addresses(cidrs, pool["max"], held))


def _private_ranges(config: AwsAccountConfig) -> dict[str, str]:
    """Zone id to the range of its private subnet; none of a network that exists, or that the rules reject."""
    network = config["network"]
    if "vpc_id" in network:
        return {}
    try:
        cidr, most = network.get("cidr", DEFAULT_CIDR), network.get("max_zones", DEFAULT_MAX_ZONES)
        return {zone.zone: zone.private for zone in plan_subnets(cidr, network["zones"], most)}
    except ValueError:
        return {}


def _check_own_servers(env: Environment[AwsConfig], own: OnpremServersConfig) -> None:
    config = env.config
    nodes = {name: pool["nodes"] for name, pool in own["pools"].items()}
    ranges = {"remote_networks": own["networks"], "vpc_cidr": vpc_cidr(config), **service_cidr(config)}
    existing = config["existing_cluster"]["name"] if "existing_cluster" in config else ""
    findings = [
        *(value_form(argument="own_servers.pools", value=node) for each in nodes.values() for node in each),
        *validate_remote_networks(ranges, "own_servers.networks"),
        *validate_onprem_servers(
            nodes,
            list(config["pools"]),
            existing,
            sorted(config["files"]),
            dict(own["nodeadm"]),
            list(own["networks"].get("pods", ())),
            {**own["cilium"]},
        ),
    ]
    validate_stack(ResourceFinding(env.name, each) for each in findings)
    for name, pool in own["pools"].items():
        if name not in config["pools"]:
            validate_stack(ResourceFinding(env.part(name), each) for each in validate_onprem_nodes({**pool}))
