"""A picture of the dashboard, drawn from what Prometheus' engine answers: to look at, and for docs/dashboards.md.

Grafana draws the real one. This is drawn by our own code from the made-up hour of tests/dashboards/scene.py, and says
so.
"""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

WIDTH, ROW, COLUMNS, GAP, HEAD = 1200, 30, 24, 8, 34
COLOURS = ("#2f7ed8", "#c2571a", "#3a923a", "#9b51b8", "#8c6d1f", "#1a8a94")
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#1f2328}.t{font-weight:600;font-size:13px}.d{fill:#59636e}"
    ".big{font-size:30px;font-weight:600}.p{fill:#fff;stroke:#d1d9e0}.g{stroke:#e4e8ec}"
)


def draw(dashboard: Mapping[str, Any], results: Mapping[str, Any], queries: Sequence[str]) -> str:
    """SVG of all panels. results: as of `judge`, by the queries, which are in the order of the panels' targets."""
    asked = iter(queries)
    parts = list[str]()
    told = [point[0] for each in results.values() for line in each["series"] for point in line["points"]]
    span = (min(told), max(told))
    height = max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in dashboard["panels"]) * ROW + HEAD
    for panel in dashboard["panels"]:
        lines = [
            (_legend(target["legendFormat"], series["labels"]), series["points"])
            for target in panel["targets"]
            for series in results[next(asked)]["series"]
        ]
        parts += _panel(panel, sorted(lines), span)
    note = f"{dashboard['title']}: drawn by gpufleet from an hour of made-up metrics, not by Grafana"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(note)}" width="{WIDTH}" '
        f'height="{height}" viewBox="0 0 {WIDTH} {height}"><style>{_STYLE}</style>'
        f'<rect width="{WIDTH}" height="{height}" fill="#f6f8fa"/>{_text(12, 22, note, "t")}{"".join(parts)}</svg>\n'
    )


def _panel(
    panel: Mapping[str, Any], lines: Sequence[tuple[str, Sequence[Sequence[float]]]], times: tuple[float, float]
) -> Iterator[str]:
    place = panel["gridPos"]
    unit = panel["fieldConfig"]["defaults"]["unit"]
    x, y = place["x"] * WIDTH / COLUMNS + GAP / 2, HEAD + place["y"] * ROW + GAP / 2
    width, height = place["w"] * WIDTH / COLUMNS - GAP, place["h"] * ROW - GAP
    yield f'<rect class="p" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="3"/>'
    yield _text(x + 10, y + 20, panel["title"], "t")
    if panel["type"] == "stat":
        yield _text(x + 10, y + 75, amount(lines[0][1][-1][1], unit), "big")
    elif panel["type"] == "bargauge":
        yield from _bars(x + 10, y + 40, width - 20, unit, lines)
    else:
        custom = panel["fieldConfig"]["defaults"]["custom"]
        top = panel["fieldConfig"]["defaults"].get("max")
        yield from _chart((x + 76, y + 34, width - 90, height - 80), times, unit, lines, top, "stacking" in custom)


def _bars(x: float, y: float, width: float, unit: str, lines: Sequence[tuple[str, Any]]) -> Iterator[str]:
    most = max(points[-1][1] for _, points in lines) or 1
    for at, (name, points) in enumerate(lines):
        top, value = y + at * 48, points[-1][1]
        yield _text(x, top + 12, f"{name}: {amount(value, unit)}")
        yield f'<rect x="{x:g}" y="{top + 18:g}" width="{width * value / most:.1f}" height="14" fill="{COLOURS[0]}"/>'


def _chart(
    box: tuple[float, float, float, float],
    times: tuple[float, float],
    unit: str,
    lines: Sequence[tuple[str, Any]],
    top: float | None,
    stack: bool,
) -> Iterator[str]:
    x, y, width, height = box
    low = dict[float, float]()
    layers = list[tuple[str, list[tuple[float, float]], list[tuple[float, float]]]]()
    for name, points in lines:
        under = [(at, low.get(at, 0.0) if stack else 0.0) for at, _ in points]
        over = [(at, value + below) for (at, value), (_, below) in zip(points, under, strict=True)]
        low.update(over)
        layers.append((name, over, under))
    most = top or _round(max((value for _, over, _ in layers for _, value in over), default=1.0))
    span = (times[1] - times[0]) or 1

    def place(at: float, value: float) -> str:
        return f"{x + width * (at - times[0]) / span:.1f},{y + height * (1 - value / most):.1f}"

    for part in range(5):
        level = y + height * (1 - part / 4)
        yield f'<line class="g" x1="{x:g}" x2="{x + width:g}" y1="{level:g}" y2="{level:g}"/>'
        yield _text(x - 6, level + 4, amount(most * part / 4, unit), "d", "end")
    for minutes in range(0, int(span // 60) + 1, 15):
        yield _text(x + width * minutes * 60 / span, y + height + 16, f"{minutes} min", "d", "middle")
    left = x
    for (name, over, under), colour in zip(layers, COLOURS * 4, strict=False):
        if stack:
            edge = " ".join(place(*each) for each in [*over, *reversed(under)])
            yield f'<polygon points="{edge}" fill="{colour}" fill-opacity=".35"/>'
        yield f'<polyline points="{" ".join(place(*each) for each in over)}" fill="none" stroke="{colour}" ' + (
            'stroke-width="1.6"/>'
        )
        yield f'<rect x="{left:g}" y="{y + height + 28:g}" width="12" height="4" fill="{colour}"/>'
        yield _text(left + 16, y + height + 34, name)
        left += 34 + 6.4 * len(name)


def _legend(form: str, labels: Mapping[str, str]) -> str:
    for name, value in labels.items():
        form = form.replace(f"{{{{{name}}}}}", value)
    return form


def _round(value: float) -> float:
    """The next number with one digit that is not zero."""
    size = 10.0 ** (len(str(int(value))) - 1)
    return next((size * step for step in (1, 2, 4, 5, 6, 8, 10) if size * step >= value), value) or 1.0


def amount(value: float, unit: str) -> str:
    """A number in a unit of Grafana's."""
    if unit == "percentunit":
        return f"{100 * value:.0f} %"
    if unit == "currencyUSD":
        return f"${value:,.2f}"
    if unit == "none":
        return f"{value:g}"
    sign = {"watt": "W", "Bps": "B/s"}[unit]
    for size, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g} {prefix}{sign}"
    return f"{value:.3g} {sign}"


def _text(x: float, y: float, text: str, style: str = "", anchor: str = "start") -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
