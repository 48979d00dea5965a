"""A refresh that is ended at any moment leaves all old files or all new ones."""

import json
from pathlib import Path

import pytest

from gpufleet.catalog import AwsGpuType, Catalog, CatalogError, Price, SpotPrice
from gpufleet.catalog.refresh import write_files
from gpufleet.catalog.refresh.writer import finish_write

PRICE = Price("p5.48xlarge", "us-east-1", "on-demand", 98.32, "a list", "2026-01")
SPOT = SpotPrice("p5.48xlarge", "us-east-1", 10, 20, "a list", "2026-01")


@pytest.fixture
def folder(tmp_path, shipped) -> Path:
    """A user's folder after a first refresh."""
    write_files(tmp_path / "aws", {"prices.json": [PRICE], "spot_prices.json": [SPOT]}, shipped, "2026-12-01")
    return tmp_path / "aws"


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def prices(folder: Path, shipped: Catalog[AwsGpuType]) -> tuple[float | None, tuple[float, float] | None, str]:
    """What a reader gets of both files and the day, in a catalog that has read nothing yet."""
    read = Catalog(shipped.folder, shipped.kind, folder)
    return read.price("p5.48xlarge", "us-east-1"), read.spot_range("p5.48xlarge", "us-east-1"), read.edition


OLD = (98.32, (10, 20), "2026-12-01")
NEW = (50.0, (5, 6), "2026-12-02")
CHANGED = {
    "prices.json": [Price("p5.48xlarge", "us-east-1", "on-demand", 50.0, "a list", "2026-12")],
    "spot_prices.json": [SpotPrice("p5.48xlarge", "us-east-1", 5, 6, "a list", "2026-12")],
}


def test_files_and_day_are_replaced(folder, shipped):
    assert prices(folder, shipped) == OLD
    write_files(folder, CHANGED, shipped, "2026-12-02")
    assert prices(folder, shipped) == NEW
    assert sorted(path.name for path in folder.iterdir()) == ["edition.json", "prices.json", "spot_prices.json"]


def test_a_written_file_has_one_record_per_line(folder):
    lines = (folder / "prices.json").read_text().splitlines()
    assert (lines[0], lines[-1]) == ("[", "]")
    assert json.loads(lines[1])["usd_per_hour"] == 98.32


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ({"prices.json": [Price("p5.48xlarge", "us-east-1", "on-demand", -1.0, "a list", "2026-12")]}, "above 0"),
        (
            {"prices.json": [Price("p5.48xlarge", "us-east-1", "on-demand", float("nan"), "x", "2026-12")]},
            "is not JSON",
        ),
        ({"prices.json": [PRICE, PRICE]}, "is there twice"),
        ({"prices.json": [Price("p9.large", "us-east-1", "on-demand", 1.0, "a list", "2026-12")]}, "no such type"),
    ],
)
def test_bad_records_change_nothing(folder, shipped, broken, reason):
    before = files(folder)
    with pytest.raises(CatalogError, match=reason):
        write_files(folder, {**CHANGED, **broken}, shipped, "2026-12-02")
    assert files(folder) == before
    assert not (folder / ".next").exists()
    assert prices(folder, shipped) == OLD


class Killed(BaseException):
    """Not an Exception: nothing may catch it to clean up, as after a power cut."""


STEPS = 5
"""Two files, the day and the mark are written; then each is moved or removed."""


@pytest.mark.parametrize("step", range(STEPS))
def test_killed_while_writing(folder, shipped, monkeypatch, step):
    """Until the last file is marked complete, the old ones hold, byte for byte."""
    from gpufleet.catalog.refresh import writer

    before, left, write = files(folder), [step], writer._write

    def write_or_die(path, text):
        if left[0] == 0:
            path.write_text(text[: len(text) // 2])  # what the disk may hold then
            raise Killed
        left[0] -= 1
        write(path, text)

    monkeypatch.setattr(writer, "_write", write_or_die)
    monkeypatch.setattr(writer.shutil, "rmtree", lambda *_, **__: None)
    if step == STEPS - 1:
        write_files(folder, CHANGED, shipped, "2026-12-02")  # four files, so the fifth is never written
        assert prices(folder, shipped) == NEW
        return
    with pytest.raises(Killed):
        write_files(folder, CHANGED, shipped, "2026-12-02")
    assert files(folder) == before
    assert prices(folder, shipped) == (NEW if step == 3 else OLD)


@pytest.mark.parametrize("moves", range(4))
def test_killed_while_moving(folder, shipped, monkeypatch, moves):
    """Once the mark is there, every reader sees all new files, and the next refresh moves the rest."""
    left, replace = [moves], Path.replace

    def replace_or_die(path, target):
        if left[0] == 0:
            raise Killed
        left[0] -= 1
        return replace(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", replace_or_die)
        if moves < 3:
            with pytest.raises(Killed):
                write_files(folder, CHANGED, shipped, "2026-12-02")
            assert (folder / ".next").exists()
        else:
            write_files(folder, CHANGED, shipped, "2026-12-02")
    assert prices(folder, shipped) == NEW
    finish_write(folder)
    assert prices(folder, shipped) == NEW
    assert not (folder / ".next").exists()


def test_leftovers_of_a_killed_refresh_are_not_taken(folder, shipped):
    (folder / ".next").mkdir()
    (folder / ".next" / "prices.json").write_text("[")
    assert prices(folder, shipped) == OLD
    write_files(folder, {"spot_prices.json": CHANGED["spot_prices.json"]}, shipped, "2026-12-02")
    assert prices(folder, shipped) == (98.32, (5, 6), "2026-12-02")


def test_refresh_after_one_that_was_killed_while_moving(folder, shipped, monkeypatch):
    """What the first one completed holds, where the second one has nothing newer."""

    def die(path, target):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", die)
        with pytest.raises(Killed):
            write_files(folder, CHANGED, shipped, "2026-12-02")
    write_files(folder, {"spot_prices.json": [SPOT]}, shipped, "2026-12-03")
    assert prices(folder, shipped) == (50.0, (10, 20), "2026-12-03")
