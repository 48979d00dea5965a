"""`gpufleet images build|list|sync|apptainer`."""

import json
import os
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpufleet.cli.error_handling import exit_with_errors
from gpufleet.cli.output_options import json_option
from gpufleet.cli.stack_options import api_of, of_environment, settings_of
from gpufleet.errors import UserError

if TYPE_CHECKING:
    from gpufleet.images.pinned_images import PinnedImage
    from gpufleet.jobs.settings import JobSettings


@click.group()
def images() -> None:
    """Images for jobs, in an environment's registry."""


@images.command()
@of_environment
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--repository", metavar="NAME", help="Default: the environment's only one.")
@click.option("--tag", metavar="TAG", help="Default: the time and DIR's commit.")
@click.option("--file", type=click.Path(path_type=Path), help="Default: Dockerfile or Containerfile in DIR.")
@click.option(
    "--build-arg",
    "build_args",
    multiple=True,
    metavar="KEY=VALUE",
    help="KEY alone takes the value from the environment. Never a secret: the image's history shows it.",
)
@click.option("--platform", metavar="OS/ARCH", help="Default: the platform of the environment's nodes.")
@json_option
@exit_with_errors
def build(
    environment: str,
    directory: Path,
    program: Path,
    outputs: Path | None,
    repository: str | None,
    tag: str | None,
    file: Path | None,
    build_args: tuple[str, ...],
    platform: str | None,
    as_json: bool,
) -> int:
    """Build the Dockerfile in DIR with buildah or podman and push it; jobs run it from then on.

    \b
    gpufleet images build aws-dev examples/train
    gpufleet jobs submit aws-dev --workers 2 -- python3 train.py
    """
    from gpufleet.images import build as building
    from gpufleet.images.builder import BuilderFailed
    from gpufleet.jobs.kubernetes.submission import cuda_errors

    settings = settings_of(environment, program, outputs)
    plan = building.plan_build(
        settings,
        directory,
        repository=repository,
        tag=tag,
        file=file,
        platform=platform,
        build_args=dict(_pair(each) for each in build_args),
    )
    for line in plan.advice:
        _note(f"note: {line}")
    try:
        image = building.build_image(plan, _note)
    except BuilderFailed as error:
        _note(f"Error: {error}")
        return error.code
    for pool in settings.pools.values():
        for line in cuda_errors(f"pool {pool.name}", image.cuda, pool):
            _note(f"note: {line}")
    trouble = _recorded(settings, plan.repository.name, image)
    if as_json:
        found = {"repository": plan.repository.name, "tag": image.tag, "digest": image.digest, "image": image.pinned}
        click.echo(json.dumps(found | {"cuda": image.cuda, "recorded": trouble is None}))
    else:
        click.echo(image.pinned)
    if trouble is None:
        _note(f"{plan.repository.name}: jobs run it from now on")
        return 0
    raise UserError(f"pushed, but not recorded for jobs; submit them with --image {image.pinned}: {trouble}")


@images.command("list")
@of_environment
@json_option
@exit_with_errors
def list_(environment: str, program: Path, outputs: Path | None, as_json: bool) -> int:
    """List the image of each repository that jobs run by default: the last one built."""
    settings = settings_of(environment, program, outputs)
    known = _known(settings)
    rows = [(name, known.get(name)) for name in sorted({*settings.repositories, *known})]
    if as_json:
        found = [
            {"repository": name, "tag": image and image.tag, "image": image and image.pinned} for name, image in rows
        ]
        click.echo(json.dumps(found, indent=2))
        return 0
    if not rows:
        click.echo(f"{environment}: it has no repository")
    for name, image in rows:
        click.echo(f"{name}: " + (f"{image.tag}  {image.pinned}" if image else "none built yet"))
    return 0


@images.command()
@click.argument("file", metavar="LIST", type=click.Path(path_type=Path))
@click.option("--update", is_flag=True, help="Update tags that have moved. Default: keep the lock file's digests.")
@click.option("--dry-run", is_flag=True, help="Only show what would be done, and how much would be downloaded.")
@click.option(
    "--only", multiple=True, metavar="SOURCE", help="Only this source of the list, with or without :TAG; repeatable."
)
@click.option(
    "--cache", type=click.Path(path_type=Path), help="Default: gpufleet/images in the user's cache directory."
)
@click.option("--logins", "trusted", metavar="LIST", type=click.Path(path_type=Path),
              help="Another list, whose logins are used instead, if somebody else wrote this one.")  # fmt: skip
@json_option
@exit_with_errors
def sync(
    file: Path,
    update: bool,
    dry_run: bool,
    only: tuple[str, ...],
    cache: Path | None,
    trusted: Path | None,
    as_json: bool,
) -> int:
    """Mirror the images of LIST to your registry: pinned, extended, checked; copies only changes.

    \b
    gpufleet images sync examples/images/images.yaml --dry-run
    """
    from gpufleet.images.builder import BuilderFailed
    from gpufleet.images.mirror.sync import sync_images

    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    chosen = (cache or home / "gpufleet" / "images").absolute()
    try:
        outcomes = sync_images(
            file, cache=chosen, say=_note, update=update, dry_run=dry_run, only=only, trusted=trusted
        )
    except BuilderFailed as error:
        _note(f"Error: {error}")
        return error.code
    for outcome in outcomes:
        for line in outcome.notes:
            _note(f"note: {line}")
    for line in (line for outcome in outcomes for line in outcome.errors):
        _note(f"Error: {line}")
    if as_json:
        click.echo(json.dumps([asdict(outcome) for outcome in outcomes], indent=2))
    else:
        for outcome in outcomes:
            missing = f"  {outcome.missing / 1e6:.1f} MB to fetch" if dry_run and outcome.missing is not None else ""
            click.echo(f"{outcome.name}: {outcome.did}{missing}" + (f"  {outcome.image}" if outcome.image else ""))
    return 1 if any(outcome.errors for outcome in outcomes) else 0


@images.command()
@click.argument("file", metavar="LIST", type=click.Path(path_type=Path))
@click.option("--to", type=click.Path(path_type=Path), default=Path(), help="Directory for the recipes. Default: here.")
@click.option(
    "--from-source", is_flag=True, help="Use the source's registry, and make the same additions in the recipe."
)
@click.option(
    "--only", multiple=True, metavar="SOURCE", help="Only this source of the list, with or without :TAG; repeatable."
)
@json_option
@exit_with_errors
def apptainer(file: Path, to: Path, from_source: bool, only: tuple[str, ...], as_json: bool) -> int:
    """Write an Apptainer recipe for each image of LIST, and print the commands that build them.

    \b
    gpufleet images apptainer images.yaml --to /nfs/team/images | sh -e
    gpufleet jobs submit lab --image images/training-25.10-py3.sif --nodes 2 -- python3 train.py
    """
    from gpufleet.images.mirror.apptainer_recipes import write_recipes

    made = write_recipes(file, to, _note, source=from_source, only=only)
    if as_json:
        click.echo(json.dumps([asdict(each) for each in made], indent=2))
    else:
        click.echo("\n".join(f"(cd {shlex.quote(each.folder)} && {each.command})" for each in made))
    return 0


def _known(settings: "JobSettings") -> dict[str, "PinnedImage"]:
    """The image that jobs run by default, by repository name. Errors: UserError."""
    if settings.on == "batch":
        from gpufleet.jobs.aws_batch.latest_image import newest_images

        return newest_images(settings.repositories)
    if settings.on == "azure-batch":
        from gpufleet.jobs.azure_batch import latest_image

        return latest_image.newest_images(settings.repositories)
    from gpufleet.images.pinned_images import read_pinned_images

    return read_pinned_images(api_of(settings), settings.namespace)


def _recorded(settings: "JobSettings", repository: str, image: "PinnedImage") -> UserError | None:
    """Record what has been pushed; an error comes back, since the push stands. Jobs on Batch ask the registry."""
    if settings.on in ("batch", "azure-batch"):
        return None
    from gpufleet.images.pinned_images import pin_image

    try:
        pin_image(api_of(settings), settings.namespace, repository, image)
    except UserError as error:
        return error
    return None


def _note(text: str) -> None:
    click.echo(text, err=True)


def _pair(text: str) -> tuple[str, str]:
    key, mark, value = text.partition("=")
    if key and mark:
        return key, value
    if key in os.environ:
        return key, os.environ[key]
    raise UserError(f"images: build-arg={text}: has no value, here nor in the environment; write --build-arg KEY=VALUE")
