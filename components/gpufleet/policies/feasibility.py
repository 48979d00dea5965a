"""The policy pack `gpufleet-zones`: checks that planned resources are available, and will work, in their zones.

It checks the resources themselves, in any program, with the rules of our components.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gpufleet.plan import Plan
from gpufleet.plan.aws.security_groups import SecurityGroups
from gpufleet.plan.aws.zones import ZoneNames
from gpufleet.plan.pools import planned_pools
from gpufleet.plan.quota_demand import quota_demand
from gpufleet.plan.quota_limits import read_quotas
from gpufleet.plan.quotas import validate_quota_demand
from gpufleet.policies.aws.batch import validate_batch
from gpufleet.policies.aws.bucket_keys import validate_bucket_keys
from gpufleet.policies.aws.clusters import validate_clusters
from gpufleet.policies.aws.efa_security_groups import validate_efa_security_groups
from gpufleet.policies.aws.fargate_profiles import validate_fargate_profiles
from gpufleet.policies.aws.files import validate_files
from gpufleet.policies.aws.iam_policies import validate_iam_policies
from gpufleet.policies.aws.image_pulls import validate_image_pulls
from gpufleet.policies.aws.lustre import validate_lustre
from gpufleet.policies.aws.node_groups import validate_node_groups
from gpufleet.policies.aws.pools import validate_pools
from gpufleet.policies.aws.registries import validate_registries
from gpufleet.policies.aws.security_groups import validate_security_groups
from gpufleet.policies.aws.subnets import validate_subnets
from gpufleet.policies.azure.feasibility import validate_azure_feasibility
from gpufleet.policies.configuration import PolicySettings
from gpufleet.policies.kubernetes.hubs import validate_hubs
from gpufleet.policies.kubernetes.network_policies import validate_network_policies
from gpufleet.rules.messages import format_value
from gpufleet.rules.resource_finding import ResourceFinding

NAME = "gpufleet-zones"
DESCRIPTION = "GPU pools, their network, files and jobs fit where they are put."
PROPERTIES: Mapping[str, dict[str, Any]] = {
    "zone_names": {
        "type": "object",
        "description": "Zone id to this account's name for it, such as use1-az1: us-east-1a. Without it, zones that a "
        "program calls by name are distinguished, but not looked up in the catalog.",
        "additionalProperties": {"type": "string"},
    },
    "quotas": {
        "type": "array",
        "description": "vCPU limits of the account, such as {family: P, market: on-demand, limit: 192, in_use: 0}; "
        "without any, quotas are not checked.",
        "items": {"type": "object"},
    },
    "aks_infiniband": {
        "type": "boolean",
        "description": "Whether the feature AKSInfinibandSupport is registered in the Azure subscription. Default: not "
        "known.",
    },
}
"""JSON schema of the configuration."""


def validate_feasibility(plan: Plan, config: Mapping[str, object]) -> Sequence[ResourceFinding]:
    """Every finding on a plan, passes included. Never raises for a plan, whatever its values.

    config: the keys of `PROPERTIES`. Errors: UserError, with a line for each fault of the configuration.
    """
    settings = PolicySettings(config, "zones", PROPERTIES)
    zone_names = _zone_names(settings)
    infiniband = config.get("aks_infiniband")
    if infiniband is not None and not isinstance(infiniband, bool):
        settings.fault(f"aks_infiniband={format_value(infiniband)}: is neither true nor false; leave it out if unknown")
    settings.raise_faults()
    limits = read_quotas(config.get("quotas"), "zones.quotas")
    pools = planned_pools(plan, zone_names)
    groups = SecurityGroups(plan)
    return [
        *validate_pools(plan, pools, zone_names),
        *validate_node_groups(plan),
        *validate_efa_security_groups(plan, pools, groups),
        *validate_subnets(plan, pools),
        *validate_files(plan, pools, zone_names, groups),
        *validate_lustre(plan, pools, zone_names, groups),
        *validate_clusters(plan, zone_names),
        *validate_batch(plan, pools),
        *validate_image_pulls(plan),
        *validate_bucket_keys(plan),
        *validate_iam_policies(plan),
        *validate_registries(plan),
        *validate_security_groups(plan),
        *validate_fargate_profiles(plan),
        *validate_azure_feasibility(plan, config),
        *validate_network_policies(plan),
        *validate_hubs(plan),
        *(validate_quota_demand(plan.stack, quota_demand(pools, plan), limits) if limits else ()),
    ]


def _zone_names(settings: PolicySettings) -> ZoneNames:
    value = settings.config.get("zone_names")
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(text, str) for pair in value.items() for text in pair):
        settings.fault(
            f"zone_names={format_value(value)}: must be a mapping of zone ids to names; write {{use1-az1: us-east-1a}}"
        )
        return {}
    names = list(value.values())
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        settings.fault(f"zone_names: {', '.join(twice)} stands for two zones; in one account a name is one zone")
    return dict(value)
