"""Calls and literals of a program as lines, in the layout of each language's own formatter."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

WIDTH = 88
"""Most characters of a literal on one line."""


@dataclass(frozen=True, slots=True)
class Block:
    """What stands between two brackets. entries: (what stands before a value, such as `key: `, and the value).
    padding: inside the brackets on one line."""

    opening: str
    entries: "Sequence[tuple[str, Node]]"
    closing: str
    padding: str = ""


Node: TypeAlias = "Block | str"


def laid_out(block: Block, indent: str, *, aligned: bool = False) -> str:
    """A block with a line for each entry, and every block within it on one line where it fits. aligned: values on
    neighbouring lines begin in one column, as gofmt does it."""
    return "\n".join(_lines(block, indent, aligned)) + "\n"


def _one_line(node: Node) -> str:
    if isinstance(node, str):
        return node
    inner = ", ".join(f"{before}{_one_line(value)}" for before, value in node.entries)
    return f"{node.opening}{node.padding}{inner}{node.padding}{node.closing}"


def _lines(block: Block, indent: str, aligned: bool) -> list[str]:
    found = [block.opening]
    run: list[tuple[str, str]] = []

    def end_run() -> None:
        column = max((len(before) for before, _ in run), default=0) if aligned else 0
        found.extend(f"{indent}{before:<{column}}{value}," for before, value in run)
        run.clear()

    for before, value in block.entries:
        short = _one_line(value)
        if isinstance(value, str) or len(before) + len(short) <= WIDTH:
            run.append((before, short))
            continue
        end_run()
        first, *rest = _lines(value, indent, aligned)
        found += [f"{indent}{before}{first}", *(f"{indent}{line}" for line in rest[:-1]), f"{indent}{rest[-1]},"]
    end_run()
    return [*found, block.closing]
