"""A broken catalog file gives one clear line for each broken record."""

import json

import pytest

from gpufleet.catalog import AwsGpuType, Catalog, CatalogError, Price, SpotPrice, ZoneOffer
from gpufleet.catalog.loader import read_records

GOOD = {
    "type": "g5.xlarge",
    "region": "us-east-1",
    "market": "on-demand",
    "usd_per_hour": 1.006,
    "source": "a list",
    "as_of": "2026-10",
}


def read(tmp_path, content):
    path = tmp_path / "prices.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return read_records(path, Price)


def fault(tmp_path, content):
    with pytest.raises(CatalogError) as error:
        read(tmp_path, content)
    return str(error.value).replace(f"{tmp_path.name}/", "")


def test_good_file(tmp_path):
    assert read(tmp_path, [GOOD]) == {("g5.xlarge", "us-east-1", "on-demand"): Price(**GOOD)}


def test_unknown_price_is_none_and_whole_dollars_are_a_price(tmp_path):
    assert [each.usd_per_hour for each in read(tmp_path, [GOOD | {"usd_per_hour": None}]).values()] == [None]
    assert [each.usd_per_hour for each in read(tmp_path, [GOOD | {"usd_per_hour": 2}]).values()] == [2]


WHERE = "prices.json: record 1 (g5.xlarge, us-east-1, on-demand)"


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"usd_per_hour": 0}, f"{WHERE}: usd_per_hour: must be above 0 or null, not 0"),
        ({"usd_per_hour": -1.5}, f"{WHERE}: usd_per_hour: must be above 0 or null, not -1.5"),
        ({"source": " "}, f'{WHERE}: source: must say where the record comes from, not " "'),
        ({"as_of": "last week"}, f'{WHERE}: as_of: must be a date like 2026-10 or 2026-10-31, not "last week"'),
        ({"as_of": "2026-13"}, f'{WHERE}: as_of: must be a date like 2026-10 or 2026-10-31, not "2026-13"'),
        ({"usd_per_hour": "1.006"}, 'prices.json: record 1: usd_per_hour: must be a number or null, not "1.006"'),
        ({"usd_per_hour": True}, "prices.json: record 1: usd_per_hour: must be a number or null, not true"),
        ({"type": None}, "prices.json: record 1: type: must be text, not null"),
        ({"price": 1}, "prices.json: record 1: price: is not a field of this file"),
    ],
)
def test_bad_record(tmp_path, change, line):
    assert fault(tmp_path, [GOOD | change]) == line


def test_missing_field(tmp_path):
    record = {name: value for name, value in GOOD.items() if name != "as_of"}
    assert fault(tmp_path, [record]) == "prices.json: record 1: as_of: is missing"


def test_duplicate_record(tmp_path):
    line = "prices.json: record 2 (g5.xlarge, us-east-1, on-demand): type/region/market: is there twice"
    assert fault(tmp_path, [GOOD, GOOD]) == line


def test_unsorted_file(tmp_path):
    line = (
        "prices.json: record 2 (g4dn.xlarge, us-east-1, on-demand): type/region/market: "
        "must come before g5.xlarge, us-east-1, on-demand: the file is sorted"
    )
    assert fault(tmp_path, [GOOD, GOOD | {"type": "g4dn.xlarge"}]) == line


def test_every_broken_record_is_named(tmp_path):
    lines = fault(tmp_path, [GOOD | {"usd_per_hour": 0}, "nothing", GOOD | {"type": "g6.xlarge", "as_of": ""}])
    assert [line.partition(":")[2].split(":")[0].strip() for line in lines.splitlines()] == [
        "record 1 (g5.xlarge, us-east-1, on-demand)",
        "record 2",
        "record 3 (g6.xlarge, us-east-1, on-demand)",
    ]


@pytest.mark.parametrize("content", ['[{"type": "g5', "", "{}", "null", "3"])
def test_truncated_or_foreign_file(tmp_path, content):
    line = fault(tmp_path, content)
    assert line.startswith("prices.json: ")
    assert "\n" not in line


def test_missing_file(tmp_path):
    with pytest.raises(CatalogError, match=r"nowhere/prices\.json: No such file"):
        read_records(tmp_path / "nowhere" / "prices.json", Price)


def test_records_that_do_not_join(tmp_path):
    folder = tmp_path / "aws"
    folder.mkdir()
    dated = {"source": "a list", "as_of": "2026-10"}
    contents = {
        "instance_types": [],
        "zones": [],
        "quotas": [],
        "service_prices": [],
        "spot_prices": [],
        "prices": [GOOD],
        "zone_offers": [{"type": "g5.xlarge", "region": "us-east-1", "zone_ids": ["use1-az1"], **dated}],
    }
    for name, content in contents.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    with pytest.raises(CatalogError) as error:
        Catalog(folder, AwsGpuType).check()
    assert str(error.value).splitlines() == [
        "aws/prices.json: g5.xlarge: no such type",
        "aws/zone_offers.json: g5.xlarge: no such type",
        "aws/zone_offers.json: g5.xlarge, us-east-1: no such zone: use1-az1",
    ]


def test_faults_of_a_file_that_is_all_wrong_are_counted(tmp_path):
    lines = fault(tmp_path, ["nothing"] * 25).splitlines()
    assert len(lines) == 21
    assert lines[-1] == "prices.json: and 5 more"


@pytest.mark.parametrize("zones", [["use1-az1", 2], "use1-az1", [["use1-az1"]]])
def test_zones_that_are_no_list_of_texts(tmp_path, zones):
    path = tmp_path / "zone_offers.json"
    record = {"type": "g5.xlarge", "region": "us-east-1", "zone_ids": zones, "source": "a list", "as_of": "2026-10"}
    # The one before is right, and of the same fields.
    path.write_text(json.dumps([record | {"type": "g4dn.xlarge", "zone_ids": ["use1-az1"]}, record]))
    with pytest.raises(CatalogError) as error:
        read_records(path, ZoneOffer)
    said = f"record 2: zone_ids: must be a list of texts, not {json.dumps(zones)}"
    assert str(error.value) == f"{tmp_path.name}/zone_offers.json: {said}"


@pytest.mark.parametrize(
    ("low", "high", "reason"),
    [
        (2, 1.5, "usd_high: must be at least usd_low (2), not 1.5"),
        (0, 1.5, "usd_low: must be above 0, not 0"),
        (1, None, "usd_high: must be a number, not null"),
    ],
)
def test_spot_range_that_cannot_be(tmp_path, low, high, reason):
    path = tmp_path / "spot_prices.json"
    record = {"type": "g5.xlarge", "region": "us-east-1", "usd_low": low, "usd_high": high}
    path.write_text(json.dumps([record | {"source": "a list", "as_of": "2026-10"}]))
    with pytest.raises(CatalogError) as error:
        read_records(path, SpotPrice)
    assert str(error.value).endswith(reason)
    assert "\n" not in str(error.value)
