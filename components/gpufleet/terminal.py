"""Tables on a terminal: each row is one line, and columns that do not fit are left out unless `--wide` is given."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import fill

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

GAP = 2
"""Spaces between two columns."""
UNLIMITED = 1000
"""Characters that no row reaches."""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    rank: 0 for a column that is always shown; of the others, the highest goes first where the terminal is too narrow.
    right: whether its cells are aligned right, as figures are. name: what the note about hidden columns calls it;
    default: its heading.
    """

    heading: str
    rank: int = 0
    right: bool = False
    name: str = ""


def wide_console(*, stderr: bool = False) -> Console:
    """A console that neither wraps nor cuts a row; also for `| grep`."""
    return Console(stderr=stderr, highlight=False, markup=False, emoji=False, width=UNLIMITED, soft_wrap=True)


def terminal_width() -> int:
    """Columns of the terminal, by COLUMNS where it is set; 80 where the output is not a terminal."""
    return Console().width


def print_table(
    columns: Sequence[Column],
    rows: Sequence[Sequence[str]],
    out: Console,
    *,
    wide: bool = False,
    styles: Sequence[str] = (),
) -> None:
    """Print rows under their headings, and name the columns that are hidden.

    rows: one cell for each column. out: a console of `wide_console`. wide: show all columns. styles: rich's style of
    each row; default: none.
    """
    cells = [[column.heading for column in columns], *rows]
    widths = [max(cell_len(row[n]) for row in cells) for n in range(len(columns))]
    shown = list(range(len(columns))) if wide else _fitting(columns, widths, terminal_width())
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), collapse_padding=True)
    for n in shown:
        table.add_column(columns[n].heading, no_wrap=True, justify="right" if columns[n].right else "left")
    for row, style in zip(rows, [*styles, *[""] * len(rows)], strict=False):
        table.add_row(*(Text(row[n]) for n in shown), style=style)
    out.print(table)
    hidden = [column.name or column.heading for n, column in enumerate(columns) if n not in shown]
    print_notes([f"--wide also shows: {', '.join(hidden)}"] if hidden else [], out)


def print_notes(notes: Iterable[str], out: Console) -> None:
    """Print sentences, each broken between words where the output is a terminal; else a line each, for `| grep`."""
    for note in notes:
        out.print(fill(note, terminal_width(), subsequent_indent="  ") if out.is_terminal else note)


def _fitting(columns: Sequence[Column], widths: Sequence[int], width: int) -> list[int]:
    """The columns that fit, by number; those of rank 0 in any case."""
    shown = list(range(len(columns)))
    ranked = [n for n in shown if columns[n].rank]
    for n in sorted(ranked, key=lambda n: columns[n].rank, reverse=True):
        if sum(widths[each] + GAP for each in shown) - GAP <= width:
            break
        shown.remove(n)
    return shown
