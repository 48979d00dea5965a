"""An account as a YAML mapping says it is, for preflight.

AWS: zones (type -> zone ids), limits and in_use ("<family> <market>" -> vCPUs), reservations (id -> type, zone, state,
free, total), groups (name -> strategy, state), zone_names, network_limits (default 5 of each) and others (what is
counted -> number, of NAT gateways by zone id). Azure: sizes (size -> zones, restrictions), usages
("<family> <market>" -> limit, in_use), batch (account -> dedicated, low_priority).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from raw_program import plan_from

from gpufleet.plan.limits import read_quotas
from gpufleet.plan.pools import planned_pools
from gpufleet.plan.quotas import judge_quotas
from gpufleet.preflight.answers import Doubts
from gpufleet.preflight.aws.checks import judge_aws
from gpufleet.preflight.aws.facts import Group, Held, Reservation
from gpufleet.preflight.aws.networks import judge_networks
from gpufleet.preflight.azure.checks import judge_azure
from gpufleet.preflight.azure.facts import Batch, Sku, Usage
from gpufleet.rules.judged import Judged


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

    def reservation(self, reservation_id: str) -> Reservation | None:
        held = self.said.get("reservations", {}).get(reservation_id)
        return Reservation(**held) if held else None

    def placement_group(self, name: str) -> Group | None:
        held = self.said.get("groups", {}).get(name)
        return Group(**held) if held else None

    def network_limit(self, counted: str) -> int | None:
        return self.said.get("network_limits", {}).get(counted, 5)

    def network_use(self, counted: str) -> Mapping[str, Held]:
        others = self.said.get("others", {}).get(counted, {})
        return {zone: Held(0, each) for zone, each in (others if isinstance(others, Mapping) else {"": others}).items()}


@dataclass(frozen=True)
class AzureAccount:
    """`gpufleet.preflight.azure.facts.AzureFacts` of a mapping."""

    said: Mapping[str, Any]

    def sku(self, size: str) -> Sku | None:
        held = self.said.get("sizes", {}).get(size)
        return Sku(held["zones"], held.get("restrictions", ())) if held else None

    def usage(self, family: str, market: str) -> Usage | None:
        held = self.said.get("usages", {}).get(f"{family} {market}")
        return Usage(**held) if held else None

    def batch(self, account: str) -> Batch | None:
        held = self.said.get("batch", {}).get(account)
        return Batch(own_quota=True, by_family=None, used={}, **held) if held else None


def judge_account(resources: Mapping[str, Any], said: Mapping[str, Any], region: str) -> list[Judged]:
    """Every finding of preflight on a raw program in an account."""
    plan = plan_from(resources, region)
    pools = planned_pools(plan)
    if said["cloud"] == "azure":
        return judge_azure(plan, pools, lambda region: AzureAccount(said), Doubts(), ())
    names = said.get("configured_zone_names", {})
    found = judge_aws(plan, pools, lambda region: AwsAccount(said), Doubts(), names, ())
    return [*found, *judge_networks(plan, lambda region: AwsAccount(said), Doubts(), names)]


def judge_stack(given: Mapping[str, Any], region: str) -> list[Judged]:
    """Every finding on the quotas that a stack's configuration gives: pools by name, and quotas."""
    assert read_quotas(given["quotas"], "gpufleet:quotas")
    return judge_quotas("dev", given["pools"], region, given["quotas"], given.get("cloud", "aws"))
