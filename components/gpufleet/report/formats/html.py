"""The report as one self-contained HTML page."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from html import escape

from gpufleet.html_page import html_page, html_table
from gpufleet.report.chart import cost_chart
from gpufleet.report.diagram import build_diagram
from gpufleet.report.formats.svg import render_svg
from gpufleet.report.model import CostSummary, Issue, Report, ResourceChange, StackReport
from gpufleet.report.parts import fold_parts, parts_text
from gpufleet.report.text import (
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
from gpufleet.rules.rule import all_rules


def render_html(report: Report) -> str:
    """The whole page."""
    said = VERDICT_LABELS[report.verdict][1]
    if report.stacks:
        deciding = min(report.stacks, key=lambda stack: stack.verdict != report.verdict)
        said = f"{deciding.name} {verdict_line(deciding)}"
    parts = [
        f'<h1 class="{report.verdict}">{_said(said)}</h1>',
        *_total(report),
        *(line for stack in report.stacks for line in _stack(stack)),
        *_rules(report),
        "<footer>",
        *(f"<p>{escape(line)}</p>" for line in footer_lines(report)),
        "</footer>",
    ]
    return html_page(f"gpufleet: {said}", parts)


def _total(report: Report) -> Iterator[str]:
    if report.total is None:
        return
    yield f'<div class="wide">{cost_chart([(each.name, each.cost) for each in report.stacks if each.cost])}</div>'
    if len(report.stacks) > 1:
        yield "<p>All stacks together:</p>"
        yield _money(report.total)


def _stack(stack: StackReport) -> Iterator[str]:
    said = VERDICT_LABELS[stack.verdict][1]
    yield f"<h2>{escape(stack.name)}</h2>"
    yield f'<p class="{stack.verdict}"><strong>{escape(said)}: {escape(headline(stack))}</strong></p>'
    yield from (f'<p class="dim">{_said(note)}</p>' for note in stack.notes)
    yield from _list("Findings", (_issue(stack, each) for each in stack.failures))
    yield from _list("Not verified", (_issue(stack, each) for each in stack.unverified))
    yield from _list("Gone", (_said(each.line) for each in stack.gone))
    yield from _list("Suppressed", map(_suppressed, stack.suppressions))
    folded = fold_parts(stack.changes)
    whole = [each for each in stack.destructive if each.urn in folded]
    hurting = [each for each in whole if loss_text(each)]
    yield from _list("Replaced and deleted", (_destroyed(each, folded[each.urn]) for each in hurting))
    others = [each for each in whole if not loss_text(each)]
    yield from _folded(
        f"{len(others)} more replaced or deleted: nothing known of them that holds data or runs work",
        (_destroyed(each, folded[each.urn]) for each in others),
    )
    if stack.cost is not None:
        yield "<h3>Cost</h3>"
        yield _money(stack.cost)
    yield from (
        f"<p>Budget {escape(each.name)}: {usd(each.usd_month)} a month, {usd(each.left_steady)} left at steady, "
        f"{usd(each.left_ceiling)} at the ceiling</p>"
        for each in stack.budgets
    )
    if stack.gpus:
        yield "<h3>GPUs</h3>"
        yield html_table(GPU_HEADINGS, [gpu_row(pool) for pool in stack.gpus])
    if stack.gpus or stack.stored:
        yield f'<h3>Picture</h3><div class="wide">{render_svg(build_diagram(stack))}</div>'
    yield from _diff(stack.changes)
    yield from _folded("Not in the figures", (_said(line) for line in stack.unpriced))
    yield from _folded("Assumptions", (escape(line) for line in stack.assumptions))


def _money(cost: CostSummary) -> str:
    return html_table(MONEY_HEADINGS, money_rows(cost), numbers=(1, 2, 3))


def _list(heading: str, items: Iterable[str]) -> Iterator[str]:
    listed = list(items)
    if listed:
        yield f"<h3>{heading}</h3>\n<ul>{_items(listed)}</ul>"


def _folded(heading: str, items: Iterable[str]) -> Iterator[str]:
    listed = list(items)
    if listed:
        yield f"<details><summary>{escape(heading)}</summary>\n<ul>{_items(listed)}</ul></details>"


def _items(listed: Iterable[str]) -> str:
    return "\n".join(f"<li>{item}</li>" for item in listed)


def _destroyed(change: ResourceChange, parts: Sequence[ResourceChange]) -> str:
    why = f", for {', '.join(change.replaced_for)}" if change.replaced_for else ""
    inside = parts_text(parts, change.operation, PAST_TENSE)
    why += f", with {inside}" if inside else ""
    said = f"{PAST_TENSE[change.operation]} <code>{escape(change.name)}</code> ({escape(change.type)}){escape(why)}"
    what = escape(loss_text(change))
    if not what:
        return said
    return f'{said}: <strong class="loss">{what}</strong>' if change.loses_data else f"{said}: {what}"


def _issue(stack: StackReport, issue: Issue) -> str:
    mark = known_mark(stack, issue)
    known = f" ({mark})" if mark else ""
    urn = f'<br><code class="dim">{escape(issue.urn)}</code>' if issue.urn else ""
    return f'<strong class="{issue.severity}">{issue.severity}</strong>: {_said(issue.line)}{known}{urn}'


def _suppressed(issue: Issue) -> str:
    assert issue.suppressed is not None
    return f"until {escape(issue.suppressed.until)}: {_said(issue.line)} - {escape(issue.suppressed.reason)}"


def _rules(report: Report) -> Iterator[str]:
    """What the rules say that the page names, for the links of findings."""
    named = {issue.rule for stack in report.stacks for issue in (*stack.issues, *stack.gone)}
    rows = [rule for rule in all_rules() if rule.name in named]
    if rows:
        yield "<h2>Rules</h2>\n<dl>"
    for rule in rows:
        source = _URL.sub(r'<a href="\g<0>">\g<0></a>', escape(rule.source))
        yield f'<dt id="rule-{rule.name}"><code>{rule.name}</code></dt>'
        yield f"<dd>{_code(escape(rule.sentence))} Source: {source}</dd>"
    if rows:
        yield "</dl>"


_URL = re.compile(r"https://[^\s<>&;,)]+[^\s<>&;,).]")
_RULE = re.compile(r"\[([a-z][a-z0-9-]*)\]")
_CODE = re.compile(r"`([^`]+)`")


def _said(text: str) -> str:
    """A text with its code marked, and a link from the name of a rule to what the rule says."""
    return _RULE.sub(lambda found: _link(found[1]) if found[1] in _rule_names() else found[0], _code(escape(text)))


def _code(escaped: str) -> str:
    return _CODE.sub(r"<code>\1</code>", escaped)


def _link(rule: str) -> str:
    return f'[<a href="#rule-{rule}">{rule}</a>]'


@cache
def _rule_names() -> frozenset[str]:
    return frozenset(rule.name for rule in all_rules())


MAX_CHANGES = 2000
"""Most changes whose properties the page shows; browsers are slow with more."""


def _diff(changes: Sequence[ResourceChange]) -> Iterator[str]:
    if not changes:
        return
    lines = []
    for change in changes[:MAX_CHANGES]:
        lines.append(f"{PAST_TENSE[change.operation]} {change.name} ({change.type})")
        for each in change.properties:
            before, now = each.before or "(none)", each.after or "(none)"
            lines.append(f"    {each.path}: {before} => {now}{'  # replaces' if each.replaces else ''}")
    left = len(changes) - MAX_CHANGES
    if left > 0:
        lines.append(f"{left} more changes are left out here: report.json has all")
    text = escape("\n".join(lines))
    yield f"<details><summary>Full diff: {len(changes)} resources</summary>\n<pre>{text}</pre></details>"
