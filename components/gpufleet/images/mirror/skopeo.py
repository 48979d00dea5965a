"""skopeo, which looks at images in registries and copies them, blob by blob, without a daemon or root.

Source: skopeo-copy(1), skopeo-inspect(1). Exit codes say nothing; what it prints is read by `failures.py`.
"""

import hashlib
import shutil
import subprocess
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpufleet.documents.json import parse_json
from gpufleet.errors import UserError
from gpufleet.images.builder import INTERRUPTED, BuilderFailed
from gpufleet.images.mirror.credentials import Credentials
from gpufleet.images.mirror.error_messages import explain, unknown_image
from gpufleet.images.mirror.oci_layout import OciLayout
from gpufleet.images.repository import Repository

Say = Callable[[str], None]

_RETRIES = 3
_HOURS = 6
"""The most that one image may take: 20 GB at 1 MB/s."""
_LOOK_SECONDS = 120
_WORDS_KEPT = 40


@dataclass(frozen=True)
class RemoteImage:
    """A manifest in a registry, as it is there, byte by byte."""

    body: bytes

    @property
    def digest(self) -> str:
        return f"sha256:{hashlib.sha256(self.body).hexdigest()}"

    @property
    def content(self) -> dict[str, Any]:
        return parse_json(self.body, "manifest", shape=dict[str, Any])


@dataclass(frozen=True)
class Skopeo:
    """program: the path of skopeo."""

    program: str
    credentials: Credentials

    def inspect(self, repository: Repository, reference: str) -> RemoteImage | None:
        """The manifest behind a tag (`:1`) or digest (`@sha256:...`); None when there is none. Errors: UserError."""
        name = f"{repository.url}{reference}"
        done = self._asked(repository, name, "--raw")
        if done.returncode == 0:
            return RemoteImage(done.stdout)
        if unknown_image(done.stderr.decode(errors="replace")):
            return None
        raise UserError(self._explained(done, name, repository))

    def configuration(self, repository: Repository, digest: str) -> dict[str, Any]:
        """The configuration of an image of one platform. Errors: UserError."""
        name = f"{repository.url}@{digest}"
        done = self._asked(repository, name, "--config", "--raw")
        if done.returncode:
            raise UserError(self._explained(done, name, repository))
        return parse_json(done.stdout, name, shape=dict[str, Any])

    def pull(self, repository: Repository, digest: str, platform: str, into: OciLayout, hear: Say) -> None:
        """Copy an image to this disk; blobs that are there are not asked for. hear: each line of skopeo's.

        Errors: UserError.
        """
        system, _, architecture = platform.partition("/")
        name = f"{repository.url}@{digest}"
        with self._login(repository) as login:
            chosen = ["--override-os", system, "--override-arch", architecture]
            command = [self.program, "--command-timeout", f"{_HOURS}h", *chosen, "copy", *login]
            command += ["--retry-times", str(_RETRIES), *_plain("src-", repository)]
            self._copy([*command, f"docker://{name}", f"oci:{into.folder}"], "pull", name, repository, hear)

    def push(self, image: OciLayout, repository: Repository, tag: str, hear: Say) -> None:
        """Copy an image from this disk, with the digest that it has here. hear: as above. Errors: UserError."""
        name = f"{repository.url}:{tag}"
        with self._login(repository) as login:
            command = [self.program, "--command-timeout", f"{_HOURS}h", "copy", "--preserve-digests", *login]
            command += ["--retry-times", str(_RETRIES), *_plain("dest-", repository)]
            self._copy([*command, f"oci:{image.folder}", f"docker://{name}"], "push", name, repository, hear)

    def _copy(self, command: Sequence[str], during: str, name: str, repository: Repository, hear: Say) -> None:
        code, said = run_command(command, hear)
        if code:
            raise UserError(explain(said, during, name, self.credentials.login_hint(repository.host)))

    def _asked(self, repository: Repository, name: str, *words: str) -> "subprocess.CompletedProcess[bytes]":
        with self._login(repository) as login:
            command = [self.program, "inspect", *words, *login, *_plain("", repository), f"docker://{name}"]
            try:
                return subprocess.run(
                    command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_LOOK_SECONDS, check=False
                )
            except subprocess.TimeoutExpired as error:
                raise UserError(
                    f"{name}: the registry did not answer in {_LOOK_SECONDS} s; run this again later"
                ) from error

    def _explained(self, done: "subprocess.CompletedProcess[bytes]", name: str, repository: Repository) -> str:
        said = done.stderr.decode(errors="replace")
        return explain(said, "look", name, self.credentials.login_hint(repository.host))

    @contextmanager
    def _login(self, repository: Repository) -> Iterator[list[str]]:
        with self.credentials.file(repository.host) as file:
            yield ["--authfile", str(file)] if file else []


def find_skopeo() -> str:
    """Errors: UserError with what to install."""
    if path := shutil.which("skopeo"):
        return path
    raise UserError(
        "images: skopeo is not on PATH; install it: `apt-get install skopeo`, `dnf install skopeo` or "
        "`brew install skopeo`"
    )


def run_command(command: Sequence[str], hear: Callable[[str], None], folder: Path | None = None) -> tuple[int, str]:
    """Run it; its exit code and its last lines. hear: told each line as it comes. folder: where it runs.

    Errors: UserError when it cannot be started, BuilderFailed after Ctrl-C, which has reached it as well.
    """
    kept: deque[str] = deque(maxlen=_WORDS_KEPT)
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            cwd=folder,
        )
    except OSError as error:
        raise UserError(f"{command[0]}: cannot be started: {error.strerror}") from error
    with process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                kept.append(line)
                hear(line.rstrip("\n"))
            return process.wait(), "".join(kept)
        except KeyboardInterrupt:
            process.wait()
            raise BuilderFailed("interrupted; layers that have arrived stay, run it again", INTERRUPTED) from None


def _plain(side: str, repository: Repository) -> list[str]:
    """TLS is left out for a registry on this machine only."""
    return [f"--{side}tls-verify=false"] if repository.on_this_machine else []
