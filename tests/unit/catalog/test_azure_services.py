"""Azure's list of the services around a pool: rows as the list has them, and what is not taken for a price."""

from datetime import date
from urllib.parse import parse_qs, urlsplit

import pytest

from gpufleet.catalog import ServicePrice, azure
from gpufleet.catalog.refresh import Downloads
from gpufleet.catalog.refresh.azure_services import fetch_services, first_price, listed_meters
from tests.tools.fake_service import serving

TODAY = date(2026, 11, 21)
LIST = "/api/retail/prices"
SLA = next(meter for meter in listed_meters() if meter.item == "cluster-standard")


def row(meter=SLA, usd=0.1, **changes):
    return {
        "currencyCode": "USD",
        "tierMinimumUnits": 0.0,
        "retailPrice": usd,
        "armRegionName": "uksouth",
        "effectiveStartDate": "2023-04-01T00:00:00Z",
        "meterName": meter.meter,
        "productName": meter.product,
        "serviceName": meter.listed_service,
        "unitOfMeasure": meter.measure,
        "type": "Consumption",
        "isPrimaryMeterRegion": False,
        **changes,
    }


def test_every_product_of_a_region_is_asked_for_once():
    with serving() as service:
        service.answers[LIST] = [
            service.page([row(each, 0.01 * number) for number, each in enumerate(listed_meters(), 1)])
        ]
        found, notes = fetch_services(["uksouth"], Downloads(attempts=1), TODAY, service.address + LIST)
        asked = [parse_qs(urlsplit(path).query)["$filter"][0] for path in service.asked]
    assert notes == []
    assert len(asked) == len({(meter.listed_service, meter.product) for meter in listed_meters()})
    assert "productName eq 'Files v2' and priceType eq 'Consumption' and armRegionName eq 'uksouth'" in asked[-2]
    listed = {each.item: 0.01 * number for number, each in enumerate(listed_meters(), 1)}
    days = {each.item: 24 if each.measure == "1/Day" else 1 for each in listed_meters()}
    assert {each.item: each.usd for each in found} == {item: round(usd / days[item], 8) for item, usd in listed.items()}
    assert found[0] == ServicePrice(
        "aks", "cluster-standard", "uksouth", "hour", 0.01, service.address + LIST, "2026-11-21"
    )


def test_a_product_that_cannot_be_read_is_a_note():
    with serving() as service:
        found, notes = fetch_services(["uksouth"], Downloads(attempts=1), TODAY, service.address + LIST)
    assert found == []
    assert notes[0].startswith("uksouth: prices of Azure Kubernetes Service stay as they were: ")


@pytest.mark.parametrize(
    ("rows", "usd"),
    [
        ([row()], 0.1),
        ([row(), row(usd=0.2)], None),
        ([row(), row(usd=0.2, effectiveStartDate="2025-01-01T00:00:00Z")], 0.2),
        ([row(), row(usd=0.2, effectiveStartDate="2027-01-01T00:00:00Z")], 0.1),
        ([row(), row(usd=0.05, tierMinimumUnits=1000.0)], 0.1),
        ([row(armRegionName="eastus")], None),
        ([row(currencyCode="EUR")], None),
        ([row(unitOfMeasure="1/Month")], None),
        ([row(usd=0.0)], None),
    ],
)
def test_what_counts_as_the_price(rows, usd):
    assert first_price(rows, SLA, "uksouth", "2026-11-21") == usd


def test_every_item_is_one_of_the_catalog():
    known = {(service, item, price.unit) for (service, item, _), price in azure().service_prices.items()}
    assert {(meter.service, meter.item, meter.unit) for meter in listed_meters()} <= known
