"""The cost chart: bars of each stack's floor, steady and ceiling, before and after, as inline SVG."""

from collections.abc import Sequence
from html import escape

from gpufleet.report.model import CostSummary
from gpufleet.report.text import usd

HEIGHT = 220
"""Pixels of the highest bar."""
BAR, PAIR, GROUP = 46, 150, 40
TOP, BOTTOM, LEFT = 28, 46, 12


def cost_chart(costs: Sequence[tuple[str, CostSummary]]) -> str:
    """Bars in proportion to USD a month, one scale for all. A bar says its figure in data-usd, too."""
    figures = ("floor", "steady", "ceiling")
    highest = max((_most(cost) for _, cost in costs), default=0.0) or 1.0
    parts: list[str] = []
    x = float(LEFT)
    base = TOP + HEIGHT
    for name, cost in costs:
        start = x
        for figure in figures:
            amount = getattr(cost, figure)
            sides = [("before", amount.usd_month_before), ("after", amount.usd_month_after)]
            for number, (side, money) in enumerate(sides):
                if money is None:
                    continue
                height = HEIGHT * money / highest
                at = x + number * (BAR + 8)
                said = f"{name}, {figure} {side}: {usd(money)} a month"
                parts.append(
                    f'<rect class="{side}" data-usd="{money:.2f}" x="{at:g}" y="{base - height:.3f}" width="{BAR}" '
                    f'height="{height:.3f}"><title>{escape(said)}</title></rect>'
                )
                parts.append(_text(at + BAR / 2, base - height - 6, _short(money)))
            parts.append(_text(x + BAR + 4, base + 18, figure))
            x += PAIR
        parts.append(_text((start + x - GROUP) / 2, base + 38, name if len(name) < 50 else f"{name[:48]}..."))
        x += GROUP
    width = max(x, 320)
    size = f'width="{width:g}" height="{base + BOTTOM}" viewBox="0 0 {width:g} {base + BOTTOM}"'
    line = f'<line x1="0" y1="{base}" x2="{width:g}" y2="{base}"/>'
    return (
        f'<svg class="chart" role="img" aria-label="USD a month, before in grey and after in blue" {size}>'
        f"{line}{''.join(parts)}</svg>\n"
        '<p class="dim">USD a month: before in grey, after in blue.</p>'
    )


def _most(cost: CostSummary) -> float:
    amounts = (cost.floor, cost.steady, cost.ceiling)
    return max(max(each.usd_month_after, each.usd_month_before or 0.0) for each in amounts)


def _text(x: float, y: float, text: str) -> str:
    return f'<text x="{x:g}" y="{y:.3f}" text-anchor="middle">{escape(text)}</text>'


def _short(money: float) -> str:
    """$4.2k: what fits over a bar."""
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if money >= size:
            return f"${money / size:.1f}{unit}"
    return f"${money:.0f}"
