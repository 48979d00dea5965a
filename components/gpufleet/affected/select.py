"""Select the environments to preview for a change."""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from gpufleet.affected.detect import affected_stacks
from gpufleet.affected.git import GitError, changed_files, default_base, merge_base
from gpufleet.errors import UserError
from gpufleet.report.configuration_files import configuration_folder, environment_names, virtual_environment


def select_environments(
    project: Path, environments: Sequence[str], base: str | None, every: bool, folder: Path, say: Callable[[str], None]
) -> tuple[str | None, list[str]]:
    """The commit that a change is based on, None if unknown, and the environments to preview.

    environments: only these. base: what the change is to be merged into, by default from the CI. every: all
    environments, affected or not. folder: where reports are written, which is not part of the change. say: called with
    progress messages. Errors: UserError.
    """
    known = environment_names(project)
    if unknown := [each for each in environments if each not in known]:
        raise UserError(f"{unknown[0]}: environment not found; the project has: {', '.join(known) or 'none'}")
    try:
        start = merge_base(project, base or default_base(os.environ))
    except GitError:
        if base or not (environments or every):
            raise
        # What is to be previewed is said; without git there is only nothing to compare with.
        return None, list(environments) or known
    return start, list(environments) or (known if every else _touched(project, start, known, folder, say))


def filter_environments(project: Path, environments: Sequence[str], text: str) -> list[str]:
    """The environments that are in a JSON list. Errors: UserError for an invalid list or an unknown name."""
    try:
        wanted = json.loads(text)
    except ValueError:
        wanted = None
    if not isinstance(wanted, list) or not all(isinstance(each, str) for each in wanted):
        raise UserError(f'--among={text}: must be a JSON list of names, such as \'["aws-dev", "aws-prod"]\'')
    known = environment_names(project)
    if unknown := [each for each in wanted if each not in known]:
        raise UserError(f"--among: {unknown[0]}: environment not found; the project has: {', '.join(known) or 'none'}")
    return [each for each in environments if each in wanted]


def _touched(project: Path, start: str, known: Sequence[str], folder: Path, say: Callable[[str], None]) -> list[str]:
    ours = [each for each in (folder, project / virtual_environment(project)) if each != project]
    files = [file for file in changed_files(project, start) if not _within(project / file, ours)]
    found = affected_stacks(files, configuration_folder(project), known)
    for each in found.gone:
        say(f"{each}: its configuration was deleted: its stack is kept and not checked")
    for each, file in found.why.items():
        say(f"{each}: affected by {file}")
    if not found.environments:
        say("no environment is affected")
    return list(found.environments)


def _within(file: Path, folders: Sequence[Path]) -> bool:
    return any(file.is_relative_to(folder) for folder in folders)
