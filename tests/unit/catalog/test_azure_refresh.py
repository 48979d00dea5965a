"""Azure's part of a refresh, against both services on loopback with answers as they were recorded."""

import json
from datetime import date
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import pytest
from azure.core.exceptions import ClientAuthenticationError

from gpufleet.catalog import azure
from gpufleet.catalog.refresh import DownloadError, Downloads, refresh
from gpufleet.catalog.refresh import azure_management as management_module
from gpufleet.catalog.refresh.azure import fetch
from tests.tools.fake_service import serving

TODAY = date(2026, 12, 1)
H100, H200, GB200 = "Standard_ND96isr_H100_v5", "Standard_ND96isr_H200_v5", "Standard_ND128isr_NDR_GB200_v6"
A100, T4, GENERAL = "Standard_NC24ads_A100_v4", "Standard_NC4as_T4_v3", "Standard_D4s_v5"
PRICES, SKUS, SUBSCRIPTIONS = (
    "/api/retail/prices",
    "/subscriptions/sub-1/providers/Microsoft.Compute/skus",
    "/subscriptions",
)


def meter(name, usd, product="Series", suffix="", region="eastus2", **changes):
    return {
        "currencyCode": "USD",
        "tierMinimumUnits": 0.0,
        "retailPrice": usd,
        "armRegionName": region,
        "effectiveStartDate": "2025-04-01T00:00:00Z",
        "meterName": f"{name.removeprefix('Standard_')}{suffix}",
        "productName": f"Virtual Machines {product}",
        "serviceName": "Virtual Machines",
        "unitOfMeasure": "1 Hour",
        "type": "Consumption",
        "isPrimaryMeterRegion": True,
        "armSkuName": name,
        **changes,
    }


FIRST = [
    meter(H100, 99.5),
    meter(H100, 102.736, "Series Windows"),
    meter(H100, 19.664, suffix=" Low Priority"),
    meter(H100, 18.169536, suffix=" Spot"),
    meter(H100, 99.5),
]
SECOND = [meter(H200, 84.8), meter(H200, 84.8, suffix=" Spot"), meter(A100, 3.673), meter(GENERAL, 0.2)]


@pytest.fixture
def service(monkeypatch):
    monkeypatch.delenv("AZURE_SUBSCRIPTION_ID", raising=False)
    with serving() as server:
        following = f"{server.address}{PRICES}?page=2"
        server.answers[PRICES] = [server.page(FIRST, following), server.page(SECOND)]
        yield server


class NoCredential:
    def get_token(self, *_, **__):
        raise ClientAuthenticationError("tried\neverything")


class SomeCredential:
    def get_token(self, *_, **__):
        return SimpleNamespace(token="a-token", expires_on=2_000_000_000)


def asked_for_machines(service):
    return [path for path in service.asked if "Virtual%20Machines" in path or "page=2" in path]


def fetched(service, regions=("eastus2",), credential=None, current=None):
    return fetch(
        current or azure(),
        regions,
        Downloads(backoff_seconds=0, attempts=3),
        TODAY,
        prices=f"{service.address}{PRICES}",
        management=service.address,
        credential=credential or NoCredential(),
    )


def prices_in(files, region="eastus2"):
    return {each.type: each.usd_per_hour for each in files["prices.json"] if each.region == region}


def test_both_pages_are_read_and_the_region_is_asked_for(service):
    files = fetched(service).files
    found = prices_in(files)
    assert (found[H100], found[H200], found[A100]) == (99.5, 84.8, 3.673)
    assert len(asked_for_machines(service)) == 2
    asked = parse_qs(urlsplit(service.asked[0]).query)["$filter"]
    assert asked == ["serviceName eq 'Virtual Machines' and priceType eq 'Consumption' and armRegionName eq 'eastus2'"]
    assert set(service.tokens) == {None}


def test_records_say_where_and_when_and_other_regions_stay(service):
    files = fetched(service).files
    record = next(each for each in files["prices.json"] if (each.type, each.region) == (H100, "eastus2"))
    assert (record.source, record.as_of) == ("https://prices.azure.com/api/retail/prices", "2026-12-01")
    for region in ("eastus", "westus"):
        assert prices_in(files, region) == {
            key[0]: price.usd_per_hour for key, price in azure().prices.items() if key[1] == region
        }


def test_a_missing_meter_is_an_unknown_price_unless_the_size_is_retired(service):
    """The price of a current size that is no longer listed is not today's price."""
    assert azure().price(GB200, "eastus2") == 108.16
    assert azure().price("Standard_NC6s_v3", "eastus2") == 3.06
    found = prices_in(fetched(service).files)
    assert GB200 not in found
    assert found["Standard_NC6s_v3"] == 3.06


def test_spot_is_a_range_of_its_own_and_never_the_on_demand_price(service):
    spot = fetched(service).files["spot_prices.json"]
    assert [(each.type, each.usd_low, each.usd_high) for each in spot if each.region == "eastus2"] == [
        (H100, 18.169536, 18.169536)
    ]
    assert all(each.market == "on-demand" for each in fetched(service).files["prices.json"])


def test_machines_without_gpu_are_read_along(service):
    services = {(each.item, each.region): each.usd for each in fetched(service).files["service_prices.json"]}
    assert services[GENERAL, "eastus2"] == 0.2
    assert services[GENERAL, "eastus"] == 0.192
    assert ("Standard_D2s_v5", "eastus2") not in services
    assert services["nat-gateway", "eastus"] == 0.045


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_service_is_asked_again(service, status):
    service.answers[PRICES].insert(0, (status, {}, {"Retry-After": "0"}))
    assert prices_in(fetched(service).files)[H100] == 99.5
    assert len(asked_for_machines(service)) == 3


def test_an_answer_cut_short_is_asked_for_again(service):
    whole = json.dumps(service.page(FIRST)[1]).encode()
    service.answers[PRICES].insert(0, (200, whole[:50], {"Content-Length": str(len(whole)), "Connection": "close"}))
    assert prices_in(fetched(service).files)[H200] == 84.8
    assert len(asked_for_machines(service)) == 3


def refused(service, answers, **arguments):
    service.answers[PRICES] = answers
    with pytest.raises(DownloadError) as error:
        fetched(service, **arguments)
    return str(error.value).replace(service.address, "SERVICE").partition(": ")[2]


def test_what_is_no_price_list_is_one_line(service):
    assert refused(service, [(503, {}, {})]).startswith("cannot be read in 3 attempts: ")
    assert refused(service, [(200, b'{"Items": [', {})]).startswith("the answer: line 1: is not JSON: ")
    assert refused(service, [(200, {"error": "gone"}, {})]) == "the answer is not a price list"
    assert refused(service, [(200, [], {})]) == "the answer is not a price list"
    assert refused(service, [service.page([])]) == "no virtual machines are listed for eastus2; is it an Azure region?"


def test_links_that_lead_away_or_in_a_circle_are_not_followed(service):
    away = "https://example.com/api/retail/prices?page=2"
    assert refused(service, [service.page(FIRST, away)]) == f"the next page is on another server: {away}"
    again = f"{service.address}{PRICES}?page=2"
    line = refused(service, [service.page(FIRST, again), service.page(SECOND, again)])
    assert line == f"the next page is one that was read before: SERVICE{PRICES}?page=2"


def test_a_price_that_the_list_contradicts_is_unknown_and_said(service):
    service.answers[PRICES] = [service.page([meter(H100, 98.32), meter(H100, 77.0)])]
    found = fetched(service)
    assert prices_in(found.files)[H100] is None
    assert f"eastus2: {H100} is listed with several prices (77, 98.32 USD), so none is used" in found.notes


def test_without_credentials_only_prices_are_read_and_one_line_says_so(service):
    found = fetched(service)
    assert set(found.files) == {"prices.json", "spot_prices.json", "service_prices.json"}
    assert found.notes == [
        "prices only; zones, offers and hardware stay as they were: no Azure credentials "
        "(`az login`, or AZURE_CLIENT_ID and the like, gives some)"
    ]


def sku(name, zones, family="standardNDSH100v5Family", restrictions=(), kind="virtualMachines", **capabilities):
    return {
        "resourceType": kind,
        "name": name,
        "family": family,
        "locations": ["eastus2"],
        "locationInfo": [{"location": "eastus2", "zones": list(zones)}, {"location": "westus", "zones": ["9"]}],
        "restrictions": list(restrictions),
        "capabilities": [{"name": key, "value": value} for key, value in capabilities.items()],
    }


def restriction(kind, *zones):
    return {
        "type": kind,
        "values": ["eastus2"],
        "restrictionInfo": {"locations": ["eastus2"], "zones": list(zones)},
        "reasonCode": "NotAvailableForSubscription",
    }


LISTED = [
    sku(H100, "213", vCPUs="96", MemoryGB="1900", GPUs="8"),
    sku(H200, "12", "standardNDISRH200V5Family", [restriction("Zone", "2")], GPUs="8"),
    sku(A100, "1", "StandardNCADSA100v4Family", [restriction("Location")], vCPUs="24", GPUs="1"),
    sku(T4, "", "Standard NCASv3_T4 Family", vCPUs="4", GPUs="1"),
    sku(GENERAL, "1234", "standardDSv5Family", vCPUs="4"),
    sku("Premium_LRS", "5", kind="disks"),
]


@pytest.fixture
def account(service):
    service.answers[SUBSCRIPTIONS] = [(200, {"value": [{"subscriptionId": "sub-1"}]}, {})]
    following = f"{service.address}{SKUS}?page=2"
    service.answers[SKUS] = [
        (200, {"value": LISTED[:2], "nextLink": following}, {}),
        (200, {"value": LISTED[2:]}, {}),
    ]
    return service


def zones_in(files, region="eastus2"):
    return {each.type: each.zone_ids for each in files["zone_offers.json"] if each.region == region}


def test_zones_are_those_that_the_subscription_may_use(account):
    found = fetched(account, credential=SomeCredential())
    zones = zones_in(found.files)
    assert zones[H100] == ("eastus2-1", "eastus2-2", "eastus2-3")
    assert zones[H200] == ("eastus2-1",)
    assert zones[A100] == ()
    assert T4 not in zones  # sold there, but in no zone of its own: nothing is known
    assert zones["Standard_NC6"] == ()  # not on the list at all
    assert GENERAL not in zones
    assert found.notes == []
    offer = next(each for each in found.files["zone_offers.json"] if each.type == H100)
    assert offer.source == "ResourceSkus of Microsoft.Compute, as subscription sub-1 sees it"


def test_the_query_names_version_and_region_with_the_token(account):
    fetched(account, credential=SomeCredential())
    asked = next(path for path in account.asked if path.startswith(SKUS))
    assert parse_qs(urlsplit(asked).query) == {"api-version": ["2021-07-01"], "$filter": ["location eq 'eastus2'"]}
    tokens = {token for path, token in zip(account.asked, account.tokens, strict=True) if not path.startswith(PRICES)}
    assert tokens == {"Bearer a-token"}
    assert set(account.tokens[:2]) == {None}


def test_a_new_zone_of_any_machine_is_added_but_none_of_a_disk(account):
    zones = {each.zone_id for each in fetched(account, credential=SomeCredential()).files["zones.json"]}
    assert "eastus2-4" in zones
    assert "eastus2-5" not in zones
    assert "eastus2-9" not in zones


def test_hardware_that_differs_is_taken_with_its_source_and_the_rest_stays(account):
    account.answers[SKUS] = [
        (200, {"value": [sku(H100, "1", "standardNewFamily", vCPUs="100", MemoryGB="218.75", GPUs="8")]}, {})
    ]
    files = fetched(account, credential=SomeCredential()).files
    sizes = {each.type: each for each in files["instance_types.json"]}
    new, old = sizes[H100], azure().types[H100]
    assert (new.vcpus, new.memory_gib, new.gpus, new.quota_family) == (100, 1900, 8, "standardNewFamily")
    assert (new.as_of, new.infiniband, new.note) == ("2026-12-01", old.infiniband, old.note)
    assert sizes[H200] == azure().types[H200]
    codes = {(each.family, each.market): each.code for each in files["quotas.json"]}
    assert (codes["standardNewFamily", "on-demand"], codes["standardNewFamily", "spot"]) == (
        "standardNewFamily",
        "lowPriorityCores",
    )


def test_what_the_catalog_lacks_is_said(account):
    account.answers[SKUS] = [
        (
            200,
            {
                "value": [
                    sku("Standard_ND200_B900_v9", "1", GPUs="8"),
                    sku("Standard_NV6ads_A10_v5", "1", GPUs="0.167"),
                    sku(H100, "1", GPUs="8", RetirementDateUtc="12/01/2026"),
                    sku(H200, "1", "standardNDISRH200V5Family", GPUs="8", RetirementDateUtc="12/02/2026"),
                    sku("Standard_NC6", "1", "standardNCFamily", RetirementDateUtc="09/06/2023"),
                ]
            },
            {},
        )
    ]
    assert fetched(account, credential=SomeCredential()).notes == [
        "eastus2: GPU sizes that the catalog does not have: Standard_ND200_B900_v9",
        f"eastus2: {H100} is retired since 2026-12-01, which the catalog does not say",
    ]


def test_a_chosen_subscription_is_not_looked_for(account, monkeypatch):
    monkeypatch.setenv("AZURE_SUBSCRIPTION_ID", "sub-1")
    assert H100 in zones_in(fetched(account, credential=SomeCredential()).files)
    assert not [path for path in account.asked if path.startswith("/subscriptions?")]


def note(account):
    found = fetched(account, credential=SomeCredential())
    assert set(found.files) == {"prices.json", "spot_prices.json", "service_prices.json"}
    assert len(found.notes) == 1
    return found.notes[0].removeprefix("prices only; zones, offers and hardware stay as they were: ")


@pytest.mark.parametrize(
    ("subscriptions", "line"),
    [
        ([], "the credentials reach no subscription; set AZURE_SUBSCRIPTION_ID"),
        (["a", "b"], "the credentials reach 2 subscriptions; set AZURE_SUBSCRIPTION_ID"),
    ],
)
def test_no_subscription_or_several_is_a_note(account, subscriptions, line):
    account.answers[SUBSCRIPTIONS] = [(200, {"value": [{"subscriptionId": each} for each in subscriptions]}, {})]
    assert note(account) == line


def test_a_refusal_of_the_service_is_a_note_in_its_words(account):
    error = {"error": {"code": "AuthorizationFailed", "message": "The client has no\nauthorization."}}
    account.answers[SKUS] = [(403, error, {})]
    assert note(account) == f"{account.address}{SKUS}: 403 AuthorizationFailed: The client has no authorization."


def test_links_of_the_management_service_do_not_lead_the_token_away(account):
    account.answers[SKUS] = [(200, {"value": [], "nextLink": "https://example.com/skus"}, {})]
    assert note(account) == "Azure Resource Manager names a next page on another server: https://example.com/skus"


def test_a_busy_management_service_is_asked_again(account):
    account.answers[SKUS].insert(0, (429, {}, {"Retry-After": "0"}))
    assert H100 in zones_in(fetched(account, credential=SomeCredential()).files)


def test_a_management_service_that_stays_busy_is_a_note(account, monkeypatch):
    monkeypatch.setattr(management_module, "TRIES", 2)
    account.answers[SKUS] = [(503, {}, {"Retry-After": "0"})]
    assert note(account) == f"{account.address}{SKUS}: the answer is not what Azure Resource Manager gives (status 503)"


def test_the_whole_refresh_writes_files_that_hold_and_says_what_changed(account, tmp_path):
    def fetch_here(current, regions, downloads, today):
        return fetched(account, regions, SomeCredential(), current)

    outcome = refresh(azure(), fetch_here, ["eastus2"], tmp_path / "azure", Downloads(), TODAY)
    assert f"  {H100} eastus2 on-demand: 98.32 USD -> 99.5 USD" in outcome.lines()
    written = type(azure())(azure().folder, azure().kind, tmp_path / "azure")
    written.check()
    assert written.zones_with(H200, "eastus2") == ("eastus2-1",)
    assert written.offered(H200, "eastus2-2") is False
    assert written.zones_with(H200, "eastus") is None
    assert written.price(H100, "eastus2") == 99.5
