"""The diagram as Mermaid text, which code hosts render in Markdown."""

from collections.abc import Sequence

from gpufleet.report.diagram import Diagram, DiagramBox

_CLASSES = {
    "create": "made",
    "import": "made",
    "replace": "replaced",
    "delete": "gone",
    "update": "changed",
    "change": "changed",
}
_STYLES = (
    "classDef made stroke:#1a7f37,stroke-width:3px",
    "classDef changed stroke:#9a6700,stroke-width:3px",
    "classDef replaced stroke:#cf222e,stroke-width:3px",
    "classDef gone stroke:#cf222e,stroke-width:3px,stroke-dasharray:5 5",
)


def render_mermaid(picture: Diagram) -> str:
    """A flowchart: frames for the network and the cluster around one for each zone, one in it for a placement group, a
    box for each pool and each store."""
    lines = ["flowchart LR"]
    for box in picture.frames:
        title = [_text(box.title), *map(_text, box.lines), *([f"<i>{box.mark}</i>"] if box.mark else [])]
        lines.append(f'    subgraph {box.key}["{", ".join(title)}"]')
    for number, (zone, boxes) in enumerate(picture.zones):
        lines.append(f'    subgraph z{number}["{_text(zone)}"]')
        for box in boxes:
            lines += _pool(box)
        lines.append("    end")
    lines += ["    end"] * len(picture.frames)
    lines += [_box(box, "[(", ")]", "    ") for box in picture.stored]
    lines += [f"    {pool} --- {store}" for pool, store in picture.links]
    shown = _styled(picture)
    used = {line.rsplit(" ", 1)[-1] for line in shown}
    lines += [f"    {style}" for style in _STYLES if style.split()[1] in used]
    return "\n".join([*lines, *shown]) + "\n"


def _pool(box: DiagramBox) -> Sequence[str]:
    if not box.group:
        return [_box(box, "[", "]", "        ")]
    frame = f'        subgraph g{box.key}["{_text(box.group)}"]'
    return [frame, _box(box, "[", "]", "            "), "        end"]


def _box(box: DiagramBox, begin: str, end: str, indent: str) -> str:
    head = f"<b>{_text(box.title)}</b>"
    rows = [head, *map(_text, box.lines), *([f"<i>{box.mark}</i>"] if box.mark else [])]
    return f'{indent}{box.key}{begin}"{"<br/>".join(rows)}"{end}'


def _styled(picture: Diagram) -> list[str]:
    boxes = [*picture.frames, *(box for _, inside in picture.zones for box in inside), *picture.stored]
    return [f"    class {box.key} {_CLASSES[box.operation]}" for box in boxes if box.operation in _CLASSES]


def _text(text: str) -> str:
    """A name as Mermaid takes it inside of quotes: its own entity codes for what would end them."""
    return "".join(f"#{ord(sign)};" if sign in '"<>#;`{}[]()|&\\' else sign for sign in " ".join(text.split()))
