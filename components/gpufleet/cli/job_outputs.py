"""`gpufleet jobs outputs list|get`: what jobs on AWS Batch have written to the environment's bucket."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpufleet.cli.data import progress_lines
from gpufleet.cli.environments import of_environment, settings_of
from gpufleet.cli.exits import for_the_user
from gpufleet.errors import UserError

if TYPE_CHECKING:
    from gpufleet.jobs.batch.outputs import Outputs


@click.group("outputs")
def job_outputs() -> None:
    """What a job on AWS Batch has written to $GPUFLEET_OUTPUTS, its place in the environment's bucket."""


@job_outputs.command("list")
@of_environment
@click.argument("job")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@for_the_user
def list_(environment: str, job: str, program: Path, outputs: Path | None, as_json: bool) -> int:
    """A job's files: bytes, when they were written, path. JOB:7 is a child of an array."""
    found = [
        (each.path, each.size, each.changed.strftime("%Y-%m-%dT%H:%M:%SZ"))
        for each in _outputs(environment, program, outputs).listed(job)
    ]
    if as_json:
        click.echo(json.dumps([dict(zip(("path", "bytes", "changed"), each, strict=True)) for each in found], indent=2))
        return 0
    for path, size, changed in found:
        click.echo(f"{size:>15,}  {changed}  {path}")
    return 0


@job_outputs.command()
@of_environment
@click.argument("job")
@click.argument("directory", metavar="[DIR]", type=click.Path(path_type=Path), required=False)
@for_the_user
def get(environment: str, job: str, directory: Path | None, program: Path, outputs: Path | None) -> int:
    """Copy a job's files to DIR, by default one of the job's name here. What is there already is not fetched again.

    \b
    gpufleet jobs outputs get aws-batch-dev train-1121-150405-3f2a ./run-1
    """
    place = directory or Path(job.replace(":", "-"))
    files = moved = 0
    for each in _outputs(environment, program, outputs).get(job, place):
        how = "was here already" if not each.moved and each.size else f"{each.moved:,} bytes fetched"
        click.echo(f"{each.path}: {each.size:,} bytes, {how}")
        files, moved = files + 1, moved + each.moved
    click.echo(f"{files} files in {place}, {moved:,} bytes fetched, sizes right")
    return 0


def _outputs(environment: str, program: Path, outputs: Path | None) -> "Outputs":
    from gpufleet.jobs.batch.aws import Aws
    from gpufleet.jobs.batch.outputs import Outputs

    settings = settings_of(environment, program, outputs)
    if settings.batch is None:
        raise UserError(
            f"{environment}: its jobs run on Kubernetes, and write to the shared volume; use `gpufleet data get`"
        )
    return Outputs(Aws(settings.batch.region), settings.batch, environment, progress_lines())
