"""`gpufleet comment`."""

import os
from collections.abc import Mapping
from pathlib import Path

import click

from gpufleet.cli.error_handling import exit_with_errors
from gpufleet.errors import UserError


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--pull-request", "number", type=int, help="Number of the pull request. Default: from the CI event.")
@click.option("--commit", help="Commit of the pull request. Default: from the CI event, else from the report.")
@click.option("--author", default="", help="The token's login. Default: from the API; in a "
              "workflow of GitHub github-actions[bot].")  # fmt: skip
@click.option("--patience", default=120.0, show_default=True, metavar="SECONDS",
              help="How long to wait for rate limits of the code host.")  # fmt: skip
@click.option("--if-denied", default="fail", show_default=True, type=click.Choice(["fail", "go-on"]),
              help="What to do if the token may not comment, as for a fork's pull request.")  # fmt: skip
@exit_with_errors
def comment(folder: Path, number: int | None, commit: str | None, author: str, patience: float, if_denied: str) -> int:
    """Post the report in FOLDER on its pull request: one comment per stack, created once and then edited.

    FOLDER was written by `gpufleet preview` or `gpufleet report --to`. The token is GITHUB_TOKEN, in GitLab
    GITLAB_TOKEN. Comments on stacks that are no longer in the report say so.
    """
    return post_report(folder, number, commit, author, patience, go_on=if_denied == "go-on")


def post_report(
    folder: Path, number: int | None, commit: str | None, author: str, patience: float, *, go_on: bool
) -> int:
    """The verb's work, for `gpufleet preview --comment` too. go_on: report a token that may not write, and go on."""
    from gpufleet.comments.ci_environment import code_host_of, run_of
    from gpufleet.comments.code_host import PermissionDenied
    from gpufleet.comments.sticky import update_comments

    told, bodies = _report(folder)
    place = code_host_of(os.environ, number, author, patience)
    run = run_of(os.environ, commit, told)
    try:
        found = update_comments(place, bodies, run, whole=True)
    except PermissionDenied as error:
        click.echo(f"no comment: the token may not write on {place.label}: {error}", err=True)
        return 0 if go_on else 1
    for stack, outcome in found.items():
        more = ": a newer commit or run has the word" if outcome == "outdated" else ""
        click.echo(f"comment on {stack}: {outcome}{more}")
    return 0


def _report(folder: Path) -> tuple[str | None, Mapping[str, str]]:
    """The commit that a report is about, and its stacks' texts. Errors: UserError."""
    import json

    from gpufleet.comments.sticky import stack_of

    made = "make it with `gpufleet preview` or `gpufleet report --to`"
    try:
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        names = [f"{each['project']}/{each['stack']}" for each in report["stacks"]]
        commit = report["footer"]["commit"]
        texts = [file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.md")) if file.name != "report.md"]
    except OSError as error:
        raise UserError(f"{folder}: {error.strerror}: report not found; {made}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{folder / 'report.json'}: is not a report: {error}; {made}") from error
    bodies = {stack: text for text in texts if (stack := stack_of(text))}
    if missing := [name for name in names if name not in bodies]:
        raise UserError(f"{folder}: no text of {', '.join(missing)}; {made}")
    return commit, {name: bodies[name] for name in names}
