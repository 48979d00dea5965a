"""`gpufleet preview`."""

import gc
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpufleet.cli.environment_argument import environment_argument
from gpufleet.cli.error_handling import exit_with_errors
from gpufleet.cli.output_options import json_option

if TYPE_CHECKING:
    from gpufleet.report.model import Report

FILE = click.Path(path_type=Path)


@click.command()
@environment_argument("environments", nargs=-1)
@click.option("--program", default=".", type=FILE, help="Pulumi project. Default: here or above.")
@click.option("--base", help="Branch or commit to merge into. Default: in CI the pull "
              "request's, else origin's.")  # fmt: skip
@click.option("--all", "every", is_flag=True, help="All environments, whatever the change affects.")
@click.option("--real/--simulated", "real", default=None,
              help="On the backend and the clouds, or on simulated clouds without credentials. Default: --real if "
              "PULUMI_BACKEND_URL or PULUMI_ACCESS_TOKEN is set.")  # fmt: skip
@click.option(
    "--to", "folder", default="report", show_default=True, type=FILE, help="Directory for the report in every format."
)
@click.option("--list", "listing", is_flag=True, help="Only print the environments' names, as a JSON list.")
@click.option(
    "--among",
    metavar="JSON",
    help='With --list: only environments of this list, for instance \'["aws-dev", "aws-prod"]\'.',
)
@click.option(
    "--undeployed",
    is_flag=True,
    help="With --list: the environments whose last deployment, by their stacks' histories, lacks a change.",
)
@click.option("--commit", help="Commit to report on. Default: the pull request's, else the one checked out.")
@click.option("--comment", "commenting", is_flag=True, help="Comment on the pull request; see `gpufleet comment`.")
@click.option("--fail-on", default="refuse", show_default=True, type=click.Choice(["refuse", "warning", "never"]),
              help="Exit with 1 for rejections; warning: also for warnings and unverified checks.")  # fmt: skip
@click.option(
    "--allow-loss", is_flag=True, help="Do not fail for data that would be deleted; the report lists it anyway."
)
@click.option("--approved", type=FILE, metavar="FILE",
              help="The report.json that was approved: fail for any other change, and allow the losses in "
              "it.")  # fmt: skip
@json_option
@exit_with_errors
def preview(
    environments: tuple[str, ...],
    program: Path,
    base: str | None,
    every: bool,
    real: bool | None,
    folder: Path,
    listing: bool,
    among: str | None,
    undeployed: bool,
    commit: str | None,
    commenting: bool,
    fail_on: str,
    allow_loss: bool,
    approved: Path | None,
    as_json: bool,
) -> int:
    """Preview the environments that a change affects.

    Each preview runs the project's policy packs, and one report has all findings.

    ENVIRONMENTS: only these. Exit code: 0; 1 for findings, see --fail-on, and for data that would be deleted;
    2 for a change that cannot be read, or a stack that cannot be reached.

    \b
    gpufleet preview                        # the difference from origin's branch, on simulated clouds
    gpufleet preview --real aws-prod        # against the stack's state
    """
    from gpufleet.affected.approval import unapproved_changes
    from gpufleet.affected.report import report_change
    from gpufleet.affected.select import listed_environments, select_environments, undeployed_environments
    from gpufleet.comments.ci_environment import head_of
    from gpufleet.errors import UserError
    from gpufleet.report.build import checked_out_commit
    from gpufleet.report.configuration_files import environment_names, project_folder, project_name
    from gpufleet.report.exit_codes import data_losses, should_fail
    from gpufleet.report.read_report import read_report

    if (among is not None or undeployed) and not listing:
        # A comment on another stack would then say that nothing touches it.
        option = "--undeployed" if undeployed else "--among"
        raise click.UsageError(f"{option} is for --list; name the environments to preview instead")
    gc.disable()
    try:
        if real is None:
            real = any(os.environ.get(name) for name in ("PULUMI_BACKEND_URL", "PULUMI_ACCESS_TOKEN"))
        project = project_folder(program)
        known = environment_names(project) if among is None else listed_environments(project, among)
        if undeployed:
            click.echo(json.dumps(undeployed_environments(project, known, folder.resolve(), _said)))
            return 0
        start, names = select_environments(project, environments, base, every, folder.resolve(), _said)
        names = [each for each in names if each in known]
        if listing:
            click.echo(json.dumps(names))
            return 0
        agreed = None if approved is None else read_report(approved)
        about = commit or head_of(os.environ) or checked_out_commit(program)
        made, unseen = report_change(project, start, names, real, about, _said)
        _write(made, folder, program, as_json)
    except UserError as error:
        # Not 1, which says that the change has findings.
        click.echo(f"Error: {error}", err=True)
        return 2
    code = 1 if should_fail(made, fail_on) else 0
    others = list(unapproved_changes(agreed, made)) if agreed else []
    for line in others:
        click.echo(f"Error: {line}", err=True)
        code = 1
    allow_loss = allow_loss or (agreed is not None and not others)
    if fail_on != "never" and not allow_loss and (lost := data_losses(made)):
        more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
        click.echo(f"{lost[0].name}{more}: {lost[0].holds} would be lost; keep it, or say --allow-loss", err=True)
        code = 1
    for environment, reason in unseen.items():
        click.echo(f"Error: {environment}: {reason}", err=True)
        code = 2
    if commenting:
        from gpufleet.cli.comment import post_report

        # With names, what else the change affects is not known.
        whole = None if environments else project_name(project)
        posted, _ = post_report(made, None, whole, None, commit, "", 120.0, go_on=True, quiet=as_json)
        code = max(posted, code)
    return code


def _said(line: str) -> None:
    click.echo(line, err=True)


def _write(made: "Report", folder: Path, program: Path, as_json: bool) -> None:
    """Every form into the folder, and a job summary where the CI takes one; with as_json, report.json is printed too.

    Errors: UserError.
    """
    from gpufleet.errors import UserError
    from gpufleet.report.config_lines import configuration_lines
    from gpufleet.report.configuration_files import configuration_files
    from gpufleet.report.formats.annotations import render_annotations
    from gpufleet.report.formats.json import render_json
    from gpufleet.report.step_summary import step_summary
    from gpufleet.report.text import verdict_line
    from gpufleet.report.write_files import write_report_files

    try:
        for old in (*folder.glob("*.md"), folder / "report.sarif"):
            # A comment would be made of a stack that is not in the report any more.
            old.unlink(missing_ok=True)
        write_report_files(made, folder, program)
        if file := os.environ.get("GITHUB_STEP_SUMMARY"):
            with Path(file).open("a", encoding="utf-8") as stream:
                stream.write(step_summary(made))
    except OSError as error:
        raise UserError(f"{error.filename or folder}: {error.strerror}; give another directory with --to") from error
    for stack in made.stacks:
        click.echo(f"{stack.name}: {verdict_line(stack)}", err=as_json)
    click.echo(f"the report is in {folder}", err=as_json)
    if os.environ.get("GITHUB_ACTIONS") == "true":
        stacks = [(stack.name, stack.stack) for stack in made.stacks]
        places = configuration_files(program, stacks), configuration_lines(program, stacks)
        for line in render_annotations(made, *places):
            click.echo(line, err=as_json)
    if as_json:
        click.echo(render_json(made), nl=False)
