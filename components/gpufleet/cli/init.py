"""`gpufleet init [NAME]`."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gpufleet.cli.error_handling import exit_with_errors
from gpufleet.cli.output_options import json_option, print_json
from gpufleet.errors import UserError

if TYPE_CHECKING:
    from gpufleet.config.new_environment import Answers

T = TypeVar("T")

CLOUDS = ("aws", "aws-batch", "azure")
"""Values of gpufleet:cloud that five answers are enough for: on-prem servers have names and a file server."""


@click.command()
@click.argument("name", default="dev")
@click.option("--cloud", type=click.Choice(CLOUDS), help="Its gpufleet:cloud: EKS, AWS Batch or Azure Batch.")
@click.option("--region", metavar="REGION", help="Region of the cloud, for instance us-east-1.")
@click.option("--gpu", metavar="TYPE", help="Instance type or VM size of a node; of a GPU such as A10G the cheapest.")
@click.option("--max-nodes", "nodes", type=int, metavar="N", help="Number of nodes that may run at once.")
@click.option("--budget", type=float, metavar="USD", help="Budget of a month; you hear before and when it is spent.")
@click.option("--owner", metavar="NAME", help="Who is responsible for it. Default: your user name.")
@click.option("--email", metavar="ADDRESS", help="Who hears of the budget. Default: Git's user.email.")
@click.option(
    "--program", default=".", type=click.Path(path_type=Path, file_okay=False), help="Folder. Default: this one."
)
@click.option("--yes", is_flag=True, help="Ask nothing: take the defaults for what no option says.")
@json_option
@exit_with_errors
def init(
    name: str,
    owner: str | None,
    email: str | None,
    program: Path,
    yes: bool,
    as_json: bool,
    **given: Any,  # noqa: ANN401 - the answers, by the names of `Answers`
) -> int:
    """Write a new environment, NAME (default: dev), by five answers.

    Where there is no Pulumi project yet, it writes that too. It overwrites nothing.

    \b
    gpufleet init
    gpufleet init prod --cloud aws --region us-east-2 --gpu H100 --max-nodes 4 --budget 60000
    gpufleet init --yes --program trial
    """
    from gpufleet.config.new_environment import check_name, environment_config
    from gpufleet.config.new_project import (
        environment_file,
        environment_files,
        program_folder,
        project_files,
        write_files,
    )
    from gpufleet.report.configuration_files import project_name

    check_name(name)
    there = program_folder(program)
    folder = there or program
    project = project_name(folder)
    check_name(project, "project")
    file = environment_file(folder, name)  # before anything is asked
    given["usd_per_month"] = given.pop("budget")
    answers = _answers(given, yes)
    owner = owner or _user()
    known = email or _email()
    email = known or f"{owner}@example.com"
    config = environment_config(answers, owner, project, email)
    files = {} if there else dict(project_files(answers.cloud, folder, project))
    files |= environment_files(folder, file, config)
    write_files(files)
    if not known:
        click.echo(f"note: Git has no user.email; {file}: emails: replace {email}, which nobody reads", err=True)
    then = f"gpufleet cost {name}" + ("" if program == Path() else f" --program {program}")
    if as_json:
        written = [str(each) for each in files]
        print_json({"environment": name, "project": project, "files": written, "next": then})
        return 0
    for each in files:
        click.echo(f"wrote {each}")
    click.echo(f"Next: {then}")
    return 0


_OPTIONS = {
    "cloud": "--cloud",
    "region": "--region",
    "gpu": "--gpu",
    "nodes": "--max-nodes",
    "usd_per_month": "--budget",
}
"""Option for each answer, in the order in which they are asked."""


def _answers(given: dict[str, Any], yes: bool) -> "Answers":
    """What is given, and for the rest the defaults or what is answered. Errors: UserError."""
    from gpufleet.config.new_environment import (
        DEFAULTS,
        Answers,
        check_budget,
        check_nodes,
        check_region,
        gpu_type,
    )

    lacking = [option for key, option in _OPTIONS.items() if given[key] is None]
    if lacking and not yes and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UserError(f"there is no terminal to ask on; give {', '.join(lacking)}, or --yes for the defaults")

    def answer(key: str, question: str, default: T, kind: Any, check: Callable[[T], T | None]) -> T:  # noqa: ANN401
        if given[key] is not None:
            value: T = given[key]
            return check(value) or value
        if yes:
            return default
        while True:
            value = click.prompt(question, default=default, type=kind, err=True)
            try:
                return check(value) or value
            except UserError as error:
                click.echo(f"Error: {error}", err=True)

    cloud = answer("cloud", "Cloud", CLOUDS[0], click.Choice(CLOUDS), lambda _: None)
    usual = DEFAULTS[cloud]
    region = answer("region", "Region", usual.region, str, lambda word: check_region(cloud, word))
    gpu = answer("gpu", "Type of a node, or its GPU", usual.gpu, str, lambda word: gpu_type(cloud, region, word))
    nodes = answer("nodes", "Nodes at most", usual.nodes, int, lambda count: check_nodes(cloud, region, gpu, count))
    usd = answer(
        "usd_per_month", "Budget in USD a month", usual.usd_per_month, float, lambda usd: check_budget(cloud, usd)
    )
    return Answers(cloud, region, gpu, nodes, usd)


def _user() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "owner"  # a user without a name, as in some containers


def _email() -> str:
    """The address that Git knows the user by; empty where it knows none, or is not there."""
    import subprocess

    try:
        said = subprocess.run(["git", "config", "user.email"], capture_output=True, text=True, check=False, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return said.stdout.strip()
