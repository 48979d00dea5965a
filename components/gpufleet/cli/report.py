"""`gpufleet report`."""

import gc
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpufleet.cli.environment_argument import environment_argument
from gpufleet.cli.error_handling import exit_with_errors
from gpufleet.errors import UserError

if TYPE_CHECKING:
    from gpufleet.report.model import Report
    from gpufleet.report.preview import Preview

FILE = click.Path(path_type=Path)


@click.command()
@environment_argument("environments", nargs=-1)
@click.option("--program", default=".", type=FILE, help="Pulumi project. Default: here or above.")
@click.option("--preview", "previews", multiple=True, metavar="[STACK=]FILE",
              help="Output of `pulumi preview --json --show-sames`, or the event log. Repeatable.")  # fmt: skip
@click.option("--before", "befores", multiple=True, type=FILE,
              help="The same for the base branch, to compare with instead of the state. Repeatable.")  # fmt: skip
@click.option("--policy-config", "policy_configs", multiple=True, type=FILE,
              help="Configuration of a policy pack (JSON). Repeatable.")  # fmt: skip
@click.option("--usage", "usage_file", type=FILE, help="Assumptions in YAML that replace the stacks' own.")
@click.option("--to", "folder", type=FILE, help="Write every format to this directory: Markdown, JSON, HTML ...")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of Markdown.")
@click.option("--commit", help="Commit to report on. Default: the one that is checked out.")
@click.option("--fail-on", default="refuse", show_default=True, type=click.Choice(["refuse", "warning", "never"]),
              help="Exit with 1 for rejections; warning: also for warnings and unverified checks.")  # fmt: skip
@exit_with_errors
def report(
    environments: tuple[str, ...],
    program: Path,
    previews: tuple[str, ...],
    befores: tuple[Path, ...],
    policy_configs: tuple[Path, ...],
    usage_file: Path | None,
    folder: Path | None,
    as_json: bool,
    commit: str | None,
    fail_on: str,
) -> int:
    """Report what a change costs, replaces and breaks.

    From previews of stacks or of rehearsed ENVIRONMENTS.

    Exit code: 0; 1 for findings, see --fail-on; 2 for input that cannot be read.

    \b
    pulumi preview --json --show-sames -s aws-dev > preview.json; gpufleet report --preview preview.json
    gpufleet report aws-dev aws-prod --to report/
    """
    if bool(environments) is bool(previews):
        raise click.UsageError("give environments or --preview FILE, for instance: gpufleet report aws-dev")
    # A run of seconds that keeps nearly all it makes: looking for garbage would take a quarter of them.
    gc.disable()
    try:
        made = _report(environments, program, previews, befores, policy_configs, usage_file, commit)
        _say(made, folder, as_json, program)
    except UserError as error:
        # Not 1, which says that the change has findings.
        click.echo(f"Error: {error}", err=True)
        return 2
    from gpufleet.report.exit_codes import should_fail

    return 1 if should_fail(made, fail_on) else 0


def _report(
    environments: Sequence[str],
    program: Path,
    previews: Sequence[str],
    befores: Sequence[Path],
    policy_configs: Sequence[Path],
    usage_file: Path | None,
    commit: str | None,
) -> "Report":
    from gpufleet.cost.usage_assumptions import read_usage_file
    from gpufleet.report.build import build_report, checked_out_commit
    from gpufleet.report.load_previews import read_preview

    seen = [_read(each, program) for each in previews] or [_rehearsed(program, each) for each in environments]
    return build_report(
        seen,
        befores=[read_preview(file) for file in befores],
        from_nothing=bool(environments),
        policy_config=_policies(policy_configs),
        usage=read_usage_file(usage_file) if usage_file else None,
        commit=commit or checked_out_commit(program),
    )


def _read(given: str, program: Path) -> "Preview":
    """A preview, given as its file or as `stack=file`, which tells whose it is if it failed before its first step."""
    from gpufleet.report.load_previews import read_preview

    stack, equals, file = given.partition("=")
    if not equals or Path(given).exists():
        return read_preview(Path(given))
    preview = read_preview(Path(file))
    preview.fallback_name = _name(stack, program)
    return preview


def _name(stack: str, program: Path) -> tuple[str, str]:
    """Project and stack, of `stack` or `project/stack`; the project is the program's own by default."""
    from gpufleet.report.configuration_files import project_name

    project, _, name = stack.rpartition("/")
    return project.rpartition("/")[2] or project_name(program), name


def _rehearsed(program: Path, environment: str) -> "Preview":
    """A preview of an environment from nothing, on simulated clouds."""
    from gpufleet.pulumi_cli import PulumiCliError
    from gpufleet.report.preview import Diagnostic, Preview
    from gpufleet.report.preview_json import parse_preview
    from gpufleet_rehearsal.offline_preview import preview_offline

    try:
        return parse_preview(preview_offline(program, environment, fetch=True), environment)
    except PulumiCliError as error:
        said, failed, lines = str(error).partition("pulumi preview: ")
        if said or not failed:
            raise
        # The program or a provider refuses: that is what the report is for.
        return Preview(
            environment, _name(environment, program), diagnostics=[Diagnostic("", "error", lines)], ended=False
        )


def _policies(files: Sequence[Path]) -> Mapping[str, Mapping[str, object]]:
    """Configuration by policy."""
    from gpufleet.policies.configuration import read_policies

    found: dict[str, Mapping[str, object]] = {}
    for file in files:
        found |= read_policies(file)
    return found


def _say(made: "Report", folder: Path | None, as_json: bool, program: Path) -> None:
    from gpufleet.report.formats.json import render_json
    from gpufleet.report.formats.markdown import render_markdown
    from gpufleet.report.text import verdict_line
    from gpufleet.report.write_files import write_report_files

    if folder is None:
        # The text ends with its own line break. Windows' and some CI's terminals know not every sign.
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
        click.echo(render_json(made) if as_json else render_markdown(made), nl=False)
        return
    try:
        names = write_report_files(made, folder, program)
    except OSError as error:
        raise UserError(f"{folder}: {error.strerror}; give another directory with --to") from error
    if as_json:
        click.echo(render_json(made), nl=False)
        return
    for stack in made.stacks:
        click.echo(f"{stack.name}: {verdict_line(stack)}")
    click.echo(f"written to {folder}: {', '.join(names)}")
