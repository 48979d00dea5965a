"""The reference as Markdown: a page for each component, and one for each command, as our own code describes them."""

from collections.abc import Iterator, Mapping, Sequence

import click

from gpufleet.cli import main
from gpufleet.rules.rules_table import no_html
from tools.website.example_programs import programs
from tools.website.reference import CLOUDS, Component, Object, Undocumented, Value, components

WIDTH = 100
"""Characters of a line of help."""
_ABOUT = """\
An argument of kind `Input[...]` also takes an output of another resource; all others must be known before anything is
deployed, because they are judged then. Programs in other languages write `maxZones` for `max_zones`: see
[packages](../docs/packages.md).
"""
_EXAMPLE = """\
One program in four languages; ids of what exists already are written out.
[Packages](../docs/packages.md) says how each language gets the components. Our tests build the Python program with all
of its rules, check the YAML against the package's schema, and compile the other two.
"""
_LINKS = "## Links\n\nIn Python: arguments of other components, which take them as `**component.link()`.\n"


def reference_pages() -> Mapping[str, str]:
    """Name of a page, without its ending -> its text. Errors: Undocumented."""
    pages = {
        f"{each.cloud}-{_file(each)}": component_page(each, programs(each.cloud, each.name)) for each in components()
    }
    for cloud, heading in CLOUDS.items():
        own = [each for each in components() if each.cloud == cloud]
        listed = "".join(f"- [{each.name}]({cloud}-{_file(each)}.md): {each.sentence}\n" for each in own)
        tree = _tree([f"{cloud}-{_file(each)}" for each in own])
        pages[cloud] = f"# Components for {heading}\n\n{_ABOUT}\n{listed}{tree}"
    verbs = dict(sorted(main.commands.items()))
    pages |= {f"command-{name}": command_page(command) for name, command in verbs.items()}
    listed = "".join(f"- [gpufleet {name}](command-{name}.md): {_sentence(verbs[name])}\n" for name in verbs)
    pages["commands"] = f"# Commands\n\n{listed}{_tree([f'command-{name}' for name in verbs])}"
    return pages


def component_page(component: Component, examples: Mapping[str, str]) -> str:
    """What a component is, takes, gives and refuses. examples: language -> program."""
    one = component.arguments
    parts = [
        f"# {component.module.split('.')[1]}.{component.name}\n",
        f"`from {component.module.rpartition('.')[0]} import {component.name}`\n",
        no_html(component.text) + "\n",
        f"## Example\n\n{_EXAMPLE}",
        *(f"````{{tab}} {name}\n```{name.lower()}\n{text}```\n````\n" for name, text in examples.items()),
        f"## Arguments\n\n{no_html(one.text)}\n",
        _table(one, component.objects),
        *(f"## {each.name}\n\n{no_html(each.text)}\n\n{_table(each, component.objects)}" for each in component.objects),
        "## Outputs\n",
        _rows(("output", "kind", "meaning"), ((f"`{v.name}`", f"`{v.kind}`", v.text) for v in component.outputs))
        if component.outputs
        else "None.\n",
        *_links(component),
        f"## Refusals\n\n{component.raises}\n",
        "[All rules](../docs/rules.md), each with its source.\n",
    ]
    return "\n".join(parts)


def _links(component: Component) -> Iterator[str]:
    if component.links:
        yield _LINKS
        links = ((f"`{each.name}`", f"`{each.kind}`", each.text) for each in component.links)
        yield _rows(("link", "arguments", "meaning"), links)


def command_page(command: click.Command) -> str:
    """A command's help, and that of the commands below it. Errors: Undocumented."""
    parts = [f"# gpufleet {command.name}\n"]
    for path, each in _walk(command, ""):
        if not each.help:
            raise Undocumented(f"gpufleet {path}: no help")
        settings = {**main.context_settings, "terminal_width": WIDTH, "max_content_width": WIDTH}
        context = click.Context(each, info_name=f"gpufleet {path}", **settings)
        heading = "" if each is command else f"## gpufleet {path}\n\n"
        parts.append(f"{heading}```text\n{each.get_help(context)}\n```\n")
    return "\n".join(parts)


def _walk(command: click.Command, above: str) -> Iterator[tuple[str, click.Command]]:
    """A command and all below it, each with its words."""
    path = f"{above} {command.name}".strip()
    yield path, command
    if isinstance(command, click.Group):
        for _, inner in sorted(command.commands.items()):
            yield from _walk(inner, path)


def _sentence(command: click.Command) -> str:
    return command.get_short_help_str(limit=200)


def _file(component: Component) -> str:
    return component.module.rpartition(".")[2].replace("_", "-")


def _table(of: Object, objects: Sequence[Object]) -> str:
    rows = (
        (f"`{key.name}`", _linked(key, objects), "**required**" if key.required else key.default, key.text)
        for key in of.keys
    )
    return _rows(("argument", "kind", "default", "meaning"), rows)


def _linked(key: Value, objects: Sequence[Object]) -> str:
    """Its kind, and links to the objects that it holds."""
    held = [each.name for each in objects if each.name in key.kind]
    return f"`{key.kind}`" + "".join(f" ([{name}](#{name.lower()}))" for name in held)


def _rows(headings: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    cells = (" | ".join(no_html(" ".join(cell.split())).replace("|", "\\|") for cell in line) for line in lines)
    return "".join(f"| {line} |\n" for line in cells)


def _tree(names: Sequence[str]) -> str:
    return "\n```{toctree}\n:hidden:\n\n" + "\n".join(names) + "\n```\n"
