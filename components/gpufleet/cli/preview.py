"""`gpufleet preview`."""

import gc
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpufleet.cli.error_handling import for_the_user

if TYPE_CHECKING:
    from gpufleet.report.model import Report

FILE = click.Path(path_type=Path)


@click.command()
@click.argument("environments", nargs=-1)
@click.option("--program", default=".", type=FILE, help="Pulumi project. Default: here or above.")
@click.option("--base", help="Branch or commit that the change is to be merged into. Default: in CI the pull "
              "request's, else origin's.")  # fmt: skip
@click.option("--all", "every", is_flag=True, help="Every environment, whatever the change touches.")
@click.option("--real/--stand-ins", "real", default=None,
              help="On the backend and the clouds, or on stand-ins without credentials. Default: the first if "
              "PULUMI_BACKEND_URL or PULUMI_ACCESS_TOKEN is set.")  # fmt: skip
@click.option("--to", "folder", default="report", show_default=True, type=FILE, help="Directory for every form.")
@click.option("--list", "listing", is_flag=True, help="Only print the environments' names, as a JSON list.")
@click.option("--among", metavar="JSON", help='With --list: only those of this list, as \'["aws-dev", "aws-prod"]\'.')
@click.option("--commit", help="The commit that this is about. Default: the pull request's, else the one checked out.")
@click.option("--comment", "commenting", is_flag=True, help="Comment on the pull request; see `gpufleet comment`.")
@click.option("--fail-on", default="refuse", show_default=True, type=click.Choice(["refuse", "warning", "never"]),
              help="Exit with 1 for what is refused, for warnings and what is not verified too, or never.")  # fmt: skip
@click.option("--allow-loss", is_flag=True, help="Do not fail for data that is deleted; it is in the report anyway.")
@for_the_user
def preview(
    environments: tuple[str, ...],
    program: Path,
    base: str | None,
    every: bool,
    real: bool | None,
    folder: Path,
    listing: bool,
    among: str | None,
    commit: str | None,
    commenting: bool,
    fail_on: str,
    allow_loss: bool,
) -> int:
    """Preview what a change touches, with the project's policy packs, and say it in one report. What CI runs.

    ENVIRONMENTS: those and no others. Exit code: 0; 1 for findings, see --fail-on, and for data that would be deleted;
    2 for a change that cannot be read, or a stack that there is no way to.

    \b
    gpufleet preview                        # what differs from origin's branch, on stand-ins
    gpufleet preview --real aws-prod        # against the state of the stack
    """
    from gpufleet.affected.report import report_on
    from gpufleet.affected.select import among as those_among
    from gpufleet.affected.select import chosen
    from gpufleet.comments.ci_environment import head_of
    from gpufleet.errors import UserError
    from gpufleet.report.build import commit_of
    from gpufleet.report.configuration_files import project_of
    from gpufleet.report.exit_codes import fails, losses

    if among is not None and not listing:
        # A comment on another stack would then say that nothing touches it.
        raise click.UsageError("--among is for --list; name the environments to preview instead")
    gc.disable()
    try:
        if real is None:
            real = any(os.environ.get(name) for name in ("PULUMI_BACKEND_URL", "PULUMI_ACCESS_TOKEN"))
        project = project_of(program)
        start, names = chosen(project, environments, base, every, folder.resolve(), _said)
        if among is not None:
            names = those_among(project, names, among)
        if listing:
            click.echo(json.dumps(names))
            return 0
        about = commit or head_of(os.environ) or commit_of(program)
        made, unseen = report_on(project, start, names, real, about, _said)
        _write(made, folder, program)
    except UserError as error:
        # Not 1, which says that the change has findings.
        click.echo(f"Error: {error}", err=True)
        return 2
    code = 1 if fails(made, fail_on) else 0
    if fail_on != "never" and not allow_loss and (lost := losses(made)):
        more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
        click.echo(f"{lost[0].name}{more}: {lost[0].holds} would be lost; keep it, or say --allow-loss", err=True)
        code = 1
    for environment, reason in unseen.items():
        click.echo(f"Error: {environment}: {reason}", err=True)
        code = 2
    if commenting:
        from gpufleet.cli.comment import put

        code = max(put(folder, None, commit, "", 120.0, go_on=True), code)
    return code


def _said(line: str) -> None:
    click.echo(line, err=True)


def _write(made: "Report", folder: Path, program: Path) -> None:
    """Every form into the folder, and a job summary where the CI takes one. Errors: UserError."""
    from gpufleet.errors import UserError
    from gpufleet.report.step_summary import summary
    from gpufleet.report.write_files import write

    try:
        for old in (*folder.glob("*.md"), folder / "report.sarif"):
            # A comment would be made of a stack that is not in the report any more.
            old.unlink(missing_ok=True)
        write(made, folder, program)
        if file := os.environ.get("GITHUB_STEP_SUMMARY"):
            with Path(file).open("a", encoding="utf-8") as stream:
                stream.write(summary(made))
    except OSError as error:
        raise UserError(f"{error.filename or folder}: {error.strerror}; give another directory with --to") from error
    for stack in made.stacks:
        click.echo(f"{stack.name}: {stack.verdict}")
    click.echo(f"the report is in {folder}")
