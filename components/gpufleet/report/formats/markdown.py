"""The report of one stack as the body of one sticky comment, in the Markdown of code hosts.

A comment may have 65,536 characters. Sections that do not fit in `LIMIT` are cut, the full diff first, with a note.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from gpufleet.report.diagram import build_diagram
from gpufleet.report.formats.mermaid import render_mermaid
from gpufleet.report.model import CostSummary, Issue, Report, ResourceChange, StackReport
from gpufleet.report.parts import fold_parts, parts_text
from gpufleet.report.text import (
    DIFF_SIGNS,
    GPU_HEADINGS,
    MONEY_HEADINGS,
    PAST_TENSE,
    VERDICT_LABELS,
    footer_lines,
    gpu_row,
    headline,
    known_mark,
    loss_text,
    money_rows,
    usd,
    verdict_line,
)
from gpufleet.rules.messages import plural

LIMIT = 64_000
"""Characters; GitHub takes 65,536, and other tools add their own line."""

_ICONS = {
    "error": "\N{NO ENTRY}",
    "warning": "\N{WARNING SIGN}\N{VARIATION SELECTOR-16}",
    "info": "\N{INFORMATION SOURCE}\N{VARIATION SELECTOR-16}",
}


@dataclass(frozen=True)
class Section:
    """A part of the comment. rank: when it is cut, the highest first; 0 never. whole: nothing or all of it."""

    head: str
    lines: Sequence[str]
    tail: str = ""
    rank: int = 0
    what: str = ""
    whole: bool = False
    left_out: int = field(default=0)

    @property
    def text(self) -> str:
        if not self.lines and not self.left_out:
            return ""
        said = f"\n_{self.left_out} {self.what} left out here for want of room: report.json has all._\n"
        body = "".join(f"{line}\n" for line in self.lines)
        return f"{self.head}{body}{self.tail}{said if self.left_out else ''}\n"


def marker_of(stack: str) -> str:
    """The hidden line that identifies the comment on a stack (project/stack)."""
    return f"<!-- gpufleet-report:{stack} -->"


def render_comment(report: Report, stack: StackReport, limit: int = LIMIT) -> str:
    """The comment on one stack, at most `limit` characters."""
    sections = [*_sections(stack), _footer(report)]
    while (over := sum(len(each.text) for each in sections) - limit) > 0:
        cuttable = [each for each in sections if each.rank and each.lines]
        if not cuttable:
            break
        chosen = max(cuttable, key=lambda each: each.rank)
        sections[sections.index(chosen)] = _shorter(chosen, over)
    return "".join(each.text for each in sections)


def render_markdown(report: Report, limit: int = LIMIT) -> str:
    """All stacks in one text, for a job summary or a terminal: the total first."""
    return join_comments(report, [render_comment(report, stack, limit) for stack in report.stacks])


def join_comments(report: Report, comments: Sequence[str]) -> str:
    """The comments on all stacks in one text, as in `render_markdown`."""
    return "\n".join([*([_total(report)] if len(report.stacks) > 1 else []), *comments])


def _shorter(section: Section, over: int) -> Section:
    """A section without as many of its last lines as are over the limit, and room for the line that says so."""
    kept = [] if section.whole else list(section.lines)
    gone = -200
    while kept and gone < over:
        gone += len(kept.pop()) + 1
    return replace(section, lines=kept, left_out=section.left_out + len(section.lines) - len(kept))


def _total(report: Report) -> str:
    icon, said = VERDICT_LABELS[report.verdict]
    lines = [f"## {icon} gpufleet: {said}", "", "| stack | verdict | what |", "| --- | --- | --- |"]
    for stack in report.stacks:
        lines.append(f"| {code(stack.name)} | {VERDICT_LABELS[stack.verdict][1]} | {text(headline(stack))} |")
    if report.total is not None:
        lines += ["", "All stacks together:", "", *_money_table(report.total)]
    return "\n".join(lines) + "\n"


def _sections(stack: StackReport) -> Iterator[Section]:
    icon, _ = VERDICT_LABELS[stack.verdict]
    head = f"## {icon} gpufleet: {code(stack.name)} {text(verdict_line(stack))}"
    yield Section("", [marker_of(stack.name), head, "", f"**{text(headline(stack))}**"])
    yield Section("", [f"> {text(note)}" for note in stack.notes])
    yield from _findings(stack)
    folded = fold_parts(stack.changes)
    whole = [each for each in stack.destructive if each.urn in folded]
    hurting = [each for each in whole if loss_text(each)]
    others = [each for each in whole if not loss_text(each)]
    yield Section(
        "### Replaced and deleted\n", [_destroyed(each, folded[each.urn]) for each in hurting], rank=1, what="lines"
    )
    yield Section(
        f"<details><summary>{len(others)} more replaced or deleted: nothing known of them that holds data or runs work"
        "</summary>\n\n",
        [_destroyed(each, folded[each.urn]) for each in others],
        "\n</details>\n",
        rank=7,
        what="lines",
    )
    if stack.cost is not None:
        yield Section("### Cost\n\n", [*_money_table(stack.cost), *_budgets(stack)])
    if stack.gpus:
        rows = [table_row(map(text, gpu_row(pool))) for pool in stack.gpus]
        head = f"### GPUs\n\n{table_row(GPU_HEADINGS)}\n{table_row(['---'] * len(GPU_HEADINGS))}\n"
        yield Section(head, rows, rank=3, what="pools")
    drawn = render_mermaid(build_diagram(stack))
    if stack.gpus or stack.stored:
        lines = [*"```mermaid\n".splitlines(), *drawn.splitlines(), "```"]
        head = "<details><summary>Picture</summary>\n\n"
        yield Section(head, lines, "\n</details>\n", rank=8, what="lines of the picture", whole=True)
    diff = [line for each in stack.changes for line in _diff(each)]
    head = f"<details><summary>Full diff: {plural(len(stack.changes), 'resource')}</summary>\n\n```diff\n"
    yield Section(head, diff, "```\n</details>\n", rank=9, what="lines of the diff")
    yield Section(
        "<details><summary>Not in the figures</summary>\n\n",
        [f"- {text(line)}" for line in stack.unpriced],
        "\n</details>\n",
        rank=6,
        what="lines",
    )
    yield Section(
        "<details><summary>Assumptions</summary>\n\n",
        [f"- {text(line)}" for line in stack.assumptions],
        "\n</details>\n",
    )


def _findings(stack: StackReport) -> Iterator[Section]:
    """What is found, first what asks for something: errors, and what is not known to have been there before."""
    old = [each for each in stack.failures if each.known and not each.rejects]
    asking = [each for each in stack.failures if each not in old]
    yield Section("### Findings\n\n", _issues(stack, asking), rank=2, what="lines")
    yield Section("### Not verified\n\n", _issues(stack, stack.unverified), rank=5, what="lines")
    yield Section("### Gone\n\n", [f"- gone: {text(each.line)}" for each in stack.gone], rank=6, what="lines")
    head = f"<details><summary>{plural(len(old), 'finding')} that {'was' if len(old) == 1 else 'were'} there before"
    yield Section(f"{head}</summary>\n\n", _issues(stack, old), "\n</details>\n", rank=6, what="lines")
    yield Section("### Suppressed\n\n", [_suppressed(each) for each in stack.suppressions], rank=4, what="lines")


def _footer(report: Report) -> Section:
    return Section("---\n", [f"<sub>{text(line)}</sub><br>" for line in footer_lines(report)])


def _money_table(cost: CostSummary) -> list[str]:
    rows = [(*cells, f"**{change}**" if change else "") for *cells, change in money_rows(cost)]
    return [table_row(each) for each in (MONEY_HEADINGS, ("---", "--:", "--:", "--:"), *rows)]


def _budgets(stack: StackReport) -> list[str]:
    lines = [""] if stack.budgets else []
    for each in stack.budgets:
        left = f"{usd(each.left_steady)} left at steady, {usd(each.left_ceiling)} at the ceiling"
        lines.append(f"Budget {code(each.name)}: {usd(each.usd_month)} a month, {left}")
    return lines


def _destroyed(change: ResourceChange, parts: Sequence[ResourceChange]) -> str:
    why = f", for {', '.join(map(code, change.replaced_for))}" if change.replaced_for else ""
    inside = parts_text(parts, change.operation, PAST_TENSE)
    why += f", with {text(inside)}" if inside else ""
    said = loss_text(change)
    strong = f"**{text(said)}**" if change.loses_data else text(said)
    what = f"- {PAST_TENSE[change.operation]} {code(change.name)} ({text(change.type)}){why}"
    return f"{what}: {strong}" if said else what


def _issues(stack: StackReport, issues: Iterable[Issue]) -> list[str]:
    return [line for each in issues for line in _issue(stack, each)]


def _issue(stack: StackReport, issue: Issue) -> list[str]:
    mark = known_mark(stack, issue)
    new = f"**{mark}:** " if issue.known is False and mark else ""
    known = f" _({mark})_" if mark and not new else ""
    by = f", by {text(issue.source)}" if issue.source not in ("gpufleet", "preview") else ""
    lines = [f"- {_ICONS[issue.severity]} {issue.severity}: {new}{text(issue.line)}{known}{by}"]
    if issue.fix and not issue.line.endswith(f"; {issue.fix} [{issue.rule}]"):
        lines.append(f"  - fix: {text(issue.fix)}")
    if issue.urn:
        lines.append(f"  - {code(issue.urn)}")
    return lines


def _suppressed(issue: Issue) -> str:
    assert issue.suppressed is not None
    return f"- until {text(issue.suppressed.until)}: {text(issue.line)} - {text(issue.suppressed.reason)}"


def _diff(change: ResourceChange) -> list[str]:
    """As `diff` colours it: the first character says it all."""
    lines = [f"{DIFF_SIGNS.get(change.operation, '!')} {PAST_TENSE[change.operation]} {change.name} ({change.type})"]
    for each in change.properties:
        replaces = " # replaces" if each.replaces else ""
        if each.before is not None:
            lines.append(f"-     {each.path}: {each.before}{replaces}")
        if each.after is not None:
            lines.append(f"+     {each.path}: {each.after}{replaces}")
        if each.before is None and each.after is None:
            lines.append(f"      {each.path}{replaces}")
    return [" ".join(line.splitlines()) for line in lines]


def table_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def text(said: str) -> str:
    """A text of a program or a person so that it stands in Markdown as it is: no format, no link, no mention."""
    plain = _START.sub(r"\1\\\2", " ".join(said.split()).translate(_PLAIN))
    return _LINKS.sub("\\1\N{ZERO WIDTH SPACE}", plain)


_PLAIN = str.maketrans(
    {sign: f"\\{sign}" for sign in "\\`*_[]|~"}
    | {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
    # A blank of no width: `@somebody` in a comment calls them, and `#7` is noted in issue 7.
    | {"@": "@\N{ZERO WIDTH SPACE}", "#": "\\#\N{ZERO WIDTH SPACE}"}
)
_START = re.compile(r"^(\d{0,9})([-+=.)])")
"""What makes a list or a heading of a line that begins with it."""
_LINKS = re.compile(r"((?:https?|ftp|mailto|xmpp)(?=:)|www(?=\.)|GH-(?=\d))", re.IGNORECASE)
"""What code hosts make links of without any sign around it: https://github.github.com/gfm/#autolinks-extension-"""


def code(said: str) -> str:
    """A name as code; a backtick in it would end that."""
    return f"`{' '.join(said.split()).replace('|', BAR).replace('`', QUOTE)}`"


BAR, QUOTE = "\\|", "'"
"""In place of what ends a cell of a table, and a code span."""
