"""Everything that a simulated cloud rejects, as rows for people: on the terminal, and in docs/refusals.md."""

from collections.abc import Iterator, Sequence

from gpufleet_rehearsal.table.loader import CloudTable, load_table

HEADINGS = ("refusal", "type", "operation", "comes", "the cloud's code and words", "evidence", "source")


def refusal_rows(table: CloudTable) -> Iterator[tuple[str, ...]]:
    """Every refusal in the order of HEADINGS: separate rows, what holds a deletion, names taken, things missing."""
    for refusal in table.refusals:
        comes = "at once" if refusal.comes == "at-once" else f"in the status, after {refusal.after:g} s"
        words, evidence = f"{refusal.code}: {refusal.text}", f"{refusal.evidence} {refusal.date}"
        yield (refusal.name, kind_of_type(refusal.type), refusal.operation, comes, words, evidence, refusal.source)
    if (exists := table.row.exists) is not None:
        words = f"{exists.code}: {exists.text}" if exists.code else exists.text
        yield ("id taken", "every type", "create", "at once", words, exists.evidence, exists.source)
    for type_, row in sorted(table.types.items()):
        for hold in row.deletion_blockers:
            words = f"{hold.code}: {hold.text}"
            name = f"held by {kind_of_type(hold.type)}"
            yield (name, kind_of_type(type_), "delete", "at once", words, hold.evidence, hold.source)
        for unique in row.unique:
            what = ", ".join(unique.by) or "id"
            words = f"{unique.code}: {unique.text}"
            yield (f"{what} taken", kind_of_type(type_), "create", "at once", words, unique.evidence, unique.source)
        for path, reference in row.references.items():
            words = f"{reference.code}: {reference.text}"
            yield (
                f"{path} missing",
                kind_of_type(type_),
                "create",
                "at once",
                words,
                reference.evidence,
                reference.source,
            )


def kind_of_type(type_: str) -> str:
    """aws:eks/nodeGroup:NodeGroup -> eks NodeGroup; azure-native:batch:Pool -> batch Pool."""
    return f"{type_.split(':')[1].split('/')[0]} {type_.split(':')[-1]}"


def refusal_text(clouds: Sequence[str] = ("aws", "azure-native")) -> str:
    """The list for a terminal of any width, and for grep."""
    blocks: list[str] = []
    for cloud in clouds:
        rows = list(refusal_rows(load_table(cloud)))
        blocks.append(f"{len(rows)} requests that the simulated {cloud} rejects")
        for name, kind, operation, comes, words, evidence, source in rows:
            said = " ".join(words.split())
            blocks.append(f"{name} ({kind}, {operation}, {comes})\n    {said}\n    {evidence}: {source}")
    return "\n\n".join(blocks)
