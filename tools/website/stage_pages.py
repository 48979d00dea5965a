"""The guides as Sphinx is to read them: pages, the files that they link to as pages of their own, and the menu."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from markdown_it import MarkdownIt

from tools.website.code_blocks import fence, with_languages
from tools.website.reference import FOLDERS

FIRST = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")
INDEX = "docs/README.md"
"""The guides by task: its headings are the menu's, and each page that it links to is in the menu."""
DECISIONS = "docs/decisions/README.md"
_COMPONENT = re.compile(rf"components/gpufleet/({'|'.join(FOLDERS)})/(\w+)\.py")
"""A component's module: a link to it leads to the component's page of the reference."""
_LEXERS = {
    ".go": "go",
    ".json": "json",
    ".py": "python",
    ".toml": "toml",
    ".ts": "typescript",
    ".yaml": "yaml",
    ".yml": "yaml",
}


class DeadLink(Exception):
    """Links to what is not there, one line each."""


def staged(root: Path) -> Mapping[str, str]:
    """Path in the stage -> text, of all pages. Errors: DeadLink."""
    dead: list[str] = []
    pages: dict[str, str] = {}
    waiting = [*FIRST, *sorted(file.relative_to(root).as_posix() for file in root.glob("docs/**/*.md"))]
    while waiting:
        page = waiting.pop()
        if page in pages:
            continue
        text = (root / page).read_text(encoding="utf-8")
        for href in links(text):
            target = _target(root, page, href)
            if target is None:
                dead.append(f"{page}: {href}: no such file")
            elif target.suffix == ".md":
                waiting.append(target.as_posix())
                if href.endswith("/"):
                    text = text.replace(f"]({href})", f"]({href}README.md)")
            elif target.suffix not in (".svg", ".png"):
                if component := _COMPONENT.fullmatch(target.as_posix()):
                    shown = f"reference/{FOLDERS[component[1]]}-{component[2].replace('_', '-')}.md"
                else:
                    shown = _file_page(target)
                    pages[shown] = file_text(root, target)
                text = text.replace(f"]({href})", f"]({os.path.relpath(shown, PurePosixPath(page).parent)})")
        pages[page] = with_languages(text.replace("```mermaid\n", "```text\n"))
    if dead:
        raise DeadLink("\n".join(sorted(dead)))
    pages["README.md"] += menu(pages[INDEX])
    pages[DECISIONS] += _tree("", [href.removesuffix(".md") for href in links(pages[DECISIONS])])
    return pages


def links(text: str) -> Iterator[str]:
    """Where the links and pictures of a page lead to, as written, without those into the net and within the page."""
    for block in MarkdownIt("commonmark").enable("table").parse(text):
        for token in block.children or ():
            href = str(token.attrs.get("href") or token.attrs.get("src") or "")
            if href and not re.match(r"[a-z]+:|#", href):
                yield href


def menu(index: str) -> str:
    """Sphinx's tables of contents, one for each second heading of the index, and one for the reference."""
    parts = ["\n", _tree("", ["Guides by task <docs/README>"])]
    for section in index.split("\n## ")[1:]:
        heading, _, text = section.partition("\n")
        entries = [
            os.path.normpath(f"docs/{href.partition('#')[0]}").removesuffix(".md")
            for href in links(text)
            if href.partition("#")[0].endswith(".md")
        ]
        parts.append(_tree(heading, [each for each in dict.fromkeys(entries) if each != "README"]))
    parts.append(_tree("Reference", [f"reference/{name}" for name in ("aws", "azure", "kubernetes", "commands")]))
    return "\n".join(parts)


def _tree(caption: str, entries: list[str]) -> str:
    said = f":caption: {caption}\n" if caption else ""
    return f"\n```{{toctree}}\n:hidden:\n{said}\n" + "\n".join(entries) + "\n```\n"


def _target(root: Path, page: str, href: str) -> PurePosixPath | None:
    """What a link leads to, from the root; of a folder its README, if it has one. None: nothing is there."""
    path = os.path.normpath(PurePosixPath(page).parent / href.partition("#")[0])
    if path.startswith("..") or not (root / path).exists():
        return None
    inner = PurePosixPath(path) / "README.md"
    return inner if (root / inner).is_file() else PurePosixPath(path)


def _file_page(target: PurePosixPath) -> str:
    """The page that shows a file or a folder that is none itself. No dot begins a name: web servers hide those."""
    return f"files/{str(target).lstrip('.')}.md"


def file_text(root: Path, target: PurePosixPath) -> str:
    """A file, or each file of a folder, as a page that is in no menu."""
    here = root / target
    files = sorted(each for each in here.iterdir() if each.is_file()) if here.is_dir() else [here]
    parts = [f"---\norphan: true\n---\n# {target}\n"]
    for file in files:
        text = file.read_text(encoding="utf-8")
        marks = fence(text)
        heading = f"## {file.name}\n\n" if here.is_dir() else ""
        parts.append(f"{heading}{marks}{_LEXERS.get(file.suffix, 'text')}\n{text.rstrip()}\n{marks}\n")
    return "\n".join(parts)
