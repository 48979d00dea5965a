"""What a site's pages point to: files and anchors that are not there, and what a browser would fetch from the net."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LOADED = {("img", "src"), ("script", "src"), ("link", "href"), ("iframe", "src"), ("source", "src"), ("use", "href")}


class _Page(HTMLParser):
    """The anchors of a page, and what it points to: (whether a browser loads it by itself, address)."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.targets: list[tuple[bool, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            elif value and ((tag, name) in _LOADED or (tag, name) == ("a", "href")):
                self.targets.append(((tag, name) in _LOADED, value))


def dead_links(site: Path) -> list[str]:
    """One line for each fault of a site's pages and style sheets, sorted."""
    pages: dict[Path, _Page] = {}
    for file in sorted(site.rglob("*.html")):
        pages[file] = page = _Page()
        page.feed(file.read_text(encoding="utf-8"))
    found = []
    for file, page in pages.items():
        for loaded, address in page.targets:
            if fault := _fault(site, file, pages, address, loaded=loaded):
                found.append(f"{file.relative_to(site)}: {address}: {fault}")
    for sheet in site.rglob("*.css"):
        loads = re.findall(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')]+)", sheet.read_text(encoding="utf-8"))
        found += [f"{sheet.relative_to(site)}: {address}: is fetched from the net" for address in loads]
    return sorted(set(found))


def _fault(site: Path, file: Path, pages: dict[Path, _Page], address: str, *, loaded: bool) -> str | None:
    parts = urlsplit(address)
    if parts.scheme == "data":
        return None
    if parts.scheme or parts.netloc:
        return "is fetched from the net" if loaded else None
    path = (file.parent / unquote(parts.path)).resolve() if parts.path else file
    if not path.is_relative_to(site.resolve()) and path != file:
        return "leads out of the site"
    if not path.is_file():
        return "no such file"
    page = pages.get(path) or pages.get(site / path.relative_to(site.resolve()))
    if parts.fragment and page is not None and unquote(parts.fragment) not in page.anchors:
        return "no such place in it"
    return None
