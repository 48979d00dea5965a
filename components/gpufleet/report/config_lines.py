"""The line of a stack's configuration that a finding is about."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from gpufleet.documents.content import MIB, DocumentError, read_content
from gpufleet.documents.yaml import key_lines
from gpufleet.report.configuration_files import configuration_folder, project_of
from gpufleet.report.model import Issue, StackReport

KeyLines = Mapping[tuple[str, ...], int]
"""Keys of a configuration, without `config` and the namespace of the first (`pools`, `trainers`, `max`) -> line."""

_ARGUMENT = re.compile(r": ([a-z][a-z0-9_]*)[=.\\[]")


def configuration_lines(program: Path, stacks: Iterable[tuple[str, str]]) -> dict[str, KeyLines]:
    """Name of a report's stack -> the lines in its configuration; none of a file that is missing or cannot be read."""
    project = project_of(program)
    if project is None:
        return {}
    folder = project / configuration_folder(project)
    return {name: _lines(folder / f"Pulumi.{stack}.yaml") for name, stack in stacks}


def _lines(file: Path) -> KeyLines:
    try:
        found = key_lines(read_content(file, "", MIB), str(file))
    except DocumentError:
        # The engine has its own word to say on such a file.
        return {}
    keys = ((path[1:], line) for path, line in found.items() if path[0] == "config" and len(path) > 1)
    return {(path[0].rpartition(":")[2], *path[1:]): line for path, line in keys}


def line_of(stack: StackReport, issue: Issue, lines: KeyLines) -> int:
    """The line that a finding is about, 1 where none can be told.

    A finding that names its key (`gpufleet:pools.small.maxx`) is about that. Of others the resource's name holds a key
    (`aws-dev-trainers-nodes`: `trainers`), and the argument is one below it, or else that key itself.
    """
    named = [path for path in lines if _is_named(issue.line, path)]
    if named:
        return lines[max(named, key=len)]
    match = _ARGUMENT.search(issue.line.removeprefix(issue.resource))
    argument = match[1] if match else ""
    name = f"-{issue.resource.removeprefix(f'{stack.stack}-')}-"
    owners = [path for path in lines if f"-{path[-1]}-" in name]
    below = [path for path in lines if path[-1] == argument and path[:-1] in owners]
    if below or owners:
        return lines[max(below or owners, key=lambda path: (len(path), -lines[path]))]
    alone = [path for path in lines if path[-1] == argument]
    return lines[alone[0]] if len(alone) == 1 else 1


def _is_named(line: str, path: tuple[str, ...]) -> bool:
    start = f"gpufleet:{'.'.join(path)}"
    return line.startswith(start) and not re.match(r"[\w-]", line[len(start) :])
