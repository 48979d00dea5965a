"""`gpufleet data put|get|list`."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from gpufleet.cli.error_handling import exit_with_errors
from gpufleet.cli.output_options import json_option, print_json
from gpufleet.cli.stack_options import api_of, context_option, of_environment, settings_of, user_option
from gpufleet.cli.tensorboard import show_in_tensorboard, tensorboard_option, tensorboard_program
from gpufleet.errors import UserError

if TYPE_CHECKING:
    from gpufleet.jobs.azure_storage.blob_files import BlobFiles
    from gpufleet.jobs.azure_storage.paths import AzureStorage, StorageKind, StoragePath
    from gpufleet.jobs.azure_storage.share_files import ShareFiles
    from gpufleet.jobs.file_transfer import ListedFile, TransferredFile
    from gpufleet.jobs.kubernetes.volume_files import VolumeFiles
    from gpufleet.jobs.settings import JobSettings

to_option = click.option(
    "--to",
    "kind",
    type=click.Choice(["volume", "blob", "files"]),
    help="Where REMOTE is. Default: the container or file share named by its first part, else the volume.",
)
image_option = click.option(
    "--image", metavar="NAME", help="Image of the pod that copies; it needs only sh and sha256sum."
)


@click.group()
def data() -> None:
    """Files of an environment: copy them in and out, list them.

    They are on its shared volume, which jobs mount at /mnt, or in its Azure storage account.

    \b
    REMOTE is a path on the volume, for instance data/imagenet. If the environment has an Azure storage account,
    a path that begins with one of its containers or file shares, for instance result/run-1, is in that account.
    """


@data.command()
@of_environment
@click.argument("source", metavar="LOCAL|URL")
@click.argument("remote")
@click.option("--sha256", metavar="DIGITS", help="Checksum that the content of a URL must have. Default: not checked.")
@to_option
@image_option
@user_option
@json_option
@exit_with_errors
def put(
    environment: str,
    source: str,
    remote: str,
    sha256: str | None,
    program: Path,
    outputs: Path | None,
    kind: str | None,
    image: str | None,
    as_json: bool,
) -> int:
    """Copy LOCAL, a file or a directory, to REMOTE. Files that are already there are not sent again.

    A URL is fetched by a pod on the cluster, straight onto the volume. The pod continues if this command ends; the same
    command follows it again.

    \b
    gpufleet data put aws-dev ./imagenet data/imagenet
    gpufleet data put aws-dev https://example.org/train.tar data/
    gpufleet data put azure-dev train.py scripts/train.py
    """
    from gpufleet.jobs.kubernetes.url_fetch import check_source, is_url

    settings = settings_of(environment, program, outputs)
    if is_url(source):
        check_source(source, sha256)
        _fetch(settings, source, remote, sha256, kind, image, as_json)
        return 0
    if sha256 is not None:
        raise UserError(f"sha256={sha256}: is for a URL; the checksums of files from here are compared anyway")
    local = Path(source)
    if place := _place(settings, remote, kind):
        _tell(settings, _azure_files(settings, place).put(local, place), as_json)
        return 0
    with _volume(settings, image) as files:
        _tell(settings, files.put(local, remote), as_json)
    return 0


@data.command()
@of_environment
@click.argument("remote")
@click.argument("local", type=click.Path(path_type=Path))
@to_option
@image_option
@user_option
@tensorboard_option
@json_option
@exit_with_errors
def get(
    environment: str,
    remote: str,
    local: Path,
    program: Path,
    outputs: Path | None,
    kind: str | None,
    image: str | None,
    tensorboard: bool,
    as_json: bool,
) -> int:
    """Copy REMOTE, a file or a directory, to LOCAL.

    \b
    gpufleet data get aws-dev runs/first ./first --tensorboard
    """
    shown = tensorboard_program(as_json=as_json) if tensorboard else ""
    settings = settings_of(environment, program, outputs)

    def copy() -> None:
        if place := _place(settings, remote, kind):
            _tell(settings, _azure_files(settings, place).get(place, local), as_json)
            return
        with _volume(settings, image) as files:
            _tell(settings, files.get(remote, local), as_json)

    copy()
    return show_in_tensorboard(shown, local, copy) if shown else 0


@data.command("list")
@of_environment
@click.argument("remote", default=".")
@to_option
@image_option
@user_option
@json_option
@exit_with_errors
def list_(
    environment: str,
    remote: str,
    program: Path,
    outputs: Path | None,
    kind: str | None,
    image: str | None,
    as_json: bool,
) -> int:
    """List files below REMOTE: bytes, modification time, path. Default: all files of the environment."""
    found = _listed(settings_of(environment, program, outputs), remote, kind, image)
    if as_json:
        rows = [{"path": each.path, "bytes": each.size, "changed": _time(each.changed)} for each in found]
        click.echo(json.dumps(rows, indent=2))
        return 0
    for each in found:
        # Who writes to the volume may put anything into a name, line ends and a terminal's commands too.
        path = each.path if each.path.isprintable() else repr(each.path)
        click.echo(f"{each.size:>15,}  {_time(each.changed)}  {path}")
    return 0


def _listed(settings: "JobSettings", remote: str, kind: str | None, image: str | None) -> "list[ListedFile]":
    everything = remote.strip("./") == ""
    if settings.storage and everything and (kind in ("blob", "files") or settings.volume_claim is None):
        places = settings.storage.roots(_azure_kind(kind))
        return [found for place in places for found in _azure_files(settings, place).list_files(place)]
    if place := _place(settings, remote, kind):
        return _azure_files(settings, place).list_files(place)
    with _volume(settings, image) as files:
        return files.list_files(remote)


def _place(settings: "JobSettings", remote: str, kind: str | None) -> "StoragePath | None":
    """Where in the storage account a path is; None for the volume. Errors: UserError."""
    storage = settings.storage
    if storage is None:
        if kind in ("blob", "files"):
            raise UserError(
                f"{settings.environment}: --to {kind}: the stack's outputs have no storage account "
                "(jobs.azure_batch.storage); leave it out"
            )
        return None
    if kind == "volume":
        return None
    place = storage.resolve(remote, _azure_kind(kind))
    if place is None and (kind or settings.volume_claim is None):
        raise storage.unknown_path_error(remote)
    if place is None and (misspelt := storage.misspelling_error(remote)):
        raise misspelt
    return place


def _azure_kind(kind: str | None) -> "StorageKind | None":
    return "blob" if kind == "blob" else "files" if kind == "files" else None


def _azure_files(settings: "JobSettings", place: "StoragePath") -> "BlobFiles | ShareFiles":
    from gpufleet.jobs.azure_storage import clients
    from gpufleet.jobs.azure_storage.blob_files import BlobFiles
    from gpufleet.jobs.azure_storage.share_files import ShareFiles

    storage = cast("AzureStorage", settings.storage)
    if place.kind == "blob":
        return BlobFiles(storage, clients.blob_service(storage), progress_lines())
    return ShareFiles(storage, clients.share_service(storage), progress_lines())


def _fetch(
    settings: "JobSettings",
    url: str,
    remote: str,
    sha256: str | None,
    kind: str | None,
    image: str | None,
    as_json: bool,
) -> None:
    """Errors: UserError, also where no pod can fetch it."""
    from gpufleet.jobs.kubernetes.url_fetch import IMAGE, UrlFetch, path_of
    from gpufleet.users.team_users import select_user

    if place := _place(settings, remote, kind):
        raise UserError(f"{url}: a storage account fetches nothing; fetch it here, and put the file to {place.full}")
    if not settings.kubeconfig:
        raise UserError(
            f"{url}: {settings.environment} has no cluster whose pods could fetch it; let a job fetch it, with a "
            "program of its image that writes below /mnt"
        )
    user = select_user(settings.users, context_option("user"), settings.environment)
    path = path_of(url, remote)
    fetch = UrlFetch(
        api_of(settings), settings, url, path, sha256, image or IMAGE, user, lambda at, done, _: _note(at, done)
    )
    click.echo(f"{path}: pod {fetch.pod} in namespace {settings.namespace} fetches it", err=True)
    _tell(settings, iter([fetch.run()]), as_json)


def _note(path: str, done: int) -> None:
    click.echo(f"{path}: {done:,} bytes", err=True)


@contextmanager
def _volume(settings: "JobSettings", image: str | None) -> Iterator["VolumeFiles"]:
    from gpufleet.jobs.kubernetes.data_pod import IMAGE, running_data_pod
    from gpufleet.jobs.kubernetes.pod_exec import exec_in_pod
    from gpufleet.jobs.kubernetes.volume_files import VolumeFiles
    from gpufleet.users.team_users import select_user

    api = api_of(settings)
    user = select_user(settings.users, context_option("user"), settings.environment)
    with running_data_pod(api, settings, image or IMAGE, user=user) as pod:

        def there(command: Sequence[str], given: Iterable[bytes]) -> Iterator[bytes]:
            return exec_in_pod(api, settings.namespace, pod, command, given)

        yield VolumeFiles(there, progress=progress_lines())


def progress_lines() -> Callable[[str, int, int], None]:
    """Report every tenth of a transfer, in a form that suits a terminal and a log."""
    told: dict[str, int] = {}

    def tell(path: str, done: int, size: int) -> None:
        tenth = 10 * done // size if size else 10
        if size > 2**25 and tenth != told.get(path) and tenth < 10:
            told[path] = tenth
            click.echo(f"{path}: {10 * tenth} % of {size:,} bytes", err=True)

    return tell


def _tell(settings: "JobSettings", sent: Iterator["TransferredFile"], as_json: bool) -> None:
    files: list[TransferredFile] = []
    for each in sent:
        how = (
            "was there already"
            if not each.transferred_bytes and each.size
            else f"{each.transferred_bytes:,} bytes sent"
        )
        click.echo(f"{each.path}: {each.size:,} bytes, {how}", err=as_json)
        files.append(each)
    moved = sum(each.transferred_bytes for each in files)
    click.echo(f"{len(files)} files, {moved:,} bytes sent, checksums right", err=as_json)
    if as_json:
        print_json({"environment": settings.environment} | transfer_to_dict(files))


def transfer_to_dict(files: "Sequence[TransferredFile]") -> dict[str, object]:
    """The files of a transfer, and how many bytes went over the network, as JSON data."""
    rows = [{"path": each.path, "bytes": each.size, "transferred_bytes": each.transferred_bytes} for each in files]
    return {"files": rows, "transferred_bytes": sum(each.transferred_bytes for each in files)}


def _time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
