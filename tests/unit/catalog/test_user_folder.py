"""What `gpufleet catalog refresh` wrote for a user is preferred while it is newer, and said to be broken when it is."""

import json
from datetime import date
from pathlib import Path

import pytest

from gpufleet.catalog import AwsGpuType, Catalog, CatalogError, Price, user_folder


def user_file(folder: Path, name: str, content: object) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


PRICE = {
    "type": "p5.48xlarge", "region": "us-east-1", "market": "on-demand", "usd_per_hour": 50.0, "source": "a list",
    "as_of": "2027-01-01",
}  # fmt: skip


@pytest.fixture
def folder(tmp_path) -> Path:
    user_file(tmp_path / "aws", "prices.json", [PRICE])
    return tmp_path / "aws"


def catalog(shipped: Catalog[AwsGpuType], folder: Path, as_of: str | None = None) -> Catalog[AwsGpuType]:
    if as_of is not None:
        user_file(folder, "edition.json", {"as_of": as_of})
    return Catalog(shipped.folder, shipped.kind, folder)


@pytest.mark.parametrize(
    ("days", "usd"),
    [(-1, 55.04), (0, 50.0), (1, 50.0)],
    ids=["older", "of the same day", "newer"],
)
def test_the_newer_of_two(shipped, folder, days, usd):
    as_of = date.fromordinal(date.fromisoformat(shipped.edition).toordinal() + days).isoformat()
    read = catalog(shipped, folder, as_of)
    assert read.price("p5.48xlarge", "us-east-1") == usd
    assert read.edition == (as_of if days >= 0 else shipped.edition)


def test_folder_without_edition_does_not_count(shipped, folder):
    assert catalog(shipped, folder).price("p5.48xlarge", "us-east-1") == 55.04


def test_files_that_the_user_lacks_are_the_shipped_ones(shipped, folder):
    read = catalog(shipped, folder, "2099-01-01")
    assert read.price("p5.48xlarge", "us-west-2") is None
    assert read.types == shipped.types
    assert read.service_prices == shipped.service_prices


def test_no_folder(shipped, tmp_path):
    read = catalog(shipped, tmp_path / "nowhere")
    assert read.price("p5.48xlarge", "us-east-1") == 55.04
    assert read.refreshed is None


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ('[{"type": "p5', "line 1: is not JSON: it ends too early"),
        ({}, "must hold a list of records"),
        (
            [PRICE | {"usd_per_hour": -1}, PRICE | {"type": "p9", "market": "x", "usd_per_hour": 0}],
            "record 1 (p5.48xlarge, us-east-1, on-demand): usd_per_hour: must be above 0 or null, not -1 (and 2 more)",
        ),
        (
            [{name: value for name, value in PRICE.items() if name != "market"}],
            "record 1: market: is missing",
        ),
    ],
)
def test_broken_file_of_the_user(shipped, folder, content, fault):
    path = user_file(folder, "prices.json", content)
    with pytest.raises(CatalogError) as error:
        catalog(shipped, folder, "2099-01-01").price("p5.48xlarge", "us-east-1")
    assert str(error.value) == f"{path}: {fault}; `gpufleet catalog refresh aws` writes it again, or delete it"


@pytest.mark.parametrize("content", ["{", "[]", '{"as_of": 3}'])
def test_broken_edition(shipped, folder, content):
    path = user_file(folder, "edition.json", content)
    with pytest.raises(CatalogError) as error:
        catalog(shipped, folder).price("p5.48xlarge", "us-east-1")
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({}, "/home/ada/.local/share/gpufleet/catalog/aws"),
        ({"XDG_DATA_HOME": "/data"}, "/data/gpufleet/catalog/aws"),
        ({"XDG_DATA_HOME": ""}, "/home/ada/.local/share/gpufleet/catalog/aws"),
        ({"XDG_DATA_HOME": "/data", "GPUFLEET_CATALOG": "/ours"}, "/ours/aws"),
        ({"GPUFLEET_CATALOG": ""}, None),
    ],
)
def test_where_it_is(monkeypatch, environment, folder):
    for name in ("XDG_DATA_HOME", "GPUFLEET_CATALOG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/ada")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert user_folder("aws") == (Path(folder) if folder else None)


@pytest.mark.parametrize(
    ("as_of", "today", "days", "old"),
    [
        ("2026-05-25", date(2026, 11, 21), 180, False),
        ("2026-05-24", date(2026, 11, 21), 181, True),
        ("2026-05", date(2026, 11, 21), 204, True),
        ("2026-11", date(2026, 11, 21), 20, False),
        ("2026-11-21", date(2026, 11, 21), 0, False),
    ],
)
def test_age_of_a_price(as_of, today, days, old):
    record = Price(**PRICE | {"as_of": as_of})
    assert (record.age_days(today), record.is_old(today)) == (days, old)
