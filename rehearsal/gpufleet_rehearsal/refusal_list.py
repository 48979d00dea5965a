"""Everything that the simulated cloud refuses, as a table for people: on the terminal, and in docs/refusals.md."""

from collections.abc import Iterator

from rich.table import Table as Columns

from gpufleet_rehearsal.rows import Refusal
from gpufleet_rehearsal.table import Table, load_table

HEADINGS = ("refusal", "type", "operation", "comes", "the cloud's code and words", "evidence", "source")


def cells(row: Refusal) -> tuple[str, ...]:
    """One refusal in the order of HEADINGS."""
    kind = row.type.split(":", 1)[1].split("/")[0] + " " + row.type.split(":")[-1]
    comes = "at once" if row.comes == "at-once" else f"in the status, after {row.after:g} s"
    return (row.name, kind, row.operation, comes, f"{row.code}: {row.text}", f"{row.evidence} {row.date}", row.source)


def holds(table: Table) -> Iterator[tuple[str, ...]]:
    """Refusals of deletion by what still stands on a resource, in the order of HEADINGS."""
    for type_, row in sorted(table.types.items()):
        for hold in row.held_by:
            kind = type_.split(":", 1)[1].split("/")[0] + " " + type_.split(":")[-1]
            holder = hold.type.split(":")[-1]
            yield (
                f"held by {holder}", kind, "delete", "at once", f"{hold.code}: {hold.text}", hold.evidence, hold.source
            )  # fmt: skip


def refusal_table(cloud: str = "aws") -> Columns:
    """The list for a terminal."""
    table = load_table(cloud)
    columns = Columns(*HEADINGS, title=f"What the simulated {cloud} refuses", show_lines=True)
    for row in (*map(cells, table.refusals), *holds(table)):
        columns.add_row(*row)
    return columns


def refusal_markdown(cloud: str = "aws") -> str:
    """The same as a Markdown table, with the number of rows by evidence."""
    table = load_table(cloud)
    rows = [*map(cells, table.refusals), *holds(table)]
    lines = [" | ".join(HEADINGS), " | ".join("---" for _ in HEADINGS)]
    lines += [" | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) for row in rows]
    return "\n".join(f"| {line} |" for line in lines) + "\n"
