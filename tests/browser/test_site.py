"""The documentation's site in a real browser, from a folder: it fits, nothing comes from the net, and search works."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.browser.chromium import Chromium

pytestmark = pytest.mark.cluster
PAGES = ["index.html", "reference/aws-gpu-node-group.html"]
PAGES += [f"docs/{name}.html" for name in ("configuration", "rules", "refusals", "limits")]
LOADED = """
[...[...document.styleSheets].map(e => e.href), ...[...document.scripts].map(e => e.src),
 ...[...document.images].map(e => e.src)].filter(e => e)
"""

CUT_OFF = """
[...document.querySelectorAll('html, .table-wrapper, table, td')].filter(e => e.scrollWidth > e.clientWidth + 1)
  .map(e => e.outerHTML.slice(0, 80))
"""


BROKEN_NAMES = """
[...document.querySelectorAll('tbody td:first-child .pre')].flatMap(e => [...e.childNodes]).filter(e => {
  const range = document.createRange();
  range.selectNodeContents(e);
  return range.getClientRects().length > 1;
}).map(e => e.textContent)
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with Chromium(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("width", [375, 800, 1400, 1920])
def test_nothing_is_cut_off(browser: Chromium, site: Path, page: str, width: int) -> None:
    browser.open(site / page, width=width)
    assert browser.evaluate(CUT_OFF) == []


@pytest.mark.parametrize("page", ["configuration", "rules"])
def test_names_break_after_signs_and_not_within_words(browser: Chromium, site: Path, page: str) -> None:
    browser.open(site / "docs" / f"{page}.html", width=1400)
    assert browser.evaluate(BROKEN_NAMES) == []


@pytest.mark.parametrize(("width", "columns"), [(375, False), (800, False), (1400, True)])
def test_a_table_without_room_for_columns_names_them_in_its_rows(
    browser: Chromium, site: Path, width: int, columns: bool
) -> None:
    browser.open(site / "docs" / "configuration.html", width=width)
    assert bool(browser.evaluate("document.querySelector('thead').offsetHeight")) == columns
    cells = browser.evaluate(
        "[...document.querySelector('tbody').querySelectorAll('td + td')].map("
        "e => [getComputedStyle(e, '::before').content, !!e.offsetHeight, !!e.innerText])"
    )
    names = {name for name, shown, _ in cells if shown}
    assert names == ({"none"} if columns else {'"kind: "', '"default: "', '"meaning: "'})
    # An empty cell takes a place among columns alone.
    assert any(shown and not text for _, shown, text in cells) == columns


@pytest.mark.parametrize("page", PAGES)
def test_pages_load_nothing_from_the_net(browser: Chromium, site: Path, page: str) -> None:
    browser.open(site / page)
    loaded = browser.evaluate(LOADED)
    assert [address for address in loaded if not address.startswith(site.as_uri())] == []
    assert len(loaded) > 3
    assert browser.evaluate("[...document.images].every(e => e.complete && e.naturalWidth > 0)")


def test_the_first_page_shows_the_picture(browser: Chromium, site: Path) -> None:
    browser.open(site / "index.html")
    assert browser.evaluate("document.images.length") == 1


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("placement group", ["aws.GpuNodeGroup", "azure.GpuNodeGroup", "aws.BatchEnvironment"]),
        ("GpuNodeGroup", ["aws.GpuNodeGroup", "azure.GpuNodeGroup"]),
        ("budget", ["aws.Budget", "azure.Budget"]),
        ("training run", ["Choose GPUs for a training run"]),
    ],
)
def test_search_shows_components_and_titles_first(browser: Chromium, site: Path, words: str, first: list[str]) -> None:
    browser.ask("Page.navigate", url=f"{(site / 'search.html').as_uri()}?q={quote(words)}")
    # Results appear one after another, the best first.
    titles = browser.until(
        f"location.search.endsWith({quote(words)!r}) && (titles => titles.length > {len(first)} && titles)"
        "([...document.querySelectorAll('#search-results .search > li > a')].map(e => e.innerText))"
    )
    assert titles[: len(first)] == first


def test_decisions_are_found_last(browser: Chromium, site: Path) -> None:
    browser.ask("Page.navigate", url=(site / "search.html").as_uri() + "?q=karpenter")
    pages = browser.until(
        "location.search.endsWith('karpenter') && document.querySelector('#search-results .search-summary')?.innerText"
        ".includes('finished') && [...document.querySelectorAll('#search-results .search > li > a')].map(e => e.href)"
    )
    decided = ["/decisions/" in page for page in pages]
    assert True in decided
    assert False in decided
    assert decided == sorted(decided)


def test_an_argument_is_found_by_its_name_from_a_folder(browser: Chromium, site: Path) -> None:
    browser.ask("Page.navigate", url=(site / "search.html").as_uri() + "?q=interface_endpoints")
    found = (
        "[...document.querySelectorAll('#search-results a')].find(e => e.href.includes('reference/aws-network.html'))"
    )
    browser.until(f"!!{found}")
    # Clicked when the question has been answered: a page that has gone cannot answer.
    browser.evaluate(f"setTimeout(() => {found}.click())")
    browser.until("location.pathname.endsWith('aws-network.html') && document.readyState == 'complete'")
    assert "interface_endpoints" in str(browser.evaluate("document.body.innerText"))
