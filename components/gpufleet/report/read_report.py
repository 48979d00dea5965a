"""Read a report.json that somebody else wrote, such as the code of a pull request: nothing in it is trusted.

Every format escapes what it is given; what becomes a comment's identity or a key of a table is checked here.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from gpufleet.documents.content import MIB
from gpufleet.documents.json import read_json
from gpufleet.errors import UserError
from gpufleet.report.changes import OPERATION_ORDER
from gpufleet.report.model import SCHEMA, Report, StackReport

MAX_BYTES = 32 * MIB
"""Largest file that is read. Ten thousand changed resources are about 10 MB."""
MAX_STACKS = 200
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,99}", re.ASCII)
"""A project or a stack, as Pulumi allows them."""
_COMMIT = re.compile(r"[0-9a-f]{1,64}")


def read_report(file: Path) -> Report:
    """The report in a file. Errors: UserError for one that is missing, too large, or not as `schema.json` says."""
    made = "make it with `gpufleet preview` or `gpufleet report --to`"
    report = read_json(file, made, shape=Report, most=MAX_BYTES)
    if fault := next(_faults(report), None):
        raise UserError(f"{file}: is not a report: {fault}; {made}")
    return report


def _faults(report: Report) -> Iterator[str]:
    if report.schema != SCHEMA:
        yield f"schema={report.schema}: must be {SCHEMA}, that of this gpufleet"
    if len(report.stacks) > MAX_STACKS:
        yield f"{len(report.stacks)} stacks: at most {MAX_STACKS} are read"
    if report.footer.commit is not None and not _COMMIT.fullmatch(report.footer.commit):
        yield "footer.commit: must be the hexadecimal id of a commit"
    if len({stack.name for stack in report.stacks}) < len(report.stacks):
        yield "stacks: one of them is there twice"
    for stack in report.stacks:
        yield from _stack_faults(stack)


def _stack_faults(stack: StackReport) -> Iterator[str]:
    if not (_NAME.fullmatch(stack.project) and _NAME.fullmatch(stack.stack)):
        yield f"stack={stack.name[:100]!r}: must be letters, digits, - _ and ., at most 100 each"
    operations = {*stack.summary, *(each.operation for each in stack.changes)}
    pools = {each.operation for each in stack.gpus}
    shown = pools | {each.operation for each in stack.stored} | {each.operation for each in stack.surroundings}
    if unknown := sorted((operations | shown - {"same"}) - set(OPERATION_ORDER)):
        yield f"operation={unknown[0][:100]!r}: must be one of {', '.join(OPERATION_ORDER)}"
    if any(each.before is None and each.after is None for each in stack.gpus):
        yield "gpus: a pool is neither there before nor after"
