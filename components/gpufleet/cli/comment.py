"""`gpufleet comment`."""

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpufleet.cli.error_handling import exit_with_errors
from gpufleet.cli.output_options import json_option, print_json
from gpufleet.errors import UserError

if TYPE_CHECKING:
    from gpufleet.report.model import Report

FILE = click.Path(path_type=Path)


@click.command()
@click.argument("folder", type=FILE)
@click.option("--program", default=".", type=FILE, help="Pulumi project, as it is without the change. "
              "Default: here or above.")  # fmt: skip
@click.option("--change", type=FILE, metavar="DIR",
              help="The project in a checkout of the change, if the change's own code wrote the "
              "report. Its files are compared, not run: only the stacks that it affects get a comment, also one that "
              "the report leaves out.")  # fmt: skip
@click.option("--sarif", type=FILE, metavar="FILE", help="Also write the report for code scanning.")
@click.option("--pull-request", "number", type=int, help="Number of the pull request. Default: from the CI event.")
@click.option("--commit", help="Commit of the pull request. Default: from the CI event, else from the report.")
@click.option("--author", default="", help="The token's login. Default: from the API; in a "
              "workflow of GitHub github-actions[bot].")  # fmt: skip
@click.option("--patience", default=120.0, show_default=True, metavar="SECONDS",
              help="How long to wait for rate limits of the code host.")  # fmt: skip
@click.option("--if-denied", default="fail", show_default=True, type=click.Choice(["fail", "go-on"]),
              help="What to do if the token may not comment, as for a fork's pull request.")  # fmt: skip
@json_option
@exit_with_errors
def comment(
    folder: Path,
    program: Path,
    change: Path | None,
    sarif: Path | None,
    number: int | None,
    commit: str | None,
    author: str,
    patience: float,
    if_denied: str,
    as_json: bool,
) -> int:
    """Post the report in FOLDER on its pull request.

    Each stack has one comment, which is created once and then edited.

    `gpufleet preview` or `gpufleet report --to` writes FOLDER. This command reads only its report.json, trusts nothing
    in it, and renders the comments itself. The token is GITHUB_TOKEN, in GitLab GITLAB_TOKEN. With --change, comments
    on stacks of this project that the change no longer affects say so.
    """
    from gpufleet.report.read_report import read_report

    report = read_report(folder / "report.json")
    project, stacks = (None, None) if change is None else _affected(program, change)
    if sarif:
        _write_sarif(report, sarif, program, change or program)
    go_on = if_denied == "go-on"
    code, outcomes = post_report(report, stacks, project, number, commit, author, patience, go_on=go_on, quiet=as_json)
    if as_json:
        print_json({"comments": outcomes})
    return code


def post_report(
    report: "Report",
    affected: Collection[str] | None,
    whole_project: str | None,
    number: int | None,
    commit: str | None,
    author: str,
    patience: float,
    *,
    go_on: bool,
    quiet: bool = False,
) -> tuple[int, Mapping[str, str]]:
    """The verb's work, for `gpufleet preview --comment` too.

    affected: the only stacks to comment on; None: those of the report. whole_project: as for `update_comments`. go_on:
    report a token that may not write, and continue. quiet: print progress on standard error. Returns the exit code, and
    the outcome of the comment on each stack.
    """
    from gpufleet.comments.bodies import comment_bodies
    from gpufleet.comments.ci_environment import code_host_of, run_of
    from gpufleet.comments.code_host import PermissionDenied
    from gpufleet.comments.sticky import update_comments

    for name in sorted({each.name for each in report.stacks} - set(affected)) if affected is not None else ():
        click.echo(f"no comment on {name}: this change does not affect it, whatever its report says", err=True)
    place = code_host_of(os.environ, number, author, patience)
    run = run_of(os.environ, commit, report.footer.commit)
    try:
        found = update_comments(place, comment_bodies(report, affected), run, whole_project=whole_project)
    except PermissionDenied as error:
        click.echo(f"no comment: the token may not write on {place.label}: {error}", err=True)
        return 0 if go_on else 1, {}
    for stack, outcome in found.items():
        more = ": a newer commit or run has the word" if outcome == "outdated" else ""
        click.echo(f"comment on {stack}: {outcome}{more}", err=quiet)
    return 0, found


def _affected(program: Path, change: Path) -> tuple[str, list[str]]:
    """The project, and those of its stacks that a change affects, as the base has them. Errors: UserError."""
    from gpufleet.affected.select import affected_by_checkout
    from gpufleet.report.configuration_files import project_folder, project_name

    name = project_name(program)
    return name, [f"{name}/{each}" for each in affected_by_checkout(project_folder(program), change)]


def _write_sarif(report: "Report", file: Path, program: Path, change: Path) -> None:
    """change: where the configurations are whose lines count."""
    from gpufleet.report.config_lines import configuration_lines
    from gpufleet.report.configuration_files import configuration_files
    from gpufleet.report.formats.sarif import render_sarif

    stacks = [(stack.name, stack.stack) for stack in report.stacks]
    files, lines = configuration_files(program, stacks), configuration_lines(change, stacks)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        # Code scanning takes no log without a run.
        if report.stacks:
            file.write_text(render_sarif(report, files, lines), encoding="utf-8")
    except OSError as error:
        raise UserError(f"--sarif={file}: {error.strerror}; give another file") from error
