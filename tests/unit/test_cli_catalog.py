"""`gpufleet catalog show|find|refresh` as a user sees it."""

import datetime
import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import gpufleet.catalog
import gpufleet.catalog.refresh.aws
from gpufleet.catalog import AwsGpuType, Catalog, Price
from gpufleet.catalog.refresh import DownloadError, FetchResult
from gpufleet.cli import main


@pytest.fixture(autouse=True)
def fresh():
    """Every test reads the catalog anew, with its own environment."""
    yield
    gpufleet.catalog.aws.cache_clear()
    gpufleet.catalog.azure.cache_clear()


def run(*arguments: str) -> Result:
    gpufleet.catalog.aws.cache_clear()
    gpufleet.catalog.azure.cache_clear()
    done = CliRunner().invoke(main, ["catalog", *arguments])
    assert isinstance(done.exception, SystemExit | None), done.exception
    return done


def shown(*arguments: str) -> str:
    done = run(*arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


def refused(*arguments: str) -> str:
    done = run(*arguments)
    assert (done.exit_code, done.stdout) == (1, "")
    return done.stderr


def row(text: str, start: str) -> list[str]:
    (line,) = (line for line in text.splitlines() if line.startswith(start))
    return line.split()


def test_show_hardware_zones_prices_quota():
    text = shown("show", "p5.48xlarge")
    assert text.startswith("p5.48xlarge (aws): 8 x H100, 80 GiB each\n")
    assert "3200 Gbps, 32 cards, 32 EFA" in text
    assert "P: 192 vCPU a node (on-demand L-417A185B, spot L-C4BD4855)" in text
    assert row(text, "us-east-1")[:5] == ["us-east-1", "use1-az1,2,3,4,5,6", "55.04", "6.8800", "17.63..25.75"]
    assert row(text, "sa-east-1") == ["sa-east-1", "sae1-az3", "92.47", "11.56", "unknown"]
    assert "\n[1] github.com/skypilot-org/skypilot-catalog catalogs/v8/aws/vms.csv\n" in text


def test_show_any_spelling_of_an_azure_size():
    text = shown("show", "standard_nd96isr_h100_v5")
    assert text.startswith("Standard_ND96isr_H100_v5 (azure): 8 x H100, 80 GiB each\n")
    assert "InfiniBand: NDR" in text


def test_show_retired_type_with_successor():
    assert "\nretired 2026-05: use g5.2xlarge instead\n" in shown("show", "p3.2xlarge")


def test_old_prices_are_said_to_be_old(monkeypatch):
    class Later(datetime.date):
        @classmethod
        def today(cls):
            return cls(2036, 1, 1)

    # By its name: the package's attribute of that name is the command.
    monkeypatch.setattr(sys.modules["gpufleet.cli.catalog"], "date", Later)
    text = shown("show", "p4d.24xlarge")
    assert "2026-05, old [1]" in text
    assert "2026-05 [1]" not in text


def test_show_json():
    found = json.loads(shown("show", "p5.48xlarge", "--json"))
    assert found["hardware"]["gpus"] == 8
    assert {price["region"] for price in found["prices"]} >= {"us-east-1", "us-west-2"}
    assert {quota["code"] for quota in found["quotas"]} == {"L-417A185B", "L-C4BD4855"}
    assert all(record["source"] and record["as_of"] for record in found["prices"] + found["spot_prices"])
    assert {zone["region"]: zone["zone_ids"] for zone in found["zones"]}["us-west-1"] == ["usw1-az1", "usw1-az3"]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["show", "g5.8xlarg"], "type=g5.8xlarg: not known; did you mean g5.8xlarge?"),
        (["show", "Standard_ND96isr_H100_v4"], "did you mean Standard_ND96isr_H100_v5?"),
        (["show", "zzz"], "type=zzz: not known; `gpufleet catalog find` lists what is known"),
        (["show", "g5\n8"], "type=g5\\n8: not known; "),
        (["find", "--gpu", "H10"], "gpu=H10: not known; did you mean H100?"),
        (["find", "--region", "us-eastt-1"], "region=us-eastt-1: not known; did you mean us-east-1?"),
        (["find", "--zone", "use1-az7"], "zone=use1-az7: not known; did you mean use1-az"),
        (["find", "--cloud", "azure", "--region", "us-east-1"], "region=us-east-1: not known; "),
        (
            ["refresh", "aws", "--region", "us-eastt-1", "--to", "."],
            "region=us-eastt-1: not known; did you mean us-east-1?",
        ),
    ],
)
def test_misspelt_words_are_one_line_with_the_nearest(arguments, line):
    text = refused(*arguments)
    assert line in text
    assert text.count("\n") == 1


def test_find():
    text = shown("find", "--gpu", "H100", "--gpus", "8", "--efa", "--region", "us-east-1")
    assert row(text, "p5.48xlarge")[:7] == ["p5.48xlarge", "8", "x", "H100", "us-east-1", "55.04", "6.8800"]
    assert "p5.4xlarge" not in text


def test_find_without_place_has_one_line_for_each_type():
    text = shown("find", "--gpu", "A100", "--cloud", "aws")
    assert len([line for line in text.splitlines() if line.startswith("p4d.24xlarge")]) == 1
    assert row(text, "p4d.24xlarge")[4] == "us-east-2"
    assert "more: in so many other regions" in text


def test_find_nothing():
    assert shown("find", "--gpu", "H100", "--max-price", "1") == "no type has all of this\n"
    assert json.loads(shown("find", "--gpu", "H100", "--max-price", "1", "--json")) == []


def test_find_json_has_unknown_as_null_at_the_end():
    found = json.loads(shown("find", "--cloud", "aws", "--region", "us-east-1", "--json"))
    assert found[0]["usd_per_gpu_hour"] == min(each["usd_per_gpu_hour"] for each in found if each["usd_per_hour"])
    assert found[-1]["usd_per_hour"] is None
    p5 = next(each for each in found if each["type"] == "p5.48xlarge")
    assert (p5["spot_usd_per_hour"], p5["as_of"]) == ([17.6289, 25.7522], "2026-05")


BROKEN = {
    "truncated": ('[{"type": "p5', "line 1: is not JSON: it ends too early"),
    "not a list": ("{}", "must hold a list of records"),
    "wrong type": ({"usd_per_hour": "55"}, 'record 1: usd_per_hour: must be a number or null, not "55"'),
    "negative": ({"usd_per_hour": -55.04}, "usd_per_hour: must be above 0 or null, not -55.04"),
    "NaN": ({"usd_per_hour": float("nan")}, "line 1: is not JSON: invalid character"),
    "Spot": ({"market": "spot"}, 'market: must be on-demand (Spot has a range, in spot_prices.json), not "spot"'),
    "twice": (None, "record 2 (p5.48xlarge, us-east-1, on-demand): type/region/market: is there twice"),
}


@pytest.mark.parametrize(("change", "line"), BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("whose", ["shipped", "user"])
def test_bad_catalog_file_is_one_line(tmp_path, monkeypatch, change, line, whose):
    price = {
        "type": "p5.48xlarge", "region": "us-east-1", "market": "on-demand", "usd_per_hour": 55.04, "source": "a list",
        "as_of": "2026-10",
    }  # fmt: skip
    folder = tmp_path / "aws"
    folder.mkdir()
    records = [price, price] if change is None else [price | change] if isinstance(change, dict) else change
    text = records if isinstance(records, str) else json.dumps(records)
    if whose == "user":
        (folder / "edition.json").write_text('{"as_of": "2099-01-01"}')
        monkeypatch.setenv("GPUFLEET_CATALOG", str(tmp_path))
    else:
        shipped = gpufleet.catalog.aws().folder
        for path in shipped.glob("*.json"):
            (folder / path.name).write_bytes(path.read_bytes())
        monkeypatch.setattr(gpufleet.catalog, "aws", Swapped(folder))
    (folder / "prices.json").write_text(text)
    said = refused("show", "p5.48xlarge")
    assert line in said
    assert said.count("\n") == 1
    assert "Traceback" not in said
    assert f"{folder}/prices.json" in said if whose == "user" else said.startswith("Error: aws/prices.json: ")


class Swapped:
    """In place of gpufleet.catalog.aws: another folder's catalog."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self) -> Catalog[AwsGpuType]:
        return Catalog(self._folder, AwsGpuType)

    def cache_clear(self) -> None:
        """Nothing is kept."""


@pytest.fixture
def lists(monkeypatch) -> list[list[str]]:
    """Price lists that say 50 USD for a p5.48xlarge; holds the regions that were asked for."""
    asked: list[list[str]] = []

    def fetch(current, regions, downloads, today):
        asked.append(list(regions))
        new = Price("p5.48xlarge", "us-east-1", "on-demand", 50.0, "a list", "2026-11")
        prices = dict(current.prices)
        prices["p5.48xlarge", "us-east-1", "on-demand"] = new
        return FetchResult({"prices.json": list(prices.values())}, ["no AWS credentials: prices only"])

    monkeypatch.setattr(gpufleet.catalog.refresh.aws, "fetch", fetch)
    return asked


def test_refresh_says_what_changed_and_is_used_from_then_on(tmp_path, monkeypatch, lists):
    monkeypatch.setenv("GPUFLEET_CATALOG", str(tmp_path))
    text = shown("refresh", "aws", "--region", "us-east-1", "--region", "US-WEST-2")
    assert lists == [["us-east-1", "us-west-2"]]
    assert text.splitlines()[:2] == [f"aws: written to {tmp_path}/aws", "  no AWS credentials: prices only"]
    assert "    p5.48xlarge us-east-1 on-demand: 55.04 USD -> 50.0 USD\n" in text
    assert row(shown("show", "p5.48xlarge"), "us-east-1")[2] == "50.00"


def test_refresh_of_regions_with_prices_to_another_folder(tmp_path, lists):
    done = json.loads(shown("refresh", "aws", "--to", str(tmp_path), "--json"))
    assert done["aws"]["notes"] == ["no AWS credentials: prices only"]
    (prices,) = (each for each in done["aws"]["changes"] if each["what"] == "prices")
    assert prices["changed"] == ["p5.48xlarge us-east-1 on-demand: 55.04 USD -> 50.0 USD"]
    assert {"us-east-1", "us-west-2", "eu-central-1"} <= set(lists[0])
    assert (tmp_path / "aws" / "prices.json").exists()
    assert row(shown("show", "p5.48xlarge"), "us-east-1")[2] == "55.04"


def test_refresh_that_fails_leaves_everything(tmp_path, monkeypatch):
    def fetch(*_):
        raise DownloadError("https://prices.example/list.csv: cannot be read in 4 attempts: no route")

    monkeypatch.setattr(gpufleet.catalog.refresh.aws, "fetch", fetch)
    said = refused("refresh", "aws", "--to", str(tmp_path))
    assert said == "Error: https://prices.example/list.csv: cannot be read in 4 attempts: no route\n"
    assert list(tmp_path.iterdir()) == []


def test_refresh_without_a_place(lists):
    said = refused("refresh", "aws")
    assert said == "Error: GPUFLEET_CATALOG is empty, so that no refreshed data is used: set it, or use --to DIR\n"


def test_refresh_into_a_file(tmp_path, lists):
    (tmp_path / "aws").write_text("")
    said = refused("refresh", "aws", "--to", str(tmp_path))
    assert said == f"Error: {tmp_path}/aws: cannot be written: Not a directory; choose a folder with --to DIR\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["show"],
        ["find", "--gpus", "0"],
        ["find", "--max-price", "-1"],
        ["refresh", "gcp"],
        ["refresh", "--region", "x"],
    ],
)
def test_wrong_use(arguments):
    assert run(*arguments).exit_code == 2
