"""A real Azure subscription, asked with the credentials in use. Reads only."""

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Any

from gpufleet.catalog import azure
from gpufleet.plan.property_values import get_path
from gpufleet.plan.quota_limits import ALL, plain_family
from gpufleet.preflight.azure.arm import ArmClient, ArmError
from gpufleet.preflight.azure.facts import BatchAccountQuota, QuotaUsage, SubscriptionSku

_COMPUTE = "/providers/Microsoft.Compute"
_BATCH = "/providers/Microsoft.Batch/batchAccounts"
_SKUS_VERSION = "2021-07-01"
_USAGES_VERSION = "2024-07-01"
_BATCH_VERSION = "2024-07-01"
_NETWORK_VERSION = "2024-05-01"
_TOTALS = {"on-demand": "cores", "spot": "lowPriorityCores"}
"""Names of the regional quotas on all families together, as usages of Microsoft.Compute give them."""


class AzureAccount:
    """One subscription, seen in one region; see `gpufleet.preflight.azure.facts.AzureFacts`.

    own_pools: names of the stack's Batch pools; Azure's begin with them. Their nodes count by what the plan says they
    may become.
    """

    def __init__(self, region: str, arm: ArmClient, own_pools: Collection[str] = ()) -> None:
        self._region, self._arm = region.lower().replace(" ", ""), arm
        self._own = tuple(name.lower() for name in own_pools)

    def sku(self, size: str) -> SubscriptionSku | None:
        found = [each for each in self._skus if str(each.get("name", "")).lower() == size.lower()]
        if not found:
            return None
        here = [place for each in found for place in each.get("locationInfo") or [] if self._is_here(place)]
        return SubscriptionSku(
            zones=tuple(sorted({str(zone) for place in here for zone in place.get("zones") or []})),
            restrictions=tuple(self._restriction(each) for sku in found for each in sku.get("restrictions") or []),
        )

    def usage(self, family: str, market: str) -> QuotaUsage | None:
        name = _TOTALS[market] if family == ALL or market == "spot" else family
        for each in self._usages:
            if plain_family(each["name"]["value"]) == plain_family(name):
                return QuotaUsage(int(each["limit"]), int(each["currentValue"]))
        return None

    def batch(self, account: str) -> BatchAccountQuota | None:
        found = next((each for each in self._batch_accounts if each["name"].lower() == account.lower()), None)
        if found is None:
            return None
        properties = found.get("properties") or {}
        if properties.get("poolAllocationMode") == "UserSubscription":
            return BatchAccountQuota(False, None, None, None, {})
        families = {
            plain_family(each["name"]): int(each["coreQuota"])
            for each in properties.get("dedicatedCoreQuotaPerVMFamily") or []
        }
        return BatchAccountQuota(
            own_quota=True,
            dedicated=properties.get("dedicatedCoreQuota"),
            low_priority=properties.get("lowPriorityCoreQuota"),
            by_family=families if properties.get("dedicatedCoreQuotaPerVMFamilyEnforced") else None,
            used=self._used(found["id"]),
        )

    def outbound_addresses(self, subnet: str) -> Sequence[str]:
        gateway = get_path(self._network(subnet, "virtualNetworks/subnets"), "natGateway", "id")
        if not isinstance(gateway, str):
            return ()
        properties = self._network(gateway, "natGateways")
        addresses = [self._network(each["id"], "publicIPAddresses") for each in _list(properties, "publicIpAddresses")]
        prefixes = [self._network(each["id"], "publicIPPrefixes") for each in _list(properties, "publicIpPrefixes")]
        return [
            *(f"{each['ipAddress']}/32" for each in addresses if each.get("ipAddress")),
            *(str(each["ipPrefix"]) for each in prefixes if each.get("ipPrefix")),
        ]

    def _network(self, resource_id: str, kind: str) -> dict[str, Any]:
        """The properties of something of Microsoft.Network."""
        permission = f"Microsoft.Network/{kind}/read"
        found = self._arm.read(resource_id, permission, api_version=_NETWORK_VERSION).get("properties")
        return found if isinstance(found, dict) else {}

    def _used(self, account_id: str) -> dict[tuple[str, str], int]:
        """Cores of the pools of a Batch account, by family and market."""
        below = account_id.partition(f"/subscriptions/{self._arm.subscription}")[2]
        pools = self._arm.listed(
            f"{below}/pools", "Microsoft.Batch/batchAccounts/pools/read", api_version=_BATCH_VERSION
        )
        used: dict[tuple[str, str], int] = {}
        for pool in pools:
            if str(pool.get("name", "")).lower().startswith(self._own) and self._own:
                continue
            properties = pool.get("properties") or {}
            nodes = {
                "on-demand": int(properties.get("currentDedicatedNodes") or 0),
                "spot": int(properties.get("currentLowPriorityNodes") or 0),
            }
            for market, count in nodes.items():
                if count:
                    family, cores = self._size(str(properties.get("vmSize", "")))
                    for key in ((plain_family(family), market), (ALL, market)):
                        used[key] = used.get(key, 0) + count * cores
        return used

    def _size(self, name: str) -> tuple[str, int]:
        """Family and cores of a size: of the catalog, or of the subscription's own list. Batch leaves out Standard_.

        Errors: ArmError for a size that neither has; what it uses would else be counted as nothing.
        """
        for record in azure().types.values():
            if record.type.lower() in (name.lower(), f"standard_{name.lower()}"):
                return record.quota_family, record.vcpus
        for each in self._skus:
            if str(each.get("name", "")).lower() == name.lower():
                cores = {said["name"]: said["value"] for said in each.get("capabilities") or []}.get("vCPUs")
                if cores is not None:
                    return str(each.get("family", "")), int(cores)
        raise ArmError(f"{name}: cores of this size are not known, and a pool of the Batch account runs it")

    @cached_property
    def _skus(self) -> list[dict[str, Any]]:
        skus = self._arm.listed(
            f"{_COMPUTE}/skus",
            "Microsoft.Compute/skus/read",
            api_version=_SKUS_VERSION,
            filter=f"location eq '{self._region}'",
        )
        return [each for each in skus if each.get("resourceType") == "virtualMachines"]

    @cached_property
    def _usages(self) -> list[dict[str, Any]]:
        return self._arm.listed(
            f"{_COMPUTE}/locations/{self._region}/usages",
            "Microsoft.Compute/locations/usages/read",
            api_version=_USAGES_VERSION,
        )

    @cached_property
    def _batch_accounts(self) -> list[dict[str, Any]]:
        return self._arm.listed(_BATCH, "Microsoft.Batch/batchAccounts/read", api_version=_BATCH_VERSION)

    def _is_here(self, place: dict[str, Any]) -> bool:
        return str(place.get("location", "")).lower() == self._region

    @staticmethod
    def _restriction(said: dict[str, Any]) -> tuple[str, str, tuple[str, ...]]:
        zones = (said.get("restrictionInfo") or {}).get("zones") or []
        return str(said.get("type")), str(said.get("reasonCode")), tuple(str(zone) for zone in zones)


def _list(properties: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return properties.get(name) or []
