"""`gpufleet data put|get|list`."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpufleet.cli.environments import api_of, of_environment, settings_of
from gpufleet.cli.exits import for_the_user

if TYPE_CHECKING:
    from gpufleet.jobs.kubernetes.shared_files import Sent, SharedFiles

image_option = click.option(
    "--image", metavar="NAME", help="Image of the pod that copies: sh and sha256sum are enough."
)


@click.group()
def data() -> None:
    """Files on an environment's shared volume, which jobs find at /mnt."""


@data.command()
@of_environment
@click.argument("local", type=click.Path(path_type=Path))
@click.argument("remote")
@image_option
@for_the_user
def put(environment: str, local: Path, remote: str, program: Path, outputs: Path | None, image: str | None) -> int:
    """Copy LOCAL, a file or a directory, to REMOTE on the volume. What is there already is not sent again.

    \b
    gpufleet data put aws-dev ./imagenet data/imagenet
    """
    with _files(environment, program, outputs, image) as files:
        _tell(files.put(local, remote))
    return 0


@data.command()
@of_environment
@click.argument("remote")
@click.argument("local", type=click.Path(path_type=Path))
@image_option
@for_the_user
def get(environment: str, remote: str, local: Path, program: Path, outputs: Path | None, image: str | None) -> int:
    """Copy REMOTE, a file or a directory on the volume, to LOCAL."""
    with _files(environment, program, outputs, image) as files:
        _tell(files.get(remote, local))
    return 0


@data.command("list")
@of_environment
@click.argument("remote", default=".")
@image_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@for_the_user
def list_(environment: str, remote: str, program: Path, outputs: Path | None, image: str | None, as_json: bool) -> int:
    """Files below REMOTE: bytes, when they were changed, path."""
    with _files(environment, program, outputs, image) as files:
        found = files.listed(remote)
    if as_json:
        rows = [{"path": each.path, "bytes": each.size, "changed": _time(each.changed)} for each in found]
        click.echo(json.dumps(rows, indent=2))
        return 0
    for each in found:
        click.echo(f"{each.size:>15,}  {_time(each.changed)}  {each.path}")
    return 0


@contextmanager
def _files(environment: str, program: Path, outputs: Path | None, image: str | None) -> Iterator["SharedFiles"]:
    from gpufleet.jobs.kubernetes.data_pod import IMAGE, running
    from gpufleet.jobs.kubernetes.pod_command import run
    from gpufleet.jobs.kubernetes.shared_files import SharedFiles

    settings = settings_of(environment, program, outputs)
    api = api_of(settings)
    with running(api, settings, image or IMAGE) as pod:

        def there(command: Sequence[str], given: Iterable[bytes]) -> Iterator[bytes]:
            return run(api, settings.namespace, pod, command, given)

        yield SharedFiles(there, progress=progress_lines())


def progress_lines() -> Callable[[str, int, int], None]:
    """Tells every tenth of a file that is on its way; a terminal and a log read alike."""
    told: dict[str, int] = {}

    def tell(path: str, done: int, size: int) -> None:
        tenth = 10 * done // size if size else 10
        if size > 2**25 and tenth != told.get(path) and tenth < 10:
            told[path] = tenth
            click.echo(f"{path}: {10 * tenth} % of {size:,} bytes", err=True)

    return tell


def _tell(sent: Iterator["Sent"]) -> None:
    files = moved = 0
    for each in sent:
        how = "was there already" if not each.moved and each.size else f"{each.moved:,} bytes sent"
        click.echo(f"{each.path}: {each.size:,} bytes, {how}")
        files, moved = files + 1, moved + each.moved
    click.echo(f"{files} files, {moved:,} bytes sent, checksums right")


def _time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
