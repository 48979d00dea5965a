"""Select the environments to preview for a change."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from gpufleet.affected.deployment import Deployment, last_deployment
from gpufleet.affected.detect import AffectedStacks, affected_stacks
from gpufleet.affected.git import GitError, changed_files, default_base, is_ancestor, merge_base
from gpufleet.documents.json import parse_json
from gpufleet.errors import UserError
from gpufleet.pulumi_cli import PulumiCli
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
        # The command names what to preview; without git there is only nothing to compare with.
        return None, list(environments) or known
    return start, list(environments) or (known if every else _touched(project, start, folder, say))


def undeployed_environments(
    project: Path, environments: Sequence[str], folder: Path, say: Callable[[str], None]
) -> list[str]:
    """Those of the environments whose last deployment lacks a change of the commit that is checked out.

    folder, say: as for `select_environments`. Errors: UserError.
    """
    engine, found = PulumiCli(project), list[str]()
    for each in environments:
        last = last_deployment(engine, each)
        if why := _undeployed(project, each, last, folder):
            say(f"{each}: to deploy: {why}")
            found.append(each)
        elif last:
            say(f"{each}: {last.commit} is deployed, and no later change affects it")
    return found


def affected_by_checkout(base: Path, change: Path) -> list[str]:
    """The environments that a change affects, those whose configuration it deletes too, as the base's project has them.

    base: the project before the change. change: the same project in the CI's checkout of the change; its files are
    compared with those at `default_base`, and nothing of it is believed or run. Errors: GitError.
    """
    place = configuration_folder(base)
    names = sorted(file.name[len("Pulumi.") : -len(".yaml")] for file in (change / place).glob("Pulumi.*.yaml"))
    found = affected_stacks(changed_files(change, merge_base(change, default_base(os.environ))), place, names)
    return sorted({*found.environments, *found.gone})


def _undeployed(project: Path, environment: str, last: Deployment | None, folder: Path) -> str | None:
    """Why an environment is to be deployed, None where it is not."""
    if last is None:
        return "never deployed from a commit"
    if not last.complete:
        return f"the deployment of {last.commit} failed, or was not of all of that commit and nothing else"
    if is_ancestor(project, "HEAD", last.commit):
        # What is checked out is not newer: a workflow's run that was started again.
        return None
    if not is_ancestor(project, last.commit, "HEAD"):
        return f"{last.commit} is deployed, and is not in the history of this checkout"
    file = _affected(project, last.commit, folder).why.get(environment)
    return file and f"{file} differs from {last.commit}, which is deployed"


def listed_environments(project: Path, text: str) -> list[str]:
    """The environments in a JSON list. Errors: UserError for an invalid list or an unknown name."""
    try:
        wanted = parse_json(text, "--among")
    except ValueError:
        wanted = None
    if not isinstance(wanted, list) or not all(isinstance(each, str) for each in wanted):
        raise UserError(f'--among={text}: must be a JSON list of names, such as \'["aws-dev", "aws-prod"]\'')
    known = environment_names(project)
    if unknown := [each for each in wanted if each not in known]:
        raise UserError(f"--among: {unknown[0]}: environment not found; the project has: {', '.join(known) or 'none'}")
    return wanted


def _touched(project: Path, start: str, folder: Path, say: Callable[[str], None]) -> list[str]:
    found = _affected(project, start, folder)
    for each in found.gone:
        say(f"{each}: its configuration was deleted: its stack is kept and not checked")
    for each, file in found.why.items():
        say(f"{each}: affected by {file}")
    if not found.environments:
        say("no environment is affected")
    return list(found.environments)


def _affected(project: Path, start: str, folder: Path) -> AffectedStacks:
    ours = [each for each in (folder, project / virtual_environment(project)) if each != project]
    files = [file for file in changed_files(project, start) if not _within(project / file, ours)]
    return affected_stacks(files, configuration_folder(project), environment_names(project))


def _within(file: Path, folders: Sequence[Path]) -> bool:
    return any(file.is_relative_to(folder) for folder in folders)
