"""Which environments of a project are previewed for a change."""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from gpufleet.affected.detect import affected_stacks
from gpufleet.affected.git import GitError, base_of, changed, fork_of
from gpufleet.errors import UserError
from gpufleet.report.configuration_files import configuration_folder, environments_of, virtual_environment


def chosen(
    project: Path, environments: Sequence[str], base: str | None, every: bool, folder: Path, say: Callable[[str], None]
) -> tuple[str | None, list[str]]:
    """The commit that a change begins at, None where nobody can tell, and the environments to preview.

    environments: those and no others. base: what the change is to be merged into, by default what CI says. every: all
    environments, whatever is touched. folder: where reports are written, which is no part of the change. say: told what
    touches what. Errors: UserError.
    """
    known = environments_of(project)
    if unknown := [each for each in environments if each not in known]:
        raise UserError(f"{unknown[0]}: no such environment; the project has: {', '.join(known) or 'none'}")
    try:
        start = fork_of(project, base or base_of(os.environ))
    except GitError:
        if base or not (environments or every):
            raise
        # What is to be previewed is said; without git there is only nothing to compare with.
        return None, list(environments) or known
    return start, list(environments) or (known if every else _touched(project, start, known, folder, say))


def among(project: Path, environments: Sequence[str], text: str) -> list[str]:
    """Those of a JSON list. Errors: UserError for what is none, and for a name that the project does not have."""
    try:
        wanted = json.loads(text)
    except ValueError:
        wanted = None
    if not isinstance(wanted, list) or not all(isinstance(each, str) for each in wanted):
        raise UserError(f'--among={text}: no JSON list of names; write it like \'["aws-dev", "aws-prod"]\'')
    known = environments_of(project)
    if unknown := [each for each in wanted if each not in known]:
        raise UserError(f"--among: {unknown[0]}: no such environment; the project has: {', '.join(known) or 'none'}")
    return [each for each in environments if each in wanted]


def _touched(project: Path, start: str, known: Sequence[str], folder: Path, say: Callable[[str], None]) -> list[str]:
    ours = [each for each in (folder, project / virtual_environment(project)) if each != project]
    files = [file for file in changed(project, start) if not _within(project / file, ours)]
    found = affected_stacks(files, configuration_folder(project), known)
    for each in found.gone:
        say(f"{each}: its configuration is taken away: what its stack holds stays and is not looked at")
    for each, file in found.why.items():
        say(f"{each}: touched by {file}")
    if not found.environments:
        say("no environment is touched")
    return list(found.environments)


def _within(file: Path, folders: Sequence[Path]) -> bool:
    return any(file.is_relative_to(folder) for folder in folders)
