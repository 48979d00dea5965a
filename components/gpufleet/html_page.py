"""A self-contained HTML page without scripts, external fonts or images: it needs no server.

Dark and light follow the reader's setting. What is wide scrolls in itself, so that the page never does.
"""

from collections.abc import Collection, Iterable, Sequence
from html import escape
from itertools import chain, repeat

_STYLE = """
:root{color-scheme:light dark;--ink:#1f2328;--paper:#ffffff;--soft:#f6f8fa;--line:#d1d9e0;--dim:#59636e;
--before:#8c959f;--after:#0969da;--good:#1a7f37;--warn:#7d4e00;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--paper:#0d1117;--soft:#161b22;--line:#3d444d;--dim:#9198a1;
--before:#768390;--after:#4493f8;--good:#3fb950;--warn:#d29922;--bad:#ff7b72}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:70rem;padding:1rem;background:var(--paper);color:var(--ink)}
body{font:16px/1.5 system-ui,sans-serif}
h1,h2{line-height:1.25}h1{font-size:1.4rem}h2{font-size:1.2rem}h3{font-size:1.05rem}
h2{border-top:1px solid var(--line);padding-top:1rem}
a{color:inherit}p,li,dd,dt,h1,h2,summary{overflow-wrap:anywhere}
.wide{overflow-x:auto}
table{border-collapse:collapse}th,td{border:1px solid var(--line);padding:.3rem .6rem;text-align:left}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
code,pre{font:14px/1.45 ui-monospace,monospace;background:var(--soft)}pre{padding:.6rem;overflow-x:auto}
.failed,.refused,.error,.loss{color:var(--bad)}.warned,.warning{color:var(--warn)}.passed{color:var(--good)}
.dim,footer{color:var(--dim)}footer{border-top:1px solid var(--line);margin-top:2rem}
.chart text{font:13px system-ui,sans-serif;fill:var(--ink)}.chart .before{fill:var(--before)}
.chart .after{fill:var(--after)}.chart line{stroke:var(--line)}
"""


def html_page(title: str, parts: Iterable[str]) -> str:
    """The whole page. parts: its body as HTML, whose texts are escaped already."""
    body = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';style-src 'unsafe-inline'\">\n"
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def html_table(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    numbers: Collection[int] = (),
    classes: Sequence[str] = (),
) -> str:
    """A table that scrolls in itself where it is too wide.

    rows: plain texts, which are escaped here. numbers: columns that are aligned right. classes: a class of each row;
    default: none.
    """

    def line(cells: Sequence[str], tag: str, kind: str = "") -> str:
        styled = ((' class="n"' if at in numbers else "", cell) for at, cell in enumerate(cells))
        begin = f'<tr class="{kind}">' if kind else "<tr>"
        return begin + "".join(f"<{tag}{style}>{escape(cell)}</{tag}>" for style, cell in styled) + "</tr>"

    body = "\n".join(line(row, "td", kind) for row, kind in zip(rows, chain(classes, repeat("")), strict=False))
    return f'<div class="wide"><table>{line(headings, "th")}\n{body}</table></div>'
