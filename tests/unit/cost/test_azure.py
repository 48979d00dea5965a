"""Estimates of raw Azure programs."""

from typing import Any

import pytest

from gpufleet.cost.estimate import Estimate, estimate
from gpufleet.cost.line_item import FIGURES, LineItem
from gpufleet.cost.usage_assumptions import UsageAssumptions
from tests.policies.raw_program import plan_from

GROUP = {"type": "azure-native:resources:ResourceGroup", "inputs": {"location": "East US", "resourceGroupName": "rg"}}
IN = {"resourceGroupName": "${rg.name}"}
OUT = {"networkProfile": {"outboundType": "userDefinedRouting"}}
"""A cluster that makes nothing for the way out."""


def of(resources: dict[str, Any], usage: UsageAssumptions | None = None) -> Estimate:
    return estimate(plan_from({"rg": GROUP} | resources, region=None), usage)


def line(found: Estimate, what: str) -> LineItem:
    lines = [each for _, each in found.lines if each.what == what]
    assert len(lines) == 1, [each.what for _, each in found.lines]
    return lines[0]


def months(found: LineItem) -> list[float]:
    return [round(found.month(figure) or -1.0, 2) for figure in FIGURES]


@pytest.mark.parametrize("version", ["", "/v20240901"])
@pytest.mark.parametrize(("tier", "whats"), [("Standard", ["AKS control plane"]), ("Free", [])])
def test_aks_costs_by_its_tier_in_any_api_version(version: str, tier: str, whats: list[str]) -> None:
    inputs = IN | OUT | {"sku": {"tier": tier}}
    cluster = {"type": f"azure-native:containerservice{version}:ManagedCluster", "inputs": inputs}
    found = of({"aks": cluster})
    assert [each.what for each in found.other_lines] == whats
    assert found.not_priced == {}


def test_managed_disk_is_billed_by_its_next_size() -> None:
    pool = {"vmSize": "Standard_NC24ads_A100_v4", "count": 1, "resourceName": "${aks.name}"}
    aks = {"type": "azure-native:containerservice:ManagedCluster", "inputs": IN | OUT | {"sku": {"tier": "Free"}}}
    agents = "azure-native:containerservice:AgentPool"
    small = of({"aks": aks, "gpu": {"type": agents, "inputs": pool | {"osDiskSizeGB": 100}}})
    assert months(line(small, "disk (Premium_LRS, 128 GiB)")) == [19.71] * 3
    ephemeral = of({"aks": aks, "gpu": {"type": agents, "inputs": pool | {"osDiskType": "Ephemeral"}}})
    assert [each.what for _, each in ephemeral.lines] == ["nodes: Standard_NC24ads_A100_v4"]


def test_provisioned_share_lies_where_its_account_does() -> None:
    account = IN | {"accountName": "files", "kind": "FileStorage", "sku": {"name": "Premium_LRS"}}
    found = of({
        "account": {"type": "azure-native:storage:StorageAccount", "inputs": account},
        "share": {"type": "azure-native:storage:FileShare", "inputs": {"accountName": "files", "shareQuota": 1024}},
    })  # fmt: skip
    assert [each.what for each in found.other_lines] == ["shared files (Azure Files, provisioned)"]
    assert months(found.other_lines[0]) == [163.84] * 3


def test_account_with_shares_only_keeps_no_objects() -> None:
    inputs = IN | {"accountName": "data", "kind": "StorageV2", "sku": {"name": "Standard_LRS"}}
    account = {"type": "azure-native:storage:StorageAccount", "inputs": inputs}
    share = {"type": "azure-native:storage:FileShare", "inputs": {"accountName": "${account.name}"}}
    container = {"type": "azure-native:storage:BlobContainer", "inputs": {"accountName": "${account.name}"}}
    assert months(line(of({"account": account}), "objects (Blob)")) == [10.4] * 3
    assert [each.what for each in of({"account": account, "s": share}).other_lines] == ["shared files (Azure Files)"]
    both = of({"account": account, "s": share, "c": container})
    assert [each.what for each in both.other_lines] == ["objects (Blob)", "shared files (Azure Files)"]


def test_registry_holds_some_for_nothing() -> None:
    registry = {"type": "azure-native:containerregistry:Registry", "inputs": IN | {"sku": {"name": "Basic"}}}
    found = of({"acr": registry}, UsageAssumptions(registry_gib=50))
    assert line(found, "container images beyond 10 GB (ACR)").amounts.floor == 40


def test_size_without_a_price_is_unknown() -> None:
    machine = {"type": "azure-native:compute:VirtualMachine",
               "inputs": IN | {"hardwareProfile": {"vmSize": "Standard_ND128isr_GB300_v6"}}}  # fmt: skip
    found = of({"vm": machine})
    assert not found.totals["floor"].complete
    assert line(found, "nodes: Standard_ND128isr_GB300_v6").month("ceiling") is None


@pytest.mark.parametrize(
    ("sku", "place", "usd"),
    [("125", "East US 2", 0.000198), ("500", "East US 2", 0.000466), ("40", "North Europe", 0.000114)],
)
def test_managed_lustre_costs_its_size_by_its_sku(sku: str, place: str, usd: float) -> None:
    name = f"AMLFS-Durable-Premium-{sku}"
    inputs = IN | {"location": place, "sku": {"name": name}, "storageCapacityTiB": 48}
    found = of({"lustre": {"type": "azure-native:storagecache:AmlFilesystem", "inputs": inputs}})
    assert months(line(found, f"Managed Lustre ({name})")) == [round(48 * 1024 * 730 * usd, 2)] * 3
