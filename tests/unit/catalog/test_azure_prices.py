"""Which meters of the Retail Prices API are a price of a Linux machine, on demand or Spot, and which are not."""

from datetime import date

import pytest

from gpufleet.catalog.refresh.azure_prices import region_prices

TODAY = date(2026, 11, 21)
H100, H200 = "Standard_ND96isr_H100_v5", "Standard_ND96isr_H200_v5"


def row(usd=98.32, **changes):
    """A row as the service gave it in October 2026, for eastus2."""
    return {
        "currencyCode": "USD",
        "tierMinimumUnits": 0.0,
        "retailPrice": usd,
        "unitPrice": usd,
        "armRegionName": "eastus2",
        "location": "US East 2",
        "effectiveStartDate": "2023-12-01T00:00:00Z",
        "meterName": "ND96isrH100v5",
        "productName": "Virtual Machines NDsr H100 v5 Series",
        "skuName": "ND96isrH100v5",
        "serviceName": "Virtual Machines",
        "serviceFamily": "Compute",
        "unitOfMeasure": "1 Hour",
        "type": "Consumption",
        "isPrimaryMeterRegion": True,
        "armSkuName": H100,
        **changes,
    }


def rates(*rows):
    return region_prices(rows, "eastus2", {H100, H200}, TODAY)


def test_a_linux_hour_is_the_price():
    found = rates(row())
    assert (found.region, found.on_demand, found.spot, found.doubtful) == ("eastus2", {H100: 98.32}, (), {})


@pytest.mark.parametrize(
    "change",
    [
        {"productName": "Virtual Machines NDsr H100 v5 Series Windows"},
        {"productName": "NDsr H100 v5 Series Cloud Services"},
        {"productName": "Virtual Machines NDsr H100 v5 Series CloudServices"},
        {"productName": "NDsr H100 v5 Series Dedicated Host"},
        {"meterName": "ND96isrH100v5 Low Priority"},
        {"armRegionName": "eastus"},
        {"currencyCode": "EUR"},
        {"unitOfMeasure": "1 Month"},
        {"type": "Reservation", "reservationTerm": "1 Year"},
        {"type": "DevTestConsumption"},
        {"isPrimaryMeterRegion": False},
        {"tierMinimumUnits": 100.0},
        {"effectiveStartDate": "2026-11-22T00:00:00Z"},
        {"armSkuName": "Standard_D2s_v5"},
        {"armSkuName": None},
        {"retailPrice": 0},
        {"retailPrice": None},
    ],
    ids=str,
)
def test_other_rows_are_no_price(change):
    found = rates(row(**change))
    assert (found.on_demand, found.spot) == ({}, ())
    assert rates(row(), row(50.0, **{"retailPrice": 50.0, **change})).on_demand == {H100: 98.32}


def test_spot_is_kept_apart():
    spot = row(18.169536, meterName="ND96isrH100v5 Spot", skuName="ND96isrH100v5 Spot")
    windows = spot | {"retailPrice": 18.985613, "productName": "Virtual Machines NDsr H100 v5 Series Windows"}
    found = rates(row(), spot, windows)
    assert (found.on_demand, found.spot) == ({H100: 98.32}, ((H100, 18.169536),))


def test_a_row_there_twice_is_one_price():
    assert rates(row(), row()).on_demand == {H100: 98.32}


def test_the_price_that_began_last_counts():
    later = row(90.0, effectiveStartDate="2026-11-21T00:00:00Z")
    assert rates(later, row()).on_demand == {H100: 90.0}
    assert rates(row(), later).on_demand == {H100: 90.0}


def test_two_prices_of_one_day_are_none():
    found = rates(row(), row(77.0), row(84.8, armSkuName=H200))
    assert found.on_demand == {H100: None, H200: 84.8}
    assert found.doubtful == {H100: (77.0, 98.32)}
