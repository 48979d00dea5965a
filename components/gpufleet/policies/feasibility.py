"""The concern of the policy pack `gpufleet-zones`: whether what a plan makes is to be had, and can work, where it is.

Judges the resources themselves, whoever wrote the program, with the rules that our components follow.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gpufleet.plan import Plan
from gpufleet.plan.aws.security_groups import SecurityGroups
from gpufleet.plan.aws.zones import ZoneNames
from gpufleet.plan.pools import planned_pools
from gpufleet.plan.quota_demand import quota_demand
from gpufleet.plan.quota_limits import read_quotas
from gpufleet.plan.quotas import validate_needs
from gpufleet.policies.aws.batch import validate_batch
from gpufleet.policies.aws.clusters import validate_clusters
from gpufleet.policies.aws.efa_security_groups import validate_fabric
from gpufleet.policies.aws.files import validate_files
from gpufleet.policies.aws.node_groups import validate_node_groups
from gpufleet.policies.aws.pools import validate_pools
from gpufleet.policies.aws.subnets import validate_subnets
from gpufleet.policies.azure.feasibility import azure_findings
from gpufleet.policies.configuration import PolicySettings
from gpufleet.rules.messages import shown
from gpufleet.rules.resource_finding import ResourceFinding

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


def validate_zones_of(plan: Plan, config: Mapping[str, object]) -> Sequence[ResourceFinding]:
    """Every finding on a plan, passes included. Never raises for a plan, whatever its values.

    config: the keys of `PROPERTIES`. Errors: UserError, with a line for each fault of the configuration.
    """
    settings = PolicySettings(config, "zones", PROPERTIES)
    zone_names = _zone_names(settings)
    infiniband = config.get("aks_infiniband")
    if infiniband is not None and not isinstance(infiniband, bool):
        settings.fault(f"aks_infiniband={shown(infiniband)}: is neither true nor false; leave it out if unknown")
    settings.raise_faults()
    limits = read_quotas(config.get("quotas"), "zones.quotas")
    pools = planned_pools(plan, zone_names)
    groups = SecurityGroups(plan)
    return [
        *validate_pools(plan, pools, zone_names),
        *validate_node_groups(plan),
        *validate_fabric(plan, pools, groups),
        *validate_subnets(plan, pools),
        *validate_files(plan, pools, zone_names, groups),
        *validate_clusters(plan, zone_names),
        *validate_batch(plan, pools),
        *azure_findings(plan, config),
        *(validate_needs(plan.stack, quota_demand(pools, plan), limits) if limits else ()),
    ]


def _zone_names(settings: PolicySettings) -> ZoneNames:
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
