"""Whether a preview shows what was approved: the report on the same commit, with the same changes of each stack."""

from collections.abc import Iterator

from gpufleet.report.model import Report, ResourceChange, StackReport

_AGAIN = "preview and approve it again"


def unapproved_changes(approved: Report, made: Report) -> Iterator[str]:
    """One line for each stack of a report whose changes are not those that were approved."""
    then = {stack.name: stack for stack in approved.stacks}
    for stack in made.stacks:
        if (known := then.get(stack.name)) is None:
            yield f"{stack.name}: not in the approved report; {_AGAIN}"
        elif approved.footer.commit != made.footer.commit:
            yield (
                f"{stack.name}: commit {approved.footer.commit} was approved, and {made.footer.commit} is checked out; "
                f"{_AGAIN}"
            )
        elif differences := _differences(known, stack):
            more = f" and {len(differences) - 1} more" if len(differences) > 1 else ""
            yield f"{stack.name}: {differences[0]}{more}: not as approved; {_AGAIN}"


def _differences(approved: StackReport, made: StackReport) -> list[str]:
    """Names of resources whose change is another one, those first that lose data now."""
    then, now = _by_urn(approved), _by_urn(made)
    urns = [urn for urn in dict.fromkeys((*now, *then)) if now.get(urn) != then.get(urn)]
    urns.sort(key=lambda urn: urn not in now or not now[urn].loses_data)
    return [(now.get(urn) or then[urn]).name for urn in urns]


def _by_urn(stack: StackReport) -> dict[str, ResourceChange]:
    return {change.urn: change for change in stack.changes}
