"""`gpufleet ps --html`: the page for readers without a terminal."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gpufleet.cli import main
from gpufleet.fleet.bad_nodes import BadNode
from gpufleet.fleet.clusters import ClusterState
from gpufleet.fleet.formats.html import fleet_page
from gpufleet.fleet.gpu_jobs import GpuJob
from gpufleet.fleet.report import FleetReport

Eks = Callable[..., list[dict[str, Any]]]
NOW = datetime(2026, 11, 28, 9, 30, tzinfo=UTC)


class Page(HTMLParser):
    """Tables of a page as rows of cells, and what it would load or run."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.loads: list[str] = []
        self.within = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.loads += [tag] if tag in ("script", "link", "img", "iframe") else []
        self.within = tag
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_data(self, data: str) -> None:
        if self.within in ("td", "th"):
            self.tables[-1][-1][-1] += data

    def handle_endtag(self, tag: str) -> None:
        self.within = ""


def ps(backend: Any, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["ps", "--backend", backend.url, *arguments])


def ago(days: int) -> str:
    return str(date.today() - timedelta(days=days))


@pytest.fixture
def written(backend: Any, eks: Eks, tmp_path: Path) -> str:
    """The page of four environments of two owners, one of them past its end."""
    backend.put("dev", eks("dev", expires=ago(-9)))
    backend.put("prod", eks("prod", expires="never"))
    backend.put("old", eks("old", expires=ago(5), owner="bob <b&b>"))
    backend.put("gone", [])
    done = ps(backend, "--html", str(tmp_path / "fleet.html"))
    assert done.exit_code == 0, done.output
    return (tmp_path / "fleet.html").read_text(encoding="utf-8")


def test_cost_by_owner_begins_with_the_most_expensive(written: str) -> None:
    heading, *owners = Page(written).tables[0]
    assert heading[:3] == ["owner", "environments", "past their end"]
    assert [row[:3] for row in owners] == [["ana", "2", "0"], ["bob <b&b>", "1", "1"], ["all", "3", "1"]]
    months = [[float(cell.replace(",", "")) for cell in row[3:]] for row in owners]
    # A cluster without nodes costs 0.10 USD an hour.
    assert [row[0] for row in months] == [146, 73, 219]
    # The most that it can run: 3 nodes of g5.12xlarge.
    assert months[0][2] == pytest.approx(2 * months[1][2], abs=1)
    assert months[1][2] > 73 + 730 * 3 * 5


def test_rows_are_those_of_the_terminal(written: str) -> None:
    heading, *rows = Page(written).tables[1]
    assert heading[0] == "environment"
    assert [row[0] for row in rows] == ["old", "dev", "prod", "gone"]
    assert rows[0][4:6] == [f"{ago(5)} (+5 d)", "~8/12"]


def test_page_needs_nothing_else_and_runs_nothing(written: str) -> None:
    assert Page(written).loads == []
    assert not re.findall(r"(?:src|href|url)\s*[=(]", written)
    assert "<b&b>" not in written


def test_past_end_is_said_first(written: str) -> None:
    assert '<h1 class="warned">3 environments, 0.30 USD an hour; 1 past their end</h1>' in written
    assert "<li>training/old, of bob &lt;b&amp;b&gt;: by 5 d, 0.10 USD an hour at the least</li>" in written


def test_jobs_and_faults() -> None:
    jobs = (
        GpuJob("vision", "fit", 16, 2, NOW - timedelta(hours=3), 97.0, "computing", user="ana"),
        GpuJob("vision", "wait", 8, 1, NOW - timedelta(hours=5), 100.0, "stuck", idle=timedelta(minutes=50)),
    )
    bad = BadNode("gpu-7", "trainers", NOW - timedelta(hours=4), "XID 79 of GPU 3", "replace it", cordoned=True)
    clusters = [
        ClusterState("prod", "x", 24, jobs, exporters=3, bad_nodes=(bad,)),
        ClusterState("far", "y", fault="did not answer within 10 s"),
    ]
    text = fleet_page(FleetReport("s3://states", [], clusters, NOW))
    _, *rows = Page(text).tables[2]
    assert rows[0] == ["prod", "vision/fit", "ana", "-", "16", "3 h", "97 %", "computing"]
    assert rows[1][6:] == ["100 %", "hung: stuck for 50 min"]
    assert rows[2][1] == "far: cannot be read"
    assert "<li>far: did not answer within 10 s</li>" in text
    assert "<li>vision/wait on prod: 8 GPUs stuck for 50 min</li>" in text
    assert "<li>prod: gpu-7 of pool trainers: bad for 4 h, cordoned: XID 79 of GPU 3; replace it</li>" in text
    assert "2026-11-28 09:30 UTC" in text


def test_folder_that_does_not_exist_is_one_line(backend: Any, eks: Eks, tmp_path: Path) -> None:
    backend.put("dev", eks("dev"))
    done = ps(backend, "--html", str(tmp_path / "no" / "fleet.html"))
    assert done.exit_code == 1
    assert done.stderr.count("\n") == 1
    assert str(tmp_path / "no") in done.stderr
