"""What an Azure environment costs: every resource of it, each counted once, by prices of its region."""

from typing import Any

import pytest

from gpufleet.catalog import azure
from gpufleet.cost.estimate import Estimate, estimate
from gpufleet.cost.line_item import FIGURES, LineItem
from gpufleet.cost.usage_assumptions import UsageAssumptions
from tests.policies.azure_environment import Resources, azure_environment
from tests.policies.raw_program import plan_from

AKS = "azure-native:containerservice:ManagedCluster"


def of(resources: Resources, usage: UsageAssumptions | None = None) -> Estimate:
    return estimate(plan_from(resources, region=None), usage)


def changed(name: str, **inputs: Any) -> Resources:
    """The environment with some inputs of one resource in place of its own; None takes one away."""
    resources = azure_environment()
    resources[name]["inputs"] |= inputs
    return resources


def lines(found: Estimate) -> dict[str, LineItem]:
    named = [(f"{pool}: {line.what}" if pool else line.what, line) for pool, line in found.lines]
    assert len(dict(named)) == len(named)
    return dict(named)


def months(line: LineItem) -> list[float | None]:
    return [None if (month := line.month(figure)) is None else round(month, 2) for figure in FIGURES]


def test_every_resource_is_priced_or_known_to_be_free() -> None:
    found = of(azure_environment())
    assert (found.unknowns, found.not_priced) == ([], {})
    assert all(line.price.source and line.price.as_of for _, line in found.lines)


def test_lines_by_hand() -> None:
    # USD of eastus: NC4as_T4_v3 0.526, NC24ads_A100_v4 3.673, D4s_v5 0.192, P10 19.71; 730 hours.
    by_hand = {
        "reserved: nodes: Standard_NC4as_T4_v3": [0.0, 0.0, 383.98],  # one node beside the two reserved ones
        "reserved: disk (Premium_LRS, 128 GiB)": [0.0, 0.0, 59.13],
        "ring: nodes: Standard_NC4as_T4_v3": [0.0, 0.0, 0.0],
        "ring: disk (Premium_LRS, 128 GiB)": [0.0, 0.0, 0.0],
        "spot: nodes: Standard_NC4as_T4_v3": [0.0, 0.0, 3839.8],  # 10 x 730 x 0.526, of max in the formula
        "spot: disk (Premium_LRS, 128 GiB)": [0.0, 0.0, 197.1],
        "trainers: nodes: Standard_NC24ads_A100_v4": [0.0, 0.0, 5362.58],
        "trainers: disk (Premium_LRS, 128 GiB)": [0.0, 0.0, 39.42],
        "cluster: nodes: Standard_D4s_v5": [140.16, 140.16, 420.48],
        "cluster: disk (Premium_LRS, 128 GiB)": [19.71, 19.71, 59.13],
        "AKS control plane": [73.0, 73.0, 73.0],
        "NAT gateway": [32.85, 32.85, 32.85],
        "container images beyond 100 GB (ACR)": [0.0, 0.0, 0.0],
        "container registry (ACR Standard)": [20.29, 20.29, 20.29],
        "data through NAT gateways": [0.0, 13.5, 13.5],
        "data through private endpoints": [0.0, 1.0, 1.0],
        "objects (Blob)": [10.4, 10.4, 10.4],
        "private DNS zone": [0.5, 0.5, 0.5],
        "private endpoint": [7.3, 7.3, 7.3],
        "public IPv4 address": [3.65, 3.65, 3.65],
        "reserved Standard_NC4as_T4_v3": [767.96, 767.96, 767.96],  # 2 x 730 x 0.526, whether used or not
        "shared files (Azure Files)": [6.0, 6.0, 6.0],  # 100 GiB, which is all that the share may hold
    }
    assert {what: months(line) for what, line in lines(of(azure_environment())).items()} == by_hand


def test_a_region_without_prices_is_unknown_and_not_free() -> None:
    elsewhere = changed("group", location="qatarcentral")
    unknown = {line.what for _, line in of(elsewhere).lines if line.unknown}
    assert {"AKS control plane", "NAT gateway", "container registry (ACR Standard)", "objects (Blob)"} <= unknown
    assert "nodes: Standard_NC4as_T4_v3" in unknown


def test_a_capacity_reservation_is_paid_without_a_pool_and_gated() -> None:
    alone = {name: each for name, each in azure_environment().items() if name != "reserved"}
    found = of(alone)
    assert months(lines(found)["reserved Standard_NC4as_T4_v3"]) == [767.96] * 3
    assert found.gated.month == pytest.approx(found.totals["ceiling"].month)


def test_a_reservation_bought_elsewhere_is_paid_and_not_gated() -> None:
    group = "/subscriptions/s/resourceGroups/r/providers/Microsoft.Compute/capacityReservationGroups/g"
    found = of(changed("reserved", capacityReservationGroupID=group))
    line = lines(found)["reserved: nodes: Standard_NC4as_T4_v3"]
    assert line.committed
    assert months(line) == [1151.94] * 3  # 3 x 730 x 0.526
    assert found.totals["ceiling"].month - found.gated.month == pytest.approx(1151.94)


def test_two_pools_share_a_reservation_once() -> None:
    resources = azure_environment()
    resources["second"] = {**resources["reserved"], "inputs": {**resources["reserved"]["inputs"], "maxCount": 1}}
    found = lines(of(resources))
    assert months(found["reserved: nodes: Standard_NC4as_T4_v3"])[2] == 383.98
    assert months(found["second: nodes: Standard_NC4as_T4_v3"])[2] == 383.98


def test_a_reservation_of_another_size_pays_for_nothing_of_a_pool() -> None:
    found = of(changed("capacity", sku={"name": "Standard_NC8as_T4_v3", "capacity": 2}))
    assert lines(found)["reserved: nodes: Standard_NC4as_T4_v3"].committed


def test_an_unknown_number_of_reserved_nodes_is_unknown() -> None:
    resources = changed("capacity", sku={"name": "Standard_NC4as_T4_v3", "capacity": "${r.result}"})
    found = lines(of(resources | {"r": {"type": "random:index/randomInteger:RandomInteger"}}))
    assert months(found["reserved: nodes: Standard_NC4as_T4_v3"]) == [None] * 3
    assert months(found["reserved Standard_NC4as_T4_v3"]) == [None] * 3


def test_deallocated_nodes_keep_their_disks() -> None:
    usage = UsageAssumptions(busy_nodes=(("trainers", 1),))
    disk = "trainers: disk (Premium_LRS, 128 GiB)"
    assert months(lines(of(azure_environment(), usage))[disk]) == [0.0, 4.32, 39.42]  # 160 of 730 hours
    kept = of(changed("trainers", scaleDownMode="Deallocate"), usage)
    assert months(lines(kept)[disk]) == [0.0, 19.71, 39.42]
    assert months(lines(kept)["trainers: nodes: Standard_NC24ads_A100_v4"])[1] == 587.68


def test_nodes_with_public_addresses_pay_for_them() -> None:
    found = lines(of(changed("trainers", enableNodePublicIP=True)))
    assert months(found["trainers: public IPv4 address of each node"]) == [0.0, 0.0, 7.3]


@pytest.mark.parametrize(
    ("profile", "whats"),
    [
        (None, {"load balancer that AKS makes", "public IPv4 address that AKS makes"}),
        ({"outboundType": "loadBalancer"}, {"load balancer that AKS makes", "public IPv4 address that AKS makes"}),
        ({"outboundType": "managedNATGateway"}, {"NAT gateway that AKS makes", "public IPv4 address that AKS makes"}),
        ({"outboundType": "userAssignedNATGateway"}, set()),
        ({"outboundType": "userDefinedRouting"}, set()),
    ],
)
def test_what_aks_makes_for_the_way_out(profile: object, whats: set[str]) -> None:
    found = of(changed("cluster", networkProfile=profile))
    assert {what for what in lines(found) if "AKS makes" in what and "data" not in what} == whats
    assert found.unknowns == []


def test_data_on_the_way_out_is_counted_once() -> None:
    found = lines(of(changed("cluster", networkProfile={"outboundType": "loadBalancer"})))
    out = [found["data through NAT gateways"], found["data through the load balancer that AKS makes"]]
    assert [line.amounts.steady for line in out] == [150.0, 150.0]


def test_a_private_cluster_has_an_endpoint_and_a_zone() -> None:
    found = lines(of(changed("cluster", apiServerAccessProfile={"enablePrivateCluster": True})))
    assert months(found["private endpoint of the control plane"]) == [7.3] * 3
    assert months(found["private DNS zone that AKS makes"]) == [0.5] * 3
    inside = {"enablePrivateCluster": True, "enableVnetIntegration": True, "privateDNSZone": "none"}
    found = lines(of(changed("cluster", apiServerAccessProfile=inside)))
    assert not {"private endpoint of the control plane", "private DNS zone that AKS makes"} & set(found)


@pytest.mark.parametrize(
    ("tier", "what"),
    [("Free", None), ("Standard", "AKS control plane"), ("Premium", "AKS control plane, long-term support")],
)
def test_a_control_plane_costs_by_its_tier(tier: str, what: str | None) -> None:
    found = lines(of(changed("cluster", sku={"name": "Base", "tier": tier})))
    assert {each for each in found if each.startswith("AKS control")} == ({what} if what else set())


def test_an_automatic_control_plane_has_no_price_and_says_so() -> None:
    found = of(changed("cluster", sku={"name": "Automatic", "tier": "Standard"}))
    assert found.unknowns == ["cluster: AKS control plane, automatic: no price of aks cluster-automatic in eastus"]


@pytest.mark.parametrize(
    ("inputs", "what", "usd"),
    [
        ({"sku": {"name": "Standard_LRS"}}, "objects (Blob)", 0.0208),
        ({"sku": {"name": "Standard_LRS"}, "accessTier": "Hot"}, "objects (Blob)", 0.0208),
        ({"sku": {"name": "Standard_LRS"}, "accessTier": "Cool"}, "objects (Blob, cool, Standard_LRS)", None),
        ({"sku": {"name": "Standard_ZRS"}}, "objects (Blob, zone-redundant)", None),
        ({"sku": {"name": "Standard_GRS"}}, "objects (Blob, Standard_GRS)", None),
        ({"sku": {"name": "Premium_LRS"}, "kind": "BlockBlobStorage"}, "objects (Blob, Premium_LRS)", None),
    ],
)
def test_objects_cost_by_redundancy_and_access(inputs: dict[str, Any], what: str, usd: float | None) -> None:
    found = [line for _, line in of(changed("data", **inputs)).lines if line.what.startswith("objects")]
    assert [(line.what, line.price.usd) for line in found] == [(what, usd)]


@pytest.mark.parametrize(
    ("sku", "tier", "usd"),
    [
        ("Standard_LRS", "TransactionOptimized", 0.06),
        ("Standard_ZRS", "TransactionOptimized", 0.075),
        ("Standard_RAGRS", "TransactionOptimized", 0.1),
        ("Standard_LRS", "Hot", 0.0287),
        ("Standard_GZRS", "Hot", 0.0647),
        ("Standard_LRS", "Cool", 0.0228),
        ("StandardV2_LRS", "TransactionOptimized", None),
    ],
)
def test_shares_cost_by_tier_and_redundancy(sku: str, tier: str, usd: float | None) -> None:
    resources = changed("data", sku={"name": sku})
    resources["logs"]["inputs"]["accessTier"] = tier
    found = [line for _, line in of(resources).lines if line.what.startswith("shared files")]
    assert [line.price.usd for line in found] == [usd]


def test_a_share_without_a_quota_holds_what_is_assumed() -> None:
    resources = azure_environment()
    del resources["logs"]["inputs"]["shareQuota"]
    assert months(lines(of(resources))["shared files (Azure Files)"]) == [30.0] * 3
    few = azure_environment()
    assert months(lines(of(few, UsageAssumptions(files_gib=50)))["shared files (Azure Files)"]) == [3.0] * 3


def test_a_share_in_an_account_of_somewhere_else_is_unknown() -> None:
    everything = azure_environment()
    resources = {"group": everything["group"], "logs": everything["logs"]}
    resources["logs"]["inputs"]["accountName"] = "theirs"
    found = [line for _, line in of(resources).lines if line.what.startswith("shared files")]
    assert [line.unknown for line in found] == [True]


def test_prices_of_no_region_are_the_same_in_every_region() -> None:
    for item in (
        "private-endpoint",
        "private-endpoint-data",
        "load-balancer",
        "load-balancer-data",
        "private-dns-zone",
    ):
        prices = {record.usd for key, record in azure().service_prices.items() if key[:2] == ("network", item)}
        assert len(prices) == 1, item
