"""What stands in angle brackets outside of code is HTML to a reader's browser, and is not shown."""

import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from tools.website.reference_pages import reference_pages

ROOT = Path(__file__).parents[3]
DOCUMENTS = [
    *ROOT.glob("*.md"),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").glob("*/README.md")),
]
MEANT = re.compile(r"</?(a|br|details|sub|summary)\b[^>]*>|<!--.*-->", re.DOTALL)


def lost(text: str) -> list[str]:
    """The tags of a document that nobody meant."""
    return [
        token.content
        for block in MarkdownIt("commonmark").enable("table").parse(text)
        for token in block.children or ()
        if token.type == "html_inline" and not MEANT.fullmatch(token.content)
    ]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_no_word_of_a_document_is_taken_for_html(document: Path) -> None:
    assert lost(document.read_text(encoding="utf-8")) == []


def test_a_lost_word_is_found() -> None:
    assert lost("| a |\n|---|\n| Pulumi.<stack>.yaml, `<fine>`<br> |\n") == ["<stack>"]


def test_no_word_of_the_reference_is_taken_for_html() -> None:
    assert {name: words for name, text in reference_pages().items() if (words := lost(text))} == {}
