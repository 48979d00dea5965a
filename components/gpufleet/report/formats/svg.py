"""The diagram as an SVG file: in frames for network and cluster, columns for zones with their pools and placement
groups; data stores below.

Colours follow the reader's light or dark mode; changes are also labelled in words.
"""

from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape

from gpufleet.report.diagram import Diagram, DiagramBox

WIDTH, GAP, PAD, ROW, HEAD = 360, 16, 14, 18, 26
CHARACTERS, BOLD = 46, 40
"""Of a line in a box, and of one in bold; a longer one is cut at its end. DejaVu Sans, a wide face, takes about 7.3
and 8.3 px a character at 13 px (looked at in tests/browser)."""

_STYLE = """
.picture{--ink:#1f2328;--paper:#fff;--zone:#f6f8fa;--line:#8c959f;--made:#1a7f37;--changed:#9a6700;--gone:#cf222e}
@media(prefers-color-scheme:dark){.picture{--ink:#e6edf3;--paper:#0d1117;--zone:#161b22;--line:#768390;--made:#3fb950;
--changed:#d29922;--gone:#f85149}}
.picture text{font:13px system-ui,sans-serif;fill:var(--ink)}
.picture .b{font-weight:600}.picture .m{font-weight:700;font-size:11px}
.picture .zone{fill:var(--zone);stroke:var(--line)}.picture .link{stroke:var(--line);fill:none}
.picture .frame{fill:none;stroke:var(--line)}
.picture .group{fill:none;stroke:var(--line);stroke-dasharray:4 3}.picture .box{fill:var(--paper);stroke:var(--line)}
.picture .create,.picture .import{stroke:var(--made);stroke-width:3}
.picture .update,.picture .change{stroke:var(--changed);stroke-width:3}
.picture .replace,.picture .delete{stroke:var(--gone);stroke-width:3}.picture .delete{stroke-dasharray:6 4}
"""


def render_svg(picture: Diagram) -> str:
    """One SVG document, self-contained."""
    parts: list[str] = []
    centres: dict[str, tuple[float, float]] = {}
    depth = len(picture.frames)
    # Each frame needs its heading above what is in it, and a margin on the other sides.
    x, top, tallest = float(PAD + depth * PAD), PAD + sum(map(_heading, picture.frames)), 0.0
    for zone, boxes in picture.zones:
        height, drawn = _zone(zone, boxes, x, top, centres)
        tallest = max(tallest, height)
        parts += drawn
        x += WIDTH + 2 * PAD + GAP
    inside = (x - GAP, top + tallest)
    frames = [_frame(picture.frames, number, inside) for number in range(depth)]
    columns = max(1, len(picture.zones), min(2, len(picture.stored)))
    y = top + tallest + depth * PAD + (GAP * 2 if picture.zones else 0)
    links = []
    for row in _rows(picture.stored, columns):
        x = float(PAD)
        for box in row:
            parts += _box(box, x + PAD, y)
            links += [_link(centres[pool], (x + PAD + WIDTH / 2, y)) for pool, key in picture.links if key == box.key]
            x += WIDTH + 2 * PAD + GAP
        y += max(map(_height, row)) + GAP
    width = max(columns * (WIDTH + 2 * PAD + GAP) - GAP + 2 * PAD, inside[0] + (depth + 1) * PAD)
    height = y + PAD
    if not (picture.zones or picture.stored):
        parts.append(
            f'<text x="{PAD}" y="{PAD * 2}">nothing to draw: no pool with GPUs, nothing that keeps data</text>'
        )
        height = PAD * 4
    title = escape(f"{picture.name}: network, cluster, zones, pools and what keeps data")
    size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    inner = "\n".join([*(part for frame in frames for part in frame), *links, *parts])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="picture" role="img" {size}>\n<title>{title}</title>\n'
        f"<style>{_STYLE}</style>\n{inner}\n</svg>\n"
    )


def _frame(frames: Sequence[DiagramBox], number: int, corner: tuple[float, float]) -> list[str]:
    """One of the frames around all zones. corner: the lower right one of the zones."""
    box, margin = frames[number], PAD * (len(frames) - number)
    x, y = PAD * (1 + number), PAD + sum(map(_heading, frames[:number]))
    most = int((corner[0] + margin - x) / 8.3) - 2
    rows = [("b", box.title), ("", ", ".join([*box.lines, *([box.mark] if box.mark else [])]))]
    return [
        _rect((x, y, corner[0] + margin - x, corner[1] + margin - y), f"frame {box.operation}"),
        *(
            f'<text class="{style}" x="{x + 10:g}" y="{y + 20 + row * ROW:g}">{escape(_cut(text, most))}</text>'
            for row, (style, text) in enumerate(rows)
            if text
        ),
    ]


def _heading(frame: DiagramBox) -> float:
    return HEAD + 4 + (ROW if frame.lines or frame.mark else 0)


def _zone(
    zone: str, boxes: Sequence[DiagramBox], x: float, top: float, centres: dict[str, tuple[float, float]]
) -> tuple[float, list[str]]:
    """The frame of a zone with what is in it, and its height. centres: where links begin, filled in."""
    y = top + HEAD
    inside: list[str] = []
    for box in boxes:
        if box.group:
            frame = (x + PAD / 2, y, WIDTH + PAD, _height(box) + HEAD + PAD / 2)
            inside.append(_rect(frame, "group"))
            inside.append(f'<text x="{x + PAD:g}" y="{y + 17:g}">{escape(box.group)}</text>')
            y += HEAD
        inside += _box(box, x + PAD, y)
        y += _height(box)
        centres[box.key] = (x + PAD + WIDTH / 2, y)
        y += GAP
    outer = _rect((x, top, WIDTH + 2 * PAD, y - top), "zone")
    return y - top, [
        outer,
        f'<text class="b" x="{x + PAD:g}" y="{top + 18:g}">{escape(_cut(zone, BOLD))}</text>',
        *inside,
    ]


def _box(box: DiagramBox, x: float, y: float) -> list[str]:
    found = [_rect((x, y, WIDTH, _height(box)), f"box {box.operation}")]
    rows = [("b", box.title), *(("", line) for line in box.lines), *([("m", box.mark)] if box.mark else [])]
    for number, (style, text) in enumerate(rows):
        line = escape(_cut(text, BOLD if style else CHARACTERS))
        found.append(f'<text class="{style}" x="{x + 10:g}" y="{y + 20 + number * ROW:g}">{line}</text>')
    return found


def _height(box: DiagramBox) -> float:
    return 14 + ROW * (1 + len(box.lines) + bool(box.mark))


def _rect(frame: tuple[float, float, float, float], style: str) -> str:
    x, y, width, height = frame
    return f'<rect class="{style}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6"/>'


def _link(start: tuple[float, float], end: tuple[float, float]) -> str:
    middle = (start[1] + end[1]) / 2
    return (
        f'<path class="link" d="M{start[0]:g} {start[1]:g}C{start[0]:g} {middle:g} {end[0]:g} {middle:g} '
        f'{end[0]:g} {end[1]:g}"/>'
    )


def _rows(boxes: Sequence[DiagramBox], columns: int) -> Iterator[Sequence[DiagramBox]]:
    for start in range(0, len(boxes), columns):
        yield boxes[start : start + columns]


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}\N{HORIZONTAL ELLIPSIS}"
