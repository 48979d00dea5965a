"""The documentation's site in a real browser, from a folder: it fits, nothing comes from the net, and search works."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.chromium import Chromium
from tools.website.build_site import build
from tools.website.reference import ROOT

pytestmark = pytest.mark.cluster
PAGES = ["index.html", "docs/configuration.html", "docs/refusals.html", "reference/aws-gpu-node-group.html"]
LOADED = """
[...[...document.styleSheets].map(e => e.href), ...[...document.scripts].map(e => e.src),
 ...[...document.images].map(e => e.src)].filter(e => e)
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "site"
    build(ROOT, folder)
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with Chromium(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("width", [360, 1000, 1600])
def test_pages_fit_and_load_nothing_from_the_net(browser: Chromium, site: Path, page: str, width: int) -> None:
    browser.open(site / page, width=width)
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    loaded = browser.evaluate(LOADED)
    assert [address for address in loaded if not address.startswith(site.as_uri())] == []
    assert len(loaded) > 3
    assert browser.evaluate("[...document.images].every(e => e.complete && e.naturalWidth > 0)")


def test_the_first_page_shows_the_picture(browser: Chromium, site: Path) -> None:
    browser.open(site / "index.html")
    assert browser.evaluate("document.images.length") == 1


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
