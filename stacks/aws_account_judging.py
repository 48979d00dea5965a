"""Judge what every AWS environment has by its settings, before its first resource."""

from collections.abc import Mapping
from typing import Any

from aws_account_settings import AwsAccountSettings
from aws_mirror import judge_mirror
from aws_parts import mounted_zones, registry_of
from gpufleet.address_plan import plan_subnets
from gpufleet.aws.network import DEFAULT_CIDR, DEFAULT_MAX_ZONES
from gpufleet.plan.quotas import judge_quotas
from gpufleet.rules import judge_budget, judge_network, judge_registry, judge_shared_files
from gpufleet.rules.aws.address_plan import judge_address_plan
from gpufleet.rules.aws.existing_network import judge_existing_network
from gpufleet.rules.aws.registry_host import judge_registry_host
from gpufleet.rules.judged import Judged
from gpufleet.rules.rule import Finding
from gpufleet.rules.subnet import judge_addresses
from parts import named, tags
from settings import given


def judge_surroundings(environment: str, settings: AwsAccountSettings) -> dict[str, list[Finding]]:
    """Findings on network, files, registry and budget, by the part's name."""
    region = {"region": settings.region}
    files = given(settings.files) | region | {"zones": mounted_zones(settings), "zone_names": settings.zone_names}
    # All parts have the same tags: what is wrong with them is said once.
    network = given(settings.network) | region | {"tags": tags(environment, settings)}
    registry = registry_of(environment, settings) | region
    judged = {
        "network": [*judge_network(network), *judge_existing_network(network)],
        "files": judge_shared_files(files | {"client_security_group_ids": {"nodes": "made later"}}),
        "registry": [*judge_registry(registry), *judge_registry_host(registry)],
    }
    if settings.network.vpc_id is None:
        judged["network"] += judge_address_plan(network, DEFAULT_CIDR, DEFAULT_MAX_ZONES)
    if settings.image_mirror is not None:
        judged["mirror"] = judge_mirror(environment, settings)
    if settings.budget is not None:
        judged["budget"] = judge_budget(given(settings.budget) | {"environment": environment})
    return judged


def judge_pools_together(
    environment: str, settings: AwsAccountSettings, pools: Mapping[str, Any], held: int | None
) -> list[Judged]:
    """Findings on what all pools need at once: quotas, and addresses in the subnets that are made here.

    held: addresses that a node holds, its own among them; None where nobody knows.
    """
    named_pools = named(environment, {pool: given(intent) for pool, intent in pools.items()})
    return [
        *judge_quotas(environment, named_pools, settings.region, [given(quota) for quota in settings.quotas]),
        *_addresses(environment, settings, pools, held),
    ]


def _addresses(
    environment: str, settings: AwsAccountSettings, pools: Mapping[str, Any], held: int | None
) -> list[Judged]:
    if settings.network.vpc_id is not None:
        return []
    network = settings.network
    try:
        plan = plan_subnets(network.cidr or DEFAULT_CIDR, network.zones, network.max_zones or DEFAULT_MAX_ZONES)
    except ValueError:
        return []  # the rules on the network report it
    ranges = {zone.zone: zone.private for zone in plan}
    found: list[Judged] = []
    for pool, intent in pools.items():
        cidrs = [ranges[zone] for zone in intent.zones if zone in ranges]
        found += [Judged(f"{environment}-{pool}", each) for each in judge_addresses(cidrs, intent.max, held) if cidrs]
    return found
