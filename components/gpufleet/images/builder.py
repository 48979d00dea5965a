"""The program that builds and pushes: buildah, or podman, which takes the same arguments. Neither needs a daemon.

How they isolate RUN lines and where they keep layers is theirs and the user's: BUILDAH_ISOLATION, STORAGE_DRIVER,
CONTAINERS_STORAGE_CONF, containers.conf. Sources: buildah-build(1), buildah-push(1), podman-build(1), podman-push(1).
"""

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gpufleet.errors import UserError

PROGRAMS = ("buildah", "podman")
"""Looked for on PATH in this order."""

_STANDARD_ERROR = 2
INTERRUPTED = 130
"""128 + SIGINT, as shells say it."""
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


class BuilderFailed(UserError):
    """The builder failed, and has printed why. code: its exit code."""

    def __init__(self, text: str, code: int) -> None:
        super().__init__(text)
        self.code = code


@dataclass(frozen=True)
class Build:
    """What is built, and under which name. image: repository URL and tag. platform: for instance linux/amd64."""

    image: str
    directory: Path
    file: Path
    platform: str | None = None
    build_args: Mapping[str, str] = field(default_factory=dict)


def find_builder() -> str:
    """The path of the builder. Errors: UserError with what to install."""
    for program in PROGRAMS:
        if path := shutil.which(program):
            return path
    raise UserError(
        "images: neither buildah nor podman is on PATH; install one: `apt-get install buildah`, "
        "`dnf install buildah`, or `brew install podman` and `podman machine init --now`"
    )


def build_command(builder: str, build: Build, login: Path | None) -> list[str]:
    """Build with a cache of layers. login: an auth file, for base images; None: the user's own."""
    command = [builder, "build", "--layers", "--file", str(build.file), "--tag", build.image]
    if build.platform:
        command += ["--platform", build.platform]
    for key, value in build.build_args.items():
        command += ["--build-arg", f"{key}={value}"]
    if login:
        command += ["--authfile", str(login)]
    return [*command, str(build.directory)]


def push_command(builder: str, image: str, digest_file: Path, login: Path | None, *, plain_http: bool) -> list[str]:
    """Push, and write the digest to a file. plain_http: the registry may speak it; only for one on this machine."""
    command = [builder, "push", "--digestfile", str(digest_file)]
    if login:
        command += ["--authfile", str(login)]
    if plain_http:
        command.append("--tls-verify=false")
    return [*command, image, f"docker://{image}"]


def run(command: Sequence[str], failure: str, folder: Path | None = None) -> None:
    """Run it; all that it says goes to the standard error, as it comes.

    failure: what its failing means, for the message. folder: where it runs; default: here. Errors: BuilderFailed,
    UserError when it cannot be started.
    """
    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=_STANDARD_ERROR, cwd=folder)
    except OSError as error:
        raise UserError(f"{command[0]}: cannot be started: {error.strerror}") from error
    except KeyboardInterrupt:
        raise BuilderFailed(f"{failure}: interrupted", INTERRUPTED) from None
    interrupted = False
    while (code := _ended(process)) is None:
        interrupted = True
    if interrupted:
        raise BuilderFailed(f"{failure}: interrupted", INTERRUPTED)
    if code:
        how = f"exit code {code}" if code > 0 else f"signal {-code}"
        told = f"{failure}: {Path(command[0]).name} {command[1]} failed ({how}), see above"
        raise BuilderFailed(told, code if code > 0 else 128 - code)


def _ended(process: subprocess.Popen[bytes]) -> int | None:
    """Its exit code; None after a Ctrl-C, which has reached the builder as well: it takes away what it has begun."""
    try:
        return process.wait()
    except KeyboardInterrupt:
        return None


def digest_in(file: Path) -> str:
    """The digest that the builder wrote. Errors: UserError if it is invalid."""
    try:
        text = file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"images: the builder wrote no digest: {error}; take another version of it") from error
    if not _DIGEST.fullmatch(text):
        raise UserError(f"images: the builder wrote {text!r} where sha256:... was due; take another version of it")
    return text
