"""The report's page in a real browser: nothing overflows, bars are as high as they say, both modes can be read."""

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from gpufleet.report.build import build_report
from gpufleet.report.diagram import build_diagram
from gpufleet.report.formats.html import render_html
from gpufleet.report.formats.svg import render_svg
from gpufleet.report.model import Report
from gpufleet.report.preview_json import parse_preview
from tests.browser.chromium import Chromium
from tests.unit.report.written_previews import document, step

pytestmark = pytest.mark.cluster
LONG = "a-name-that-somebody-made-much-longer-than-any-window-is-wide-" * 4
TAGS = {"owner": "me", "project": "p", "expires-at": "2027-01-01"}


def nodes(most: int, kind: str) -> dict[str, Any]:
    scaling = {"minSize": 1, "desiredSize": 1, "maxSize": most}
    return {"instanceTypes": [kind], "scalingConfig": scaling, "capacityType": "ON_DEMAND", "tags": TAGS}


@pytest.fixture(scope="module")
def made() -> Report:
    pools = [
        step("replace", "aws:eks/nodeGroup:NodeGroup", name, nodes(2, "g5.8xlarge"), nodes(20, "p4d.24xlarge"))
        for name in ("trainers", LONG)
    ]
    files = step("delete", "aws:efs/fileSystem:FileSystem", f"files-{LONG}", {})
    bucket = step("update", "aws:s3/bucket:Bucket", "<script>alert(1)</script>", {"x": LONG}, {"x": "<b>&"})
    return build_report([parse_preview(document(*pools, files, bucket), "p")], today=date(2026, 11, 22))


@pytest.fixture(scope="module")
def page(made: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("page") / "report.html"
    file.write_text(render_html(made), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with Chromium(tmp_path_factory.mktemp("profile")) as running:
        yield running


OVERFLOWING = """
[...document.querySelectorAll('body *')].filter(e => !e.closest('.wide, pre, svg') || e.matches('.wide, pre'))
  .filter(e => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .map(e => e.outerHTML.slice(0, 80))
"""


@pytest.mark.parametrize("width", [360, 1000, 1600])
def test_the_page_never_scrolls_sideways(browser: Chromium, page: Path, width: int) -> None:
    browser.open(page, width=width)
    browser.evaluate("document.querySelectorAll('details').forEach(e => e.open = true)")
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.evaluate(OVERFLOWING) == []


def test_bars_are_as_high_as_they_say(browser: Chromium, page: Path, made: Report) -> None:
    browser.open(page)
    bars = browser.evaluate(
        "[...document.querySelectorAll('.chart rect')].map(e => [e.getAttribute('class'), +e.dataset.usd, "
        "e.getBoundingClientRect().height, e.getBoundingClientRect().bottom])"
    )
    cost = made.stacks[0].cost
    assert cost is not None
    amounts = [cost.floor, cost.steady, cost.ceiling]
    wanted = [(side, getattr(each, f"usd_month_{side}")) for each in amounts for side in ("before", "after")]
    assert [(side, money) for side, money, _, _ in bars] == wanted
    highest = max(money for _, money, _, _ in bars)
    tallest = max(height for _, _, height, _ in bars)
    assert tallest > 150
    for _, money, height, bottom in bars:
        assert height == pytest.approx(tallest * money / highest, abs=0.6)
        assert bottom == pytest.approx(bars[0][3], abs=0.6)


CONTRASTS = """
(() => {
  const numbers = text => text.match(/[\\d.]+/g).map(Number);
  const light = rgb => rgb.slice(0, 3).map(v => v / 255)
    .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = e => {
    for (; e; e = e.parentElement) {
      const found = numbers(getComputedStyle(e).backgroundColor);
      if (found.length < 4 || found[3] > 0) return found;
    }
    return [255, 255, 255];
  };
  const shown = [...document.querySelectorAll('h1,h2,h3,p,li,td,th,summary,code,pre,strong,.chart text,.picture text')];
  return shown.map(e => {
    const style = getComputedStyle(e);
    const box = e.closest('.picture') ? e.closest('svg').querySelector('.box, .zone') : null;
    const colour = numbers(e.closest('svg') ? style.fill : style.color);
    const ground = box ? numbers(getComputedStyle(box).fill) : behind(e);
    const [one, other] = [light(colour), light(ground)].sort((a, b) => b - a);
    return [e.tagName + ' ' + e.textContent.slice(0, 40), (one + 0.05) / (other + 0.05)];
  });
})()
"""


@pytest.mark.parametrize("dark", [False, True])
def test_every_text_can_be_read(browser: Chromium, page: Path, tmp_path: Path, dark: bool) -> None:
    """WCAG 2.2, 1.4.3: a contrast of 4.5 to 1."""
    browser.open(page, dark=dark)
    found = browser.evaluate(CONTRASTS)
    assert len(found) > 40
    assert [each for each in found if each[1] < 4.5] == []
    ground = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(13, 17, 23)" if dark else "rgb(255, 255, 255)")
    browser.picture(tmp_path / "page.png")
    assert (tmp_path / "page.png").read_bytes().startswith(b"\x89PNG")


def test_nothing_of_a_program_is_markup(browser: Chromium, page: Path) -> None:
    browser.open(page)
    assert browser.evaluate("document.querySelectorAll('script').length") == 0
    assert browser.evaluate("document.body.textContent.includes('<script>alert(1)</script>')")


def test_nothing_is_fetched(browser: Chromium, page: Path) -> None:
    browser.open(page)
    assert (
        json.loads(browser.evaluate("JSON.stringify(performance.getEntriesByType('resource').map(e => e.name))")) == []
    )


def test_no_text_of_the_picture_leaves_its_box(browser: Chromium, made: Report, tmp_path: Path) -> None:
    file = tmp_path / "picture.svg"
    file.write_text(render_svg(build_diagram(made.stacks[0])), encoding="utf-8")
    browser.open(file)
    outside = browser.evaluate(
        "(() => { const boxes = [...document.querySelectorAll('rect.box, rect.zone')].map(e => e.getBBox());"
        "return [...document.querySelectorAll('text')].filter(t => { const b = t.getBBox(); return !boxes.some(x => "
        "b.x >= x.x && b.x + b.width <= x.x + x.width && b.y >= x.y && b.y + b.height <= x.y + x.height) })"
        ".map(t => t.textContent) })()"
    )
    assert outside == []
    assert browser.evaluate("document.querySelectorAll('rect.box').length") == 4
