"""Languages of the guides' code blocks, and the fences that say them to the site."""

import pytest

from tools.website.code_blocks import language, with_languages


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("gpufleet cost aws-dev  # estimate\n", "shell"),
        ("AWS_PROFILE=lab pulumi up\n", "shell"),
        (". .venv/bin/activate\n", "shell"),
        ("pools:\n  a: {types: [p5.48xlarge]}\n", "yaml"),
        ("- name: one\n", "yaml"),
        ("a: {b\n", "text"),
        # An error, not a mapping of words to a sentence.
        ("gpufleet: a pool needs a zone\n", "text"),
        ("makefile\n", "text"),
    ],
)
def test_a_language_is_found_by_how_a_block_reads(code: str, found: str) -> None:
    assert language(code) == found


def test_an_indented_block_gets_a_fence_and_all_else_stays() -> None:
    text = "# A\n\n    make test\n\n\n    make e2e\n\nText.\n\n```text\n    as it was\n```\n"
    fenced = "# A\n\n```shell\nmake test\n\n\nmake e2e\n```\n\nText.\n\n```text\n    as it was\n```\n"
    assert with_languages(text) == fenced


def test_a_block_in_a_list_stays_in_its_item() -> None:
    text = "- one:\n\n      a:\n        b: 1\n\n  and\n- two\n"
    assert with_languages(text) == "- one:\n\n  ```yaml\n  a:\n    b: 1\n  ```\n\n  and\n- two\n"


def test_a_block_that_begins_deeper_keeps_its_layout() -> None:
    assert with_languages("A\n\n      b\n    c\n") == "A\n\n```text\n  b\nc\n```\n"


def test_a_fence_in_a_block_does_not_end_it() -> None:
    assert with_languages("A\n\n    ```\n    b\n    ```\n") == "A\n\n````text\n```\nb\n```\n````\n"
