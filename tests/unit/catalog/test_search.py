"""Finding types by GPU, place and price, in the data that ships."""

import pytest
from click.testing import CliRunner

from gpufleet.catalog import AzureGpuSize, Catalog
from gpufleet.catalog.search import SearchCriteria, cheapest, find
from gpufleet.cli import main


@pytest.fixture
def clouds(shipped):
    return {"aws": shipped, "azure": Catalog(shipped.folder.parent / "azure", AzureGpuSize)}


def names(clouds, **wanted) -> set[str]:
    return {match.record.type for match in find(clouds, SearchCriteria(**wanted))}


def test_model_in_any_spelling(clouds):
    assert {match.record.gpu_model for match in find(clouds, SearchCriteria(gpu_model="h100"))} == {"H100"}
    assert "p5.48xlarge" in names(clouds, gpu_model="h100")


@pytest.mark.parametrize(("gpus", "inside", "outside"), [(1, "p5.4xlarge", None), (2, "p5.48xlarge", "p5.4xlarge")])
def test_at_least_so_many_gpus(clouds, gpus, inside, outside):
    found = names(clouds, gpus=gpus)
    assert inside in found
    assert outside not in found


@pytest.mark.parametrize(("gib", "fits"), [(40, True), (40.1, False)])
def test_at_least_so_much_memory(clouds, gib, fits):
    assert ("p4d.24xlarge" in names(clouds, gpu_memory_gib=gib)) is fits


@pytest.mark.parametrize(("zone", "there"), [("use1-az6", True), ("use1-az5", False)])
def test_zone(clouds, zone, there):
    assert ("g6e.xlarge" in names(clouds, zone=zone)) is there
    assert {match.region for match in find(clouds, SearchCriteria(zone=zone))} == {"us-east-1"}


def test_zone_of_another_region_than_asked_for(clouds):
    assert find(clouds, SearchCriteria(zone="use1-az6", region="us-west-2")) == []


def test_region(clouds):
    found = find(clouds, SearchCriteria(region="eu-west-1"))
    assert {match.region for match in found} == {"eu-west-1"}
    assert "p4d.24xlarge" in {match.record.type for match in found}
    assert "p5.48xlarge" not in {match.record.type for match in found}


@pytest.mark.parametrize(("usd", "fits"), [(55.04, True), (55.03, False)])
def test_highest_price_counts_for_a_node_and_never_takes_the_unknown(clouds, usd, fits):
    found = find(clouds, SearchCriteria(region="us-east-1", max_usd=usd))
    assert ("p5.48xlarge" in {match.record.type for match in found}) is fits
    assert None not in {match.usd for match in found}


def test_fabric_is_efa_or_infiniband(clouds):
    found = names(clouds, fabric=True)
    assert {"p4d.24xlarge", "Standard_ND96asr_v4"} <= found
    assert found.isdisjoint({"g5.xlarge", "Standard_NC24ads_A100_v4"})


def test_retired_types_are_not_found(clouds):
    assert names(clouds, gpu_model="K80") == set()


def test_cheapest_gpu_first_and_unknown_prices_last(clouds):
    found = [match.usd_per_gpu for match in find(clouds, SearchCriteria())]
    known = [usd for usd in found if usd is not None]
    assert known == sorted(known)
    assert len(known) > 100
    assert found == known + [None] * (len(found) - len(known))
    assert found[-1] is None


def test_price_of_one_gpu_and_spot(clouds):
    (match,) = find(clouds, SearchCriteria(gpu_model="A100", region="us-east-2", max_usd=25))
    assert (match.record.type, match.usd, match.usd_per_gpu) == ("p4d.24xlarge", 21.95764, 21.95764 / 8)
    assert match.spot == (6.0374, 21.8535)


def test_one_line_for_each_type(clouds):
    found = find(clouds, SearchCriteria(gpu_model="H100", fabric=True))
    lines = cheapest(found)
    assert len(lines) == len({match.record.type for match in found}) < len(found)
    assert sum(more + 1 for _, more in lines) == len(found)
    first = {match.record.type: (match.usd, more) for match, more in lines}
    assert first["p5.48xlarge"] == (55.04, len([each for each in found if each.record.type == "p5.48xlarge"]) - 1)


def test_table_of_all_types_fits_80_columns() -> None:
    text = CliRunner().invoke(main, ["catalog", "find"], env={"COLUMNS": "80"}).output
    table, _, notes = text.partition("--wide also shows: ")
    assert len(table.splitlines()) > 60
    assert [line for line in table.splitlines() if len(line.rstrip()) > 80] == []
    assert notes.startswith("a GPU, Spot USD/h, GiB, more regions, zones, as of\n")
