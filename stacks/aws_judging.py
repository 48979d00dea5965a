"""Judge an AWS environment by its settings, before its first resource."""

from collections.abc import Mapping
from typing import Any, TypeVar

import on_cluster
from aws_parts import (
    autoscaler_of,
    cluster_of,
    control_zones,
    mounted_zones,
    refused_zones,
    registry_of,
    tags,
    volume_files,
)
from aws_settings import AwsSettings
from gpufleet.address_plan import plan_subnets
from gpufleet.aws.addons import ADDONS, ADDRESSES_PER_NODE
from gpufleet.aws.network import DEFAULT_CIDR, DEFAULT_MAX_ZONES
from gpufleet.aws.system_nodes import SystemNodes
from gpufleet.plan.quotas import judge_quotas
from gpufleet.refusal import refuse_stack
from gpufleet.rules import judge_budget, judge_cluster, judge_network, judge_pool, judge_registry, judge_shared_files
from gpufleet.rules.aws.address_plan import judge_address_plan
from gpufleet.rules.aws.cluster import judge_control_zones
from gpufleet.rules.aws.cluster_access import judge_cluster_access, judge_installation
from gpufleet.rules.aws.existing_network import judge_existing_network
from gpufleet.rules.aws.registry_host import judge_registry_host
from gpufleet.rules.aws.system_nodes import judge_system_nodes
from gpufleet.rules.judged import Judged
from gpufleet.rules.kubernetes.autoscaler import judge_autoscaler
from gpufleet.rules.subnet import judge_addresses
from settings import given

T = TypeVar("T")


def refuse(environment: str, settings: AwsSettings) -> None:
    """Judge every part by its plain values, so that one preview shows all faults and nothing is half made."""
    region = {"region": settings.region}
    clients = {"client_security_group_ids": {"nodes": "the cluster's"}}
    files = {"zones": mounted_zones(settings), "zone_names": settings.zone_names} | clients
    pools = {pool: given(intent) for pool, intent in settings.pools.items()}
    # All parts have the same tags: what is wrong with them is said once.
    network = given(settings.network) | region | {"tags": tags(environment, settings)}
    registry = registry_of(environment, settings) | region
    judged = {
        "network": [*judge_network(network), *judge_existing_network(network)],
        "files": judge_shared_files(given(settings.files) | region | files),
        "registry": [*judge_registry(registry), *judge_registry_host(registry)],
        **{pool: judge_pool(intent, settings.region) for pool, intent in pools.items()},
    }
    own = settings.existing_cluster is None
    # Ids are only known once there is a file system.
    on_it = on_cluster.arguments(environment, settings, volume_files(settings, True, True), settings.files.one_zone)
    judged |= on_cluster.judge(settings, on_it, own=own)
    if "autoscaler" in on_cluster.software(settings, own=own):
        judged["autoscaler"] = judge_autoscaler(autoscaler_of(settings))
    whole = judge_quotas(environment, named(environment, pools), settings.region, quotas_of(settings))
    whole += addresses(environment, settings)
    if settings.network.vpc_id is None:
        judged["network"] += judge_address_plan(network, DEFAULT_CIDR, DEFAULT_MAX_ZONES)
    if settings.budget is not None:
        judged["budget"] = judge_budget(given(settings.budget) | {"environment": environment})
    if own:
        cluster = cluster_of(settings)
        whole += [Judged(f"{environment}-cluster", each) for each in judge_installation(cluster)]
        judged["cluster"] = [
            *judge_cluster(cluster | region | {"zones": control_zones(settings)}, "zones", refused_zones(settings)),
            *judge_control_zones(settings.cluster.zones or (), settings.network.zones),
            *judge_cluster_access(cluster, ADDONS),
            *judge_system_nodes(cluster, (SystemNodes.types, SystemNodes.min, SystemNodes.max, SystemNodes.disk_gib)),
        ]
    refuse_stack(named(environment, judged), whole)


def addresses(environment: str, settings: AwsSettings) -> list[Judged]:
    """Findings on the pools' addresses, in the subnets that are made here."""
    if settings.network.vpc_id is not None:
        return []
    network = settings.network
    try:
        plan = plan_subnets(network.cidr or DEFAULT_CIDR, network.zones, network.max_zones or DEFAULT_MAX_ZONES)
    except ValueError:
        return []  # the rules on the network report it
    ranges = {zone.zone: zone.private for zone in plan}
    held = ADDRESSES_PER_NODE if settings.existing_cluster is None else None
    found: list[Judged] = []
    for pool, intent in settings.pools.items():
        cidrs = [ranges[zone] for zone in intent.zones if zone in ranges]
        found += [Judged(f"{environment}-{pool}", each) for each in judge_addresses(cidrs, intent.max, held) if cidrs]
    return found


def named(environment: str, parts: Mapping[str, T]) -> dict[str, T]:
    """The parts of the stack by their logical names."""
    return {f"{environment}-{part}": value for part, value in parts.items()}


def quotas_of(settings: AwsSettings) -> list[dict[str, Any]]:
    """The limits of the account that the configuration gives."""
    return [given(quota) for quota in settings.quotas]
