"""The concern of the policy pack `gpufleet-zones`: whether what a plan makes is to be had, and can work, where it is.

Judges the resources themselves, whoever wrote the program, with the rules that our components follow.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gpufleet.plan import Plan
from gpufleet.plan.aws.security import SecurityGroups
from gpufleet.plan.aws.zones import ZoneNames
from gpufleet.plan.limits import read_quotas
from gpufleet.plan.needs import needs
from gpufleet.plan.pools import planned_pools
from gpufleet.plan.quotas import judge_needs
from gpufleet.policies.aws.batch import judge_batch
from gpufleet.policies.aws.clusters import judge_clusters
from gpufleet.policies.aws.fabric import judge_fabric
from gpufleet.policies.aws.files import judge_files
from gpufleet.policies.aws.node_groups import judge_node_groups
from gpufleet.policies.aws.pools import judge_pools
from gpufleet.policies.aws.subnets import judge_subnets
from gpufleet.policies.azure.zones import azure_findings
from gpufleet.policies.configuration import Settings
from gpufleet.rules.judged import Judged
from gpufleet.rules.wording import shown

NAME = "gpufleet-zones"
DESCRIPTION = "GPU pools, their network, files and jobs fit where they are put."
PROPERTIES: Mapping[str, dict[str, Any]] = {
    "zone_names": {
        "type": "object",
        "description": "Zone id to this account's name for it, such as use1-az1: us-east-1a. Without it, zones that a "
        "program calls by name are told apart, but not looked up in the catalog.",
        "additionalProperties": {"type": "string"},
    },
    "quotas": {
        "type": "array",
        "description": "vCPU limits of the account, such as {family: P, market: on-demand, limit: 192, in_use: 0}; "
        "without any, quotas are not judged.",
        "items": {"type": "object"},
    },
    "aks_infiniband": {
        "type": "boolean",
        "description": "Whether the feature AKSInfinibandSupport is registered in the Azure subscription. Default: not "
        "known.",
    },
}
"""JSON schema of the configuration."""


def judge_zones_of(plan: Plan, config: Mapping[str, object]) -> Sequence[Judged]:
    """Every finding on a plan, passes included. Never raises for a plan, whatever its values.

    config: the keys of `PROPERTIES`. Errors: UserError, with a line for each fault of the configuration.
    """
    settings = Settings(config, "zones", PROPERTIES)
    zone_names = _zone_names(settings)
    infiniband = config.get("aks_infiniband")
    if infiniband is not None and not isinstance(infiniband, bool):
        settings.fault(f"aks_infiniband={shown(infiniband)}: is neither true nor false; leave it out if unknown")
    settings.raise_faults()
    limits = read_quotas(config.get("quotas"), "zones.quotas")
    pools = planned_pools(plan, zone_names)
    groups = SecurityGroups(plan)
    return [
        *judge_pools(plan, pools, zone_names),
        *judge_node_groups(plan),
        *judge_fabric(plan, pools, groups),
        *judge_subnets(plan, pools),
        *judge_files(plan, pools, zone_names, groups),
        *judge_clusters(plan, zone_names),
        *judge_batch(plan, pools),
        *azure_findings(plan, config),
        *(judge_needs(plan.stack, needs(pools, plan), limits) if limits else ()),
    ]


def _zone_names(settings: Settings) -> ZoneNames:
    value = settings.config.get("zone_names")
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(text, str) for pair in value.items() for text in pair):
        settings.fault(f"zone_names={shown(value)}: is no map of zone ids to names; write {{use1-az1: us-east-1a}}")
        return {}
    names = list(value.values())
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        settings.fault(f"zone_names: {', '.join(twice)} stands for two zones; in one account a name is one zone")
    return dict(value)
