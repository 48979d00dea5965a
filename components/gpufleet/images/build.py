"""From a directory with a Dockerfile to an image in the environment's registry."""

import hashlib
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from gpufleet.images import dockerfile, ecr, platforms
from gpufleet.images.builder import Build, build_command, digest_in, find_builder, push_command, run
from gpufleet.images.cuda import cuda_of
from gpufleet.images.network import ARGUMENT, network_argument
from gpufleet.images.pinned_images import PinnedImage
from gpufleet.images.registry_auth import login_file
from gpufleet.images.repository import Repository, select_repository, validate_tag
from gpufleet.images.tag import default_tag
from gpufleet.jobs.aws_batch import latest_image as aws_images
from gpufleet.jobs.azure_batch import latest_image as azure_images
from gpufleet.jobs.settings import JobSettings


@dataclass(frozen=True)
class BuildPlan:
    """Where an image goes, and how it is built. builder: None in a rehearsal. advice: warnings, a line each."""

    builder: str | None
    repository: Repository
    tag: str
    build: Build
    advice: list[str]


def plan_build(
    settings: JobSettings,
    directory: Path,
    *,
    repository: str | None = None,
    tag: str | None = None,
    file: Path | None = None,
    platform: str | None = None,
    build_args: Mapping[str, str] | None = None,
) -> BuildPlan:
    """Plan a build: everything that can be checked before it starts, also with ECR. Errors: UserError.

    build_args: NETWORK, where the Dockerfile has it and none is given, is that of the environment's pools.
    """
    source = dockerfile.find_dockerfile(directory, file)
    target = select_repository(settings.repositories, repository, settings.environment)
    # The registry of a rehearsal is not there: what would be pushed is only named.
    played = "GPUFLEET_REHEARSAL" in os.environ and not target.on_this_machine
    place = platforms.platform_for(settings.pools.values(), platform, settings.environment)
    given = dict(build_args or {})
    if ARGUMENT not in given:
        given |= network_argument(settings.pools.values(), dockerfile.build_arguments(source), settings.environment)
    name = validate_tag(tag) if tag else default_tag(directory, datetime.now(UTC))
    return BuildPlan(
        builder=None if played else find_builder(),
        repository=target,
        tag=name,
        build=Build(f"{target.url}:{name}", directory, source, place, given),
        advice=[
            *dockerfile.advice(source, given),
            *platforms.advice(place),
            *([] if played else ecr.advice(target, name)),
        ],
    )


def build_image(plan: BuildPlan, say: Callable[[str], None]) -> PinnedImage:
    """Build and push; the builder's own progress goes to the standard error.

    say: called with progress messages. Errors: BuilderFailed, UserError.
    """
    target = plan.repository
    if plan.builder is None:
        say(f"{plan.build.image}: a rehearsal builds and pushes nothing; jobs name it by a made-up digest")
        made_up = plan.build.image.encode()
        azure_images.put_played(target.url, plan.tag, made_up)
        aws_images.put_played(target.url, plan.tag, plan.build.image)
        return PinnedImage(target.url, plan.tag, f"sha256:{hashlib.sha256(made_up).hexdigest()}")
    with login_file(target.host) as login:
        say(f"{plan.build.image}: building {plan.build.file}")
        run(build_command(plan.builder, plan.build, login), "nothing is pushed")
    # A long build outlives a login: ECR's lasts 12 hours, ACR's 3.
    with login_file(target.host) as login, tempfile.TemporaryDirectory(prefix="gpufleet-") as folder:
        say(f"{plan.build.image}: pushing")
        digest = Path(folder) / "digest"
        plain_http = target.on_this_machine
        run(push_command(plan.builder, plan.build.image, digest, login, plain_http=plain_http), "nothing is recorded")
        return PinnedImage(target.url, plan.tag, digest_in(digest), cuda_of(plan.builder, plan.build.image))
