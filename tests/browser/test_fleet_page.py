"""The page of `gpufleet ps --html` in a real browser: it fits a telephone, and both modes can be read."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gpufleet.cost.line_item import Total
from gpufleet.fleet.clusters import ClusterState
from gpufleet.fleet.environment import EnvironmentSummary
from gpufleet.fleet.expires_at import expiry_of
from gpufleet.fleet.formats.html import fleet_page
from gpufleet.fleet.gpu_jobs import GpuJob
from gpufleet.fleet.report import FleetReport
from tests.browser.chromium import Chromium
from tests.browser.test_report_page import CONTRASTS, OVERFLOWING

pytestmark = pytest.mark.cluster
NOW = datetime(2026, 11, 28, 5, 0, tzinfo=UTC)
LONG = "a-name-that-somebody-made-much-longer-than-any-window-is-wide-" * 2


def environment(name: str, owner: str, usd: float, gpus: int, ends: str) -> EnvironmentSummary:
    costs = {figure: Total(usd * 730 * part, 0) for figure, part in (("floor", 0.2), ("steady", 1), ("ceiling", 3))}
    return EnvironmentSummary(
        name, "training", owner, "vision", end=expiry_of(ends, None), created=NOW - timedelta(days=20), updated=NOW,
        resources=40, ending=38, gpus_at_last_update=gpus, gpus_most=3 * gpus, costs=costs, endpoints=frozenset({name}),
    )  # fmt: skip


def fleet() -> FleetReport:
    jobs = (
        GpuJob("language", "pretrain", 16, 2, NOW - timedelta(hours=30), 98, "computing", "ana", "llm"),
        GpuJob("vision", "finetune", 8, 1, NOW - timedelta(hours=3), 100, "stuck", "ben", "seg", timedelta(minutes=50)),
    )
    found = [
        environment("aws-prod", "ana@example.com", 181.12, 32, "2027-03-01"),
        environment("azure-dev", "ben@example.com", 27.2, 8, "2026-11-20"),
        environment(LONG, "<script>alert(1)</script>", 3.06, 1, "2026-12-24"),
        EnvironmentSummary("broken", "training", fault="broken: its state is not JSON"),
    ]
    clusters = [ClusterState("aws", "aws-prod", 32, jobs, 4), ClusterState("azure", "azure-dev", fault="no answer")]
    return FleetReport("s3://states", found, clusters, NOW)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("page") / "fleet.html"
    file.write_text(fleet_page(fleet()), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with Chromium(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.mark.parametrize("width", [375, 1000])
def test_the_page_never_scrolls_sideways(browser: Chromium, page: Path, width: int) -> None:
    browser.open(page, width=width)
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.evaluate(OVERFLOWING) == []


@pytest.mark.parametrize("dark", [False, True])
def test_every_text_can_be_read(browser: Chromium, page: Path, dark: bool) -> None:
    """WCAG 2.2, 1.4.3: a contrast of 4.5 to 1."""
    browser.open(page, dark=dark)
    found = browser.evaluate(CONTRASTS)
    assert len(found) > 40
    assert [each for each in found if each[1] < 4.5] == []


def test_nothing_of_a_tag_is_markup_and_nothing_is_fetched(browser: Chromium, page: Path) -> None:
    browser.open(page)
    assert browser.evaluate("document.querySelectorAll('script').length") == 0
    assert browser.evaluate("document.body.textContent.includes('<script>alert(1)</script>')")
    assert browser.evaluate("performance.getEntriesByType('resource').length") == 0
