"""What an Azure subscription is asked, and what its answers mean; recorded-style answers, by HTTP."""

import pytest

from gpufleet.preflight.azure.account import AzureAccount
from gpufleet.preflight.azure.arm import ArmError
from gpufleet.preflight.azure.facts import BatchAccountQuota, QuotaUsage, SubscriptionSku

BELOW = "/subscriptions/00000000-0000-0000-0000-000000000001"
SKUS = f"{BELOW}/providers/Microsoft.Compute/skus"
USAGES = f"{BELOW}/providers/Microsoft.Compute/locations/eastus/usages"
ACCOUNTS = f"{BELOW}/providers/Microsoft.Batch/batchAccounts"
TRAIN = f"{BELOW}/resourceGroups/ml/providers/Microsoft.Batch/batchAccounts/train"


@pytest.fixture
def account(arm):
    return AzureAccount("East US", arm, ["mine"])


def sku(name="Standard_NC6", zones=("2", "1"), restrictions=(), **more):
    places = [{"location": "eastus", "zones": list(zones)}, {"location": "westus", "zones": ["9"]}]
    return {
        "resourceType": "virtualMachines",
        "name": name,
        "family": "standardNCFamily",
        "locationInfo": places,
        "restrictions": list(restrictions),
    } | more


def restriction(kind, zones=()):
    info = {"locations": ["eastus"], "zones": list(zones)}
    return {
        "type": kind,
        "values": ["eastus"],
        "restrictionInfo": info,
        "reasonCode": "NotAvailableForSubscription",
    }


def test_sizes_over_all_pages(azure, account):
    closed = [restriction("Zone", ["2"]), restriction("Location")]
    azure.says(
        SKUS,
        {"value": [sku("Standard_ND96asr_v4")], "nextLink": f"{azure.base}{SKUS}?page=2"},
        {"value": [sku(restrictions=closed), {"resourceType": "disks", "name": "Standard_NC24"}]},
    )
    assert account.sku("standard_nc6") == SubscriptionSku(
        ("1", "2"),
        (("Zone", "NotAvailableForSubscription", ("2",)), ("Location", "NotAvailableForSubscription", ())),
    )
    assert account.sku("Standard_ND96asr_v4") == SubscriptionSku(("1", "2"), ())
    assert account.sku("Standard_NC24") is None
    first, second = azure.asked
    assert first[1:] == ({"api-version": ["2021-07-01"], "$filter": ["location eq 'eastus'"]}, "Bearer secret")
    assert second[1:] == ({"page": ["2"]}, "Bearer secret")


def usage(name, current, limit):
    return {"unit": "Count", "currentValue": current, "limit": limit, "name": {"value": name, "localizedValue": name}}


def test_usages_are_found_whatever_the_spelling_of_a_family(azure, account):
    azure.says(
        USAGES,
        {
            "value": [
                usage("cores", 10, 100),
                usage("lowPriorityCores", 6, 24),
                usage("StandardNCFamily", 12, 24),
                usage("Standard NDASv4_A100 Family", 0, 96),
            ]
        },
    )
    assert account.usage("standardNCFamily", "on-demand") == QuotaUsage(24, 12)
    assert account.usage("standardNDASv4_A100Family", "on-demand") == QuotaUsage(96, 0)
    assert account.usage("all", "on-demand") == QuotaUsage(100, 10)
    assert account.usage("all", "spot") == QuotaUsage(24, 6)
    assert account.usage("standardNVFamily", "on-demand") is None
    assert len(azure.asked) == 1


def batch_account(**properties):
    return {"value": [{"id": TRAIN, "name": "train", "properties": properties}]}


def batch_pool(name, size, dedicated=0, low=0):
    return {
        "name": name,
        "properties": {"vmSize": size, "currentDedicatedNodes": dedicated, "currentLowPriorityNodes": low},
    }


def test_a_batch_account_has_quotas_of_its_own(azure, account):
    families = [{"name": "StandardNCFamily", "coreQuota": 24}]
    azure.says(
        ACCOUNTS,
        batch_account(
            poolAllocationMode="BatchService",
            dedicatedCoreQuota=100,
            lowPriorityCoreQuota=12,
            dedicatedCoreQuotaPerVMFamilyEnforced=True,
            dedicatedCoreQuotaPerVMFamily=families,
        ),
    )
    pools = [batch_pool("theirs", "STANDARD_NC6", 2, 1), batch_pool("mine4f2a", "standard_nc6", 9)]
    azure.says(f"{TRAIN}/pools", {"value": pools})
    used = {
        ("standardncfamily", "on-demand"): 12,
        ("all", "on-demand"): 12,
        ("standardncfamily", "spot"): 6,
        ("all", "spot"): 6,
    }
    assert account.batch("Train") == BatchAccountQuota(True, 100, 12, {"standardncfamily": 24}, used)
    assert account.batch("other") is None


def test_families_that_are_not_limited_apart(azure, account):
    azure.says(ACCOUNTS, batch_account(dedicatedCoreQuota=100, dedicatedCoreQuotaPerVMFamilyEnforced=False))
    azure.says(f"{TRAIN}/pools", {"value": []})
    assert account.batch("train") == BatchAccountQuota(True, 100, None, None, {})


def test_an_account_that_allocates_in_the_subscription_has_no_quota(azure, account):
    azure.says(ACCOUNTS, batch_account(poolAllocationMode="UserSubscription"))
    assert account.batch("train") == BatchAccountQuota(False, None, None, None, {})


def test_sizes_that_the_catalog_does_not_know_come_from_the_subscription(azure, account):
    azure.says(ACCOUNTS, batch_account(dedicatedCoreQuota=100))
    azure.says(f"{TRAIN}/pools", {"value": [batch_pool("theirs", "standard_d4s_v5", 3)]})
    capabilities = [{"name": "vCPUs", "value": "4"}]
    azure.says(SKUS, {"value": [sku("Standard_D4s_v5", family="standardDSv5Family", capabilities=capabilities)]})
    assert account.batch("train").used == {("standarddsv5family", "on-demand"): 12, ("all", "on-demand"): 12}


def test_a_size_of_unknown_cores_is_not_counted_as_nothing(azure, account):
    azure.says(ACCOUNTS, batch_account(dedicatedCoreQuota=100))
    azure.says(f"{TRAIN}/pools", {"value": [batch_pool("theirs", "standard_x1", 3)]})
    azure.says(SKUS, {"value": []})
    with pytest.raises(ArmError, match=r"^standard_x1: cores of this size are not known"):
        account.batch("train")


HUB = "/subscriptions/00000000-0000-0000-0000-000000000002/resourceGroups/hub/providers/Microsoft.Network"
SUBNET = f"{HUB}/virtualNetworks/spoke/subnets/nodes"


def read(azure, path, **properties):
    azure.says(f"{HUB}/{path}", {"properties": properties})


def test_the_way_out_of_a_subnet_is_its_nat_gateways_addresses(azure, account):
    read(azure, "virtualNetworks/spoke/subnets/nodes", natGateway={"id": f"{HUB}/natGateways/out"})
    read(
        azure,
        "natGateways/out",
        publicIpAddresses=[{"id": f"{HUB}/publicIPAddresses/a"}, {"id": f"{HUB}/publicIPAddresses/idle"}],
        publicIpPrefixes=[{"id": f"{HUB}/publicIPPrefixes/p"}],
    )
    read(azure, "publicIPAddresses/a", ipAddress="20.1.2.3")
    read(azure, "publicIPAddresses/idle")
    read(azure, "publicIPPrefixes/p", ipPrefix="20.1.4.0/30")
    assert account.outbound_addresses(SUBNET) == ["20.1.2.3/32", "20.1.4.0/30"]
    assert azure.asked[0] == (SUBNET, {"api-version": ["2024-05-01"]}, "Bearer secret")


def test_a_subnet_without_a_gateway_has_no_way_out_of_its_own(azure, account):
    read(azure, "virtualNetworks/spoke/subnets/nodes", addressPrefix="10.0.0.0/20")
    assert list(account.outbound_addresses(SUBNET)) == []


def test_a_subnet_that_may_not_be_read_is_one_line(azure, account):
    denied = {"error": {"code": "AuthorizationFailed", "message": "no"}}
    azure.says(SUBNET, (403, {}, denied))
    with pytest.raises(ArmError) as error:
        account.outbound_addresses(SUBNET)
    assert str(error.value) == (
        "Microsoft.Network/virtualNetworks/subnets/read: denied by Azure; the role Reader on the subscription allows "
        "it (AuthorizationFailed: no)"
    )
