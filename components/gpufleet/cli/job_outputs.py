"""`gpufleet jobs outputs list|get`: outputs of AWS Batch and Azure Batch jobs, in a bucket or container."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpufleet.cli.data import progress_lines, transfer_to_dict
from gpufleet.cli.error_handling import exit_with_errors
from gpufleet.cli.output_options import json_option, print_json
from gpufleet.cli.stack_options import of_environment, on_option, settings_of
from gpufleet.cli.tensorboard import show_in_tensorboard, tensorboard_option, tensorboard_program
from gpufleet.errors import UserError

if TYPE_CHECKING:
    from gpufleet.jobs.aws_batch.outputs import AwsBatchOutputs
    from gpufleet.jobs.azure_batch.outputs import AzureBatchOutputs
    from gpufleet.jobs.file_transfer import TransferredFile
    from gpufleet.jobs.settings import JobSettings


@click.group("outputs")
def job_outputs() -> None:
    """Files that an AWS Batch or Azure Batch job has written to $GPUFLEET_OUTPUTS in the bucket or container."""


@job_outputs.command("list")
@of_environment
@on_option
@click.argument("job")
@json_option
@exit_with_errors
def list_(environment: str, job: str, program: Path, outputs: Path | None, on: str | None, as_json: bool) -> int:
    """List a job's files: bytes, modification time, path. On AWS Batch, JOB:7 is a child of an array."""
    found = list(_listed(settings_of(environment, program, outputs, on), job))
    if as_json:
        click.echo(json.dumps([dict(zip(("path", "bytes", "changed"), each, strict=True)) for each in found], indent=2))
        return 0
    for path, size, changed in found:
        click.echo(f"{size:>15,}  {changed}  {path}")
    return 0


@job_outputs.command()
@of_environment
@on_option
@click.argument("job")
@click.argument("directory", metavar="[DIR]", type=click.Path(path_type=Path), required=False)
@tensorboard_option
@json_option
@exit_with_errors
def get(
    environment: str,
    job: str,
    directory: Path | None,
    program: Path,
    outputs: Path | None,
    on: str | None,
    tensorboard: bool,
    as_json: bool,
) -> int:
    """Copy a job's files to DIR, by default ./JOB. Files that are already there are not downloaded again.

    Of a sweep on AWS Batch, DIR/results.csv then has a row for each child: its state, its parameters, and the keys of
    the result.json that it wrote to $GPUFLEET_OUTPUTS.

    \b
    gpufleet jobs outputs get aws-batch-dev train-1121-150405-3f2a ./run-1
    gpufleet jobs outputs get aws-batch-dev train-1121-150405-3f2a --tensorboard
    """
    shown = tensorboard_program(as_json=as_json) if tensorboard else ""
    place = directory or Path(job.replace(":", "-"))
    source = _outputs(settings_of(environment, program, outputs, on))
    files = _copied(source, job, place, as_json)
    if as_json:
        print_json({"environment": environment, "job": job, "directory": str(place)} | transfer_to_dict(files))
    if shown:
        return show_in_tensorboard(shown, place, lambda: list(source.get(job, place)))
    return 0


def _copied(
    source: "AwsBatchOutputs | AzureBatchOutputs", job: str, place: Path, as_json: bool
) -> "list[TransferredFile]":
    """Copy all, and print a line for each file."""
    files: list[TransferredFile] = []
    for each in source.get(job, place):
        how = (
            "was here already"
            if not each.transferred_bytes and each.size
            else f"{each.transferred_bytes:,} bytes fetched"
        )
        click.echo(f"{each.path}: {each.size:,} bytes, {how}", err=as_json)
        files.append(each)
    moved = sum(each.transferred_bytes for each in files)
    click.echo(f"{len(files)} files in {place}, {moved:,} bytes fetched, sizes right", err=as_json)
    for line in source.tables(job, place):
        click.echo(line, err=as_json)
    return files


def _listed(settings: "JobSettings", job: str) -> Iterator[tuple[str, int, str]]:
    """Path, bytes and time of each file."""
    for each in _outputs(settings).list_files(job):
        changed = each.changed if isinstance(each.changed, datetime) else datetime.fromtimestamp(each.changed, UTC)
        yield each.path, each.size, changed.strftime("%Y-%m-%dT%H:%M:%SZ")


def _outputs(settings: "JobSettings") -> "AwsBatchOutputs | AzureBatchOutputs":
    if settings.azure_batch and settings.storage:
        from gpufleet.jobs.azure_batch.outputs import AzureBatchOutputs
        from gpufleet.jobs.azure_storage.blob_files import BlobFiles
        from gpufleet.jobs.azure_storage.clients import blob_service

        files = BlobFiles(settings.storage, blob_service(settings.storage), progress_lines())
        return AzureBatchOutputs(files, settings.azure_batch, settings.environment)
    if place := settings.slurm or settings.hosts:
        raise UserError(
            f"{settings.environment}: its jobs write to the shared files, {place.target.directory}/jobs/JOB/outputs; "
            "copy them from there"
        )
    if settings.batch is None:
        raise UserError(
            f"{settings.environment}: its jobs run on Kubernetes, and write to the shared volume; use "
            "`gpufleet data get`"
        )
    from gpufleet.jobs.aws_batch.client import AwsBatchClient
    from gpufleet.jobs.aws_batch.outputs import AwsBatchOutputs

    return AwsBatchOutputs(
        AwsBatchClient(settings.batch.region), settings.batch, settings.environment, progress_lines()
    )
