"""What must hold for the catalog of Azure that ships; each known fault of public lists has a test."""

import json
import re
from pathlib import Path

import pytest

import gpufleet.catalog
from gpufleet.catalog import azure, same_family
from gpufleet.catalog.records import AutomaticName, AzureGpuSize, Price, Quota, ServicePrice, SpotPrice, Zone, ZoneOffer

FOLDER = Path(gpufleet.catalog.__file__).parent / "azure"
FILES = {
    "automatic_names.json": AutomaticName,
    "instance_types.json": AzureGpuSize,
    "zone_offers.json": ZoneOffer,
    "zones.json": Zone,
    "prices.json": Price,
    "spot_prices.json": SpotPrice,
    "quotas.json": Quota,
    "service_prices.json": ServicePrice,
}
SIZE = re.compile(r"Standard_(N[CDV])(\d+)([a-z]*)(_NDR)?(_(A10|A100|H100|H200|T4|GB200|GB300))?(_v\d)?")
RETIRED = {
    "2023-09-06": "NC6 NC12 NC24 NC24r NC6s_v2 NC12s_v2 NC24s_v2 NC24rs_v2 ND6s ND12s ND24s ND24rs NV6 NV12 NV24",
    "2025-09-30": "NC6s_v3 NC12s_v3 NC24s_v3 NC24rs_v3",
    "2026-09-30": "NV12s_v3 NV24s_v3 NV48s_v3",
}


def size(name):
    return azure().types[f"Standard_{name}"]


def test_all_files_load_and_join():
    azure().check()


@pytest.mark.parametrize("name", FILES)
def test_every_record_says_source_and_date(name):
    for record in json.loads((FOLDER / name).read_text()):
        assert len(record["source"]) > 10
        assert re.fullmatch(r"20\d\d-\d\d(-\d\d)?", record["as_of"])


@pytest.mark.parametrize(("name", "kind"), FILES.items())
def test_files_are_sorted_with_one_record_per_line(name, kind):
    records = json.loads((FOLDER / name).read_text())
    lines = [line.rstrip(",") for line in (FOLDER / name).read_text().splitlines()[1:-1]]
    assert [json.loads(line) for line in lines] == records
    keys = [[record[field] for field in kind.KEY] for record in records]
    assert keys == sorted(keys)


def test_names_are_exact():
    for name, record in azure().types.items():
        parts = SIZE.fullmatch(name)
        assert parts, name
        assert int(parts[2]) == record.vcpus or parts[1] == "NV", name
    assert "Standard_ND96isr_H100v5" not in azure().types
    assert "Standard_NV6adsA10_v5" not in azure().types


@pytest.mark.parametrize(
    ("name", "gpus", "model", "mib", "vcpus", "memory", "gbps", "infiniband"),
    [
        ("NC6", 1, "K80", 12288, 6, 56, None, None),
        ("NC24rs_v3", 4, "V100", 16384, 24, 448, None, "unnamed"),
        ("NC4as_T4_v3", 1, "T4", 16384, 4, 28, 8, None),
        ("NC64as_T4_v3", 4, "T4", 16384, 64, 440, 32, None),
        ("NC24ads_A100_v4", 1, "A100", 81920, 24, 220, 20, None),
        ("NC96ads_A100_v4", 4, "A100", 81920, 96, 880, 80, None),
        ("NC80adis_H100_v5", 2, "H100 NVL", 96256, 80, 640, 80, None),
        ("NV72ads_A10_v5", 2, "A10", 24576, 72, 880, 80, None),
        ("ND40rs_v2", 8, "V100", 32768, 40, 672, 24, "EDR"),
        ("ND96asr_v4", 8, "A100", 40960, 96, 900, 24, "HDR"),
        ("ND96amsr_A100_v4", 8, "A100", 81920, 96, 1800, 24, "HDR"),
        ("ND96isr_H100_v5", 8, "H100", 81920, 96, 1900, 80, "NDR"),
        ("ND96isr_H200_v5", 8, "H200", 144384, 96, 1850, 80, "NDR"),
        ("ND128isr_NDR_GB200_v6", 4, "GB200", 196608, 128, 900, None, "NDR"),
    ],
)
def test_hand_checked_hardware(name, gpus, model, mib, vcpus, memory, gbps, infiniband):
    record = size(name)
    assert (record.gpus, record.gpu_model, record.gpu_memory_mib) == (gpus, model, mib)
    assert (record.vcpus, record.memory_gib, record.network_gbps) == (vcpus, memory, gbps)
    assert record.infiniband == infiniband


def test_h100_has_eight_gpus_and_not_twelve():
    """Public lists say 12."""
    assert {name: each.gpus for name, each in azure().types.items() if each.gpu_model == "H100"} == {
        "Standard_ND96isr_H100_v5": 8
    }


def test_infiniband_is_where_the_name_says_r_and_nowhere_else():
    for name, record in azure().types.items():
        parts = SIZE.fullmatch(name)
        assert (record.infiniband is not None) == ("r" in parts[3]), name


def test_only_grace_is_arm():
    assert {each.gpu_model for each in azure().types.values() if each.architecture == "arm64"} == {"GB200", "GB300"}
    assert {each.architecture for each in azure().types.values()} == {"arm64", "x86_64"}


def test_retired_sizes_have_their_date_and_a_current_successor():
    found = {name: record for name, record in azure().types.items() if record.retired}
    assert {name: each.retired for name, each in found.items()} == {
        f"Standard_{name}": day for day, names in RETIRED.items() for name in names.split()
    }
    for name, record in found.items():
        successor = azure().types[record.successor]
        assert successor.retired is None, name
        assert successor.gpus >= record.gpus, name
        assert (successor.infiniband is not None) == (record.infiniband is not None), name


def test_current_sizes_have_no_successor():
    assert [name for name, each in azure().types.items() if not each.retired and each.successor] == []


@pytest.mark.parametrize(
    ("name", "region", "usd"),
    [
        ("NC6", "eastus", 0.9),
        ("NC24rs_v3", "eastus", 13.46),
        ("NC4as_T4_v3", "eastus", 0.526),
        ("NC24ads_A100_v4", "eastus", 3.673),
        ("NC24ads_A100_v4", "westus", 4.775),
        ("NC40ads_H100_v5", "southcentralus", 8.38),
        ("ND96asr_v4", "eastus", 27.197),
        ("ND96amsr_A100_v4", "eastus", 32.77),
        ("ND96isr_H100_v5", "eastus", 98.32),
        ("ND96isr_H200_v5", "eastus2", 84.8),
        ("ND128isr_NDR_GB200_v6", "eastus2", 108.16),
    ],
)
def test_hand_checked_prices(name, region, usd):
    assert azure().price(f"Standard_{name}", region) == usd


def test_no_price_is_zero_or_below():
    """Public lists fill a missing price with 0."""
    assert all(price.usd_per_hour is None or price.usd_per_hour > 0 for price in azure().prices.values())
    assert all(price.usd is None or price.usd > 0 for price in azure().service_prices.values())


def test_spot_is_below_on_demand():
    """The price list itself gives the on-demand price as Spot price where no Spot is sold."""
    assert azure().spot_prices
    for (name, region), spot in azure().spot_prices.items():
        assert 0 < spot.usd_low <= spot.usd_high < 0.9 * azure().price(name, region)


def test_every_size_has_a_price_record_if_only_to_say_that_none_is_known():
    assert {name for name, _, _ in azure().prices} == set(azure().types)
    assert azure().price("Standard_ND128isr_GB300_v6", "eastus") is None


@pytest.mark.parametrize(
    ("service", "item", "unit", "usd"),
    [
        ("aks", "cluster-standard", "hour", 0.1),
        ("aks", "cluster-premium", "hour", 0.6),
        ("network", "nat-gateway", "hour", 0.045),
        ("network", "nat-gateway-data", "GB", 0.045),
        ("network", "public-ipv4", "hour", 0.005),
        ("storage", "blob-hot-lrs", "GB-month", 0.0208),
        ("storage", "files-premium-lrs", "GB-month", 0.16),
        ("disk", "premium-ssd-p10", "disk-month", 19.71),
        ("disk", "premium-ssd-p30", "disk-month", 135.17),
        ("storage", "blob-hot-zrs", "GB-month", None),
        ("virtual-machines", "Standard_D4s_v5", "hour", 0.192),
        ("virtual-machines", "Standard_D8as_v5", "hour", 0.344),
        ("virtual-machines", "Standard_D2as_v5", "hour", 0.086),
    ],
)
def test_hand_checked_prices_of_what_surrounds_a_pool(service, item, unit, usd):
    record = azure().service_prices[service, item, "eastus"]
    assert (record.unit, record.usd) == (unit, usd)


@pytest.mark.parametrize(("tier", "a_day"), [("basic", 0.167), ("standard", 0.667), ("premium", 1.667)])
def test_a_registry_is_sold_by_the_day_and_priced_by_the_hour(tier, a_day):
    record = azure().service_prices["acr", f"registry-{tier}", "eastus"]
    assert (record.unit, round(record.usd * 24, 5)) == ("hour", a_day)


def test_without_an_offer_nothing_is_known_unlike_on_aws():
    catalog = azure()
    assert catalog.zones_with("Standard_ND96isr_H100_v5", "eastus") is None
    assert catalog.offered("Standard_ND96isr_H100_v5", "eastus-1") is None
    assert catalog.zones_with("Standard_ND96isr_H100v5", "eastus") is None
    assert catalog.zones_with("Standard_ND96isr_H100_v5", "westus") is None


def test_regions_with_a_price_offer_a_size():
    assert azure().regions_with("Standard_ND96amsr_A100_v4")[:3] == ("australiaeast", "brazilsouth", "canadacentral")
    assert {"eastus", "westeurope", "westus3"} <= set(azure().regions_with("Standard_ND96isr_H100_v5"))
    assert azure().regions_with("Standard_ND128isr_GB300_v6") == ()


def test_zones_are_numbers_of_their_region():
    for region, zones in azure().regions.items():
        assert list(zones) == [f"{region}-{number}" for number in (1, 2, 3)]


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("NC4as_T4_v3", "Standard NCASv3_T4 Family"),
        ("NC24ads_A100_v4", "StandardNCADSA100v4Family"),
        ("ND96asr_v4", "Standard NDASv4_A100 Family"),
        ("ND96isr_H100_v5", "standardNDSH100v5Family"),
        ("ND96isr_H200_v5", "standardNDISRH200V5Family"),
    ],
)
def test_quota_families_are_those_of_the_api(name, family):
    assert size(name).quota_family == family
    assert azure().quotas[family, "on-demand"].code == family
    assert azure().quotas[family, "spot"].code == "lowPriorityCores"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Standard NCASv3_T4 Family", "standardNCASv3_T4Family", True),
        ("StandardNCadsH100v5Family", "standardNCADSH100v5Family", True),
        ("standardNCSv2Family", "standardNCSv3Family", False),
    ],
)
def test_a_family_is_the_same_whatever_its_case_and_spaces(one, other, same):
    assert same_family(one, other) is same


@pytest.mark.parametrize(
    "region",
    [
        *("australiaeast", "brazilsouth", "canadacentral", "centralindia", "centralus", "eastus2", "japaneast"),
        *("northeurope", "southeastasia", "swedencentral", "uksouth", "westeurope", "westus2"),
    ],
)
def test_a_region_has_prices_of_what_surrounds_a_pool(region):
    missing = [
        item
        for item in (
            *(("aks", "cluster-standard"), ("network", "nat-gateway"), ("network", "nat-gateway-data")),
            *(("network", "public-ipv4"), ("network", "load-balancer"), ("network", "private-endpoint")),
            *(("acr", "registry-standard"), ("acr", "storage"), ("monitor", "logs-ingestion")),
            *(("storage", "files-premium-lrs"), ("storage", "files-transaction-optimized-lrs")),
            *(("storage", "blob-hot-lrs"), ("disk", "premium-ssd"), ("disk", "premium-ssd-p10")),
        )
        if (found := azure().service_prices.get((*item, region))) is None or not found.usd
    ]
    assert missing == []
