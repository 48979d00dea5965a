"""An account as a YAML mapping says it is, for preflight.

AWS: zones (type -> zone ids), limits and in_use ("<family> <market>" -> vCPUs), reservations (id -> type, zone, state,
free, total, kind), groups (name -> strategy, state), zone_names, resource_limits (default 5 of each) and others (what
is counted -> number, of NAT gateways by zone id). Azure: sizes (size -> zones, restrictions), usages
("<family> <market>" -> limit, in_use), batch (account -> dedicated, low_priority),
outbound (subnet id -> public addresses of its NAT gateway).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpufleet.plan.pools import planned_pools
from gpufleet.plan.quota_limits import read_quotas
from gpufleet.plan.quotas import validate_quotas
from gpufleet.preflight.aws.checks import validate_aws
from gpufleet.preflight.aws.facts import CapacityReservation, ExistingResources, PlacementGroup
from gpufleet.preflight.aws.networks import validate_networks
from gpufleet.preflight.azure.checks import validate_azure
from gpufleet.preflight.azure.cluster_networks import validate_cluster_networks
from gpufleet.preflight.azure.facts import BatchAccountQuota, QuotaUsage, SubscriptionSku
from gpufleet.preflight.query_results import QueryRunner
from gpufleet.rules.resource_finding import ResourceFinding
from tests.policies.raw_program import plan_from


@dataclass(frozen=True)
class AwsAccount:
    """`gpufleet.preflight.aws.facts.AwsFacts` of a mapping."""

    said: Mapping[str, Any]

    def zone_names(self) -> Mapping[str, str]:
        return self.said["zone_names"]

    def zones_with(self, types: Sequence[str]) -> Mapping[str, Sequence[str]]:
        return {name: self.said.get("zones", {}).get(name, ()) for name in types}

    def limit(self, family: str, market: str) -> int | None:
        return self.said.get("limits", {}).get(f"{family} {market}")

    def in_use(self, market: str) -> Mapping[str, int]:
        used = self.said.get("in_use", {})
        return {key.rpartition(" ")[0]: number for key, number in used.items() if key.endswith(f" {market}")}

    def reservation(self, reservation_id: str) -> CapacityReservation | None:
        held = self.said.get("reservations", {}).get(reservation_id)
        return CapacityReservation(**held) if held else None

    def placement_group(self, name: str) -> PlacementGroup | None:
        held = self.said.get("groups", {}).get(name)
        return PlacementGroup(**held) if held else None

    def resource_limit(self, counted: str) -> int | None:
        return self.said.get("resource_limits", {}).get(counted, 5)

    def network_use(self, counted: str) -> Mapping[str, ExistingResources]:
        others = self.said.get("others", {}).get(counted, {})
        return {
            zone: ExistingResources(0, each)
            for zone, each in (others if isinstance(others, Mapping) else {"": others}).items()
        }


@dataclass(frozen=True)
class AzureAccount:
    """`gpufleet.preflight.azure.facts.AzureFacts` of a mapping."""

    said: Mapping[str, Any]

    def sku(self, size: str) -> SubscriptionSku | None:
        held = self.said.get("sizes", {}).get(size)
        return SubscriptionSku(held["zones"], held.get("restrictions", ())) if held else None

    def usage(self, family: str, market: str) -> QuotaUsage | None:
        held = self.said.get("usages", {}).get(f"{family} {market}")
        return QuotaUsage(**held) if held else None

    def batch(self, account: str) -> BatchAccountQuota | None:
        held = self.said.get("batch", {}).get(account)
        return BatchAccountQuota(own_quota=True, by_family=None, used={}, **held) if held else None

    def outbound_addresses(self, subnet: str) -> Sequence[str]:
        return self.said.get("outbound", {}).get(subnet, ())


def validate_account(resources: Mapping[str, Any], said: Mapping[str, Any], region: str) -> list[ResourceFinding]:
    """Every finding of preflight on a raw program in an account."""
    plan = plan_from(resources, region)
    pools = planned_pools(plan)
    if said["cloud"] == "azure":
        found = validate_azure(plan, pools, lambda region: AzureAccount(said), QueryRunner(), ())
        return [*found, *validate_cluster_networks(plan, lambda region: AzureAccount(said), QueryRunner())]
    names = said.get("configured_zone_names", {})
    found = validate_aws(plan, pools, lambda region: AwsAccount(said), QueryRunner(), names, ())
    return [*found, *validate_networks(plan, lambda region: AwsAccount(said), QueryRunner(), names)]


def validate_stack(given: Mapping[str, Any], region: str) -> list[ResourceFinding]:
    """Every finding on the quotas that a stack's configuration gives: pools by name, and quotas."""
    assert read_quotas(given["quotas"], "gpufleet:quotas")
    return validate_quotas("dev", given["pools"], region, given["quotas"], given.get("cloud", "aws"))
