"""Debian's docker-registry on a free port of 127.0.0.1, with a password, for as long as a test needs it."""

import base64
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

START_SECONDS = 60.0
USER, PASSWORD = "team", "of-no-value"
MANIFESTS = "application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json"


class RegistryProgram:
    """host: with its port. login: an auth file with the password, as `buildah login` writes it. log: with a line for
    each request."""

    def __init__(self, host: str, folder: Path, user: str, password: str) -> None:
        self.host, self.login, self.log = host, folder / "login.json", folder / "registry.log"
        self._pair = f"{user}:{password}"

    @property
    def entry(self) -> str:
        """User and password as auth files hold them."""
        return base64.b64encode(self._pair.encode()).decode()

    def get(self, path: str) -> tuple[bytes, dict[str, str]]:
        """Body and headers of GET /v2/`path`."""
        headers = {"Authorization": f"Basic {self.entry}", "Accept": MANIFESTS}
        request = urllib.request.Request(f"http://{self.host}/v2/{path}", headers=headers)
        with urllib.request.urlopen(request, timeout=600) as answer:
            return answer.read(), dict(answer.headers)

    def manifest(self, repository: str, reference: str) -> tuple[dict[str, Any], str, bytes]:
        """The manifest, the digest that the registry gives it, and its bytes."""
        body, headers = self.get(f"{repository}/manifests/{reference}")
        return json.loads(body), headers["Docker-Content-Digest"], body

    def tags(self, repository: str) -> list[str]:
        """[] for a repository that nobody has pushed to."""
        try:
            return sorted(json.loads(self.get(f"{repository}/tags/list")[0])["tags"])
        except urllib.error.HTTPError as error:
            if error.code != 404:
                raise
            return []


@contextmanager
def registry_program(
    folder: Path, *, user: str = USER, password: str = PASSWORD, storage: Path | None = None
) -> Iterator[RegistryProgram]:
    """Run it, with its files in `folder`. storage: where its images lie. Default: in `folder` as well."""
    for program in ("buildah", "docker-registry", "busybox", "skopeo"):
        if shutil.which(program) is None:
            pytest.fail(f"{program} is not on PATH; run: python -m tools.images.install")
    with socket.create_server(("127.0.0.1", 0)) as server:
        host = f"127.0.0.1:{server.getsockname()[1]}"
    made = RegistryProgram(host, folder, user, password)
    made.login.write_text(json.dumps({"auths": {host: {"auth": made.entry}}}))
    (folder / "passwords").write_text(f"{user}:{_bcrypt(password)}\n")
    configuration = {
        "version": 0.1,
        "log": {"level": "warn"},
        "storage": {"filesystem": {"rootdirectory": str(storage or folder / "registry")}},
        "http": {"addr": host},
        "auth": {"htpasswd": {"realm": "tests", "path": str(folder / "passwords")}},
    }
    (folder / "registry.yml").write_text(json.dumps(configuration))
    with made.log.open("wb") as log:
        process = subprocess.Popen(["docker-registry", "serve", str(folder / "registry.yml")], stdout=log, stderr=log)
    try:
        _wait(made, process, made.log)
        yield made
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _bcrypt(password: str) -> str:
    """The only kind of password that the registry takes; Perl, which every Debian has, knows it by its C library."""
    command = ["perl", "-e", 'print crypt($ARGV[0], "\\$2b\\$05\\$" . "a" x 22)', password]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _wait(registry: RegistryProgram, process: "subprocess.Popen[bytes]", log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while True:
        try:
            registry.get("")
            return
        except OSError:
            if process.poll() is not None or time.monotonic() > end:
                pytest.fail(f"docker-registry does not answer: {log.read_text()[-500:]}")
            time.sleep(0.05)
