"""Every command line that the documents show is one of ours: its words, options and number of arguments."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from gpufleet.cli import main

ROOT = Path(__file__).parents[3]
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").glob("*/README.md")),
]
TARGETS = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def lines_of(text: str) -> Iterator[tuple[bool, str]]:
    """(whether it is meant to be run as it stands, line) of code blocks and code spans."""
    fenced = re.findall(r"^```(?:sh|bash|text)?\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    indented = re.findall(r"^ {4,}(\S.*)$", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL), re.M)
    for line in [*(line for block in fenced for line in block.splitlines()), *indented]:
        for part in re.split(r"; |&& |\| | >>? ", line.strip().rstrip("\\")):
            yield True, part.strip()
    for span in re.findall(r"(?<![`\\])`([^`]+)`(?!`)", text):
        yield False, " ".join(span.split())


def fault(line: str, *, whole: bool) -> str | None:
    """What is wrong with a command line of ours; None for nothing. whole: not only a mention of the command."""
    words = shlex.split(line, comments=True)[1:]
    command: click.Command = main
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        name, *rest = words
        if name not in command.commands:
            return f"no command {name}" if whole or re.fullmatch(r"[a-z-]+", name) else None
        command, words = command.commands[name], rest
    context = click.Context(command, info_name=command.name, **main.context_settings)
    if isinstance(command, click.Group):
        # A mention of what all of its commands have, as `gpufleet jobs --team`.
        known = {option for inner in command.commands.values() for each in inner.params for option in each.opts}
        return next((f"no option {word}" for word in words if word.startswith("-") and word not in known), None)
    try:
        options, left, _ = command.make_parser(context).parse_args(list(words))
    except click.UsageError as wrong:
        return wrong.format_message() if whole or isinstance(wrong, click.NoSuchOption) else None
    # What is not given is None or a mark of click's own, as its release has it.
    given = {name for name, value in options.items() if isinstance(value, str | tuple) and value}
    lacking = [str(each.name) for each in command.params if each.required and each.name not in given]
    if whole and lacking and "help" not in options:
        return f"lacks {', '.join(lacking)}"
    return f"more than it takes: {left}" if left and whole else None


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_the_documents_commands_are_ours(document: Path) -> None:
    faults = []
    for whole, line in lines_of(document.read_text(encoding="utf-8")):
        if re.match(r"(\.venv/bin/)?gpufleet [a-z-]", line) and not line.endswith("..."):
            if found := fault(line, whole=whole):
                faults.append(f"{line}: {found}")
        elif (target := re.match(r"make ([a-z][a-z0-9-]*)\b(?!\s*=)", line)) and target[1] not in TARGETS:
            faults.append(f"{line}: no target {target[1]}")
    assert faults == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("gpufleet jobs submit aws-dev --workers 2 -- python3 train.py", None),
        ("gpufleet rehears aws-dev", "no command rehears"),
        ("gpufleet jobs begin aws-dev", "no command begin"),
        ("gpufleet extend aws-dev", "lacks until"),
        ("gpufleet stop --undo", "lacks environment"),
        ("gpufleet jobs --team", None),
        ("gpufleet jobs --teams", "no option --teams"),
        ("gpufleet stop aws-dev --undone", "No such option"),
        ("gpufleet stop aws-dev --undo azure-dev", "more than it takes"),
        ("gpufleet cost --usage", "requires an argument"),
    ],
)
def test_what_a_document_may_not_say(line: str, said: str | None) -> None:
    found = fault(line, whole=True)
    assert (found is None) if said is None else (found is not None and said in found)
