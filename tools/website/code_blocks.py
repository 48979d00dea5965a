"""Languages of the guides' indented code blocks, which Markdown gives none: a site shows them in colours."""

import re
from itertools import takewhile

import yaml
from markdown_it import MarkdownIt

_COMMANDS = re.compile(
    r"(?:[A-Z_]+=\S+ )*(?:gpufleet|pulumi|make|git|pip|python3|kubectl|aws|az|curl|mkdir|getent|nodeadm|\.) "
)
"""How a block of shell commands begins."""


def with_languages(text: str) -> str:
    """A page with a fence around each indented block, that says its language."""
    lines = text.split("\n")
    for token in reversed(MarkdownIt("commonmark").enable("table").parse(text)):
        if token.type != "code_block" or token.map is None:
            continue
        start, end = token.map
        while not lines[end - 1].strip():
            end -= 1
        # Of the list item that the block belongs to.
        margin = " " * (_indent(lines[start]) - _indent(token.content) - 4)
        marks = fence(token.content)
        fenced = [marks + language(token.content), *token.content.rstrip().split("\n"), marks]
        lines[start:end] = [f"{margin}{line}".rstrip() for line in fenced]
    return "\n".join(lines)


def fence(code: str) -> str:
    """Marks for around a block, which are longer than all in it."""
    return "`" * max([3, *(len(run) + 1 for run in re.findall(r"`+", code))])


def language(code: str) -> str:
    """shell, yaml, or text: the name of a lexer."""
    if _COMMANDS.match(code):
        return "shell"
    try:
        read = yaml.safe_load(code)
    except yaml.YAMLError:
        return "text"
    # A message such as `gpufleet: all is well` reads as YAML too.
    plain = isinstance(read, dict) and all(isinstance(value, str) for value in read.values())
    return "yaml" if isinstance(read, dict | list) and not plain else "text"


def _indent(line: str) -> int:
    return sum(1 for _ in takewhile(str.isspace, line))
