"""A URL onto the shared volume: a pod on the cluster fetches it, so that nothing goes through the user's machine.

The pod's name follows from the URL and the path: the same command again follows a pod that still runs, and continues
what an ended one has left.
"""

import hashlib
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from gpufleet.errors import UserError
from gpufleet.jobs.backoff import Backoff
from gpufleet.jobs.file_transfer import Progress, TransferredFile
from gpufleet.jobs.kubernetes import api_paths
from gpufleet.jobs.kubernetes.api import KubernetesApi, KubernetesApiError, KubernetesUnreachable
from gpufleet.jobs.kubernetes.data_pod import data_pod, wait_for_start
from gpufleet.jobs.kubernetes.volume_files import path_on_volume
from gpufleet.jobs.settings import JobSettings
from gpufleet.users.user import User

IMAGE = "docker.io/curlimages/curl:8.10.1"
"""Any image with sh, sha256sum, and a curl that verifies certificates does; busybox's wget verifies none
(docker-library/busybox#80)."""
PAUSE_SECONDS = 10
_IDLE_SECONDS = 60.0
_LOOK_SECONDS = 1.0
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://.+")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_AT = re.compile(r"at (\d+)")
_FETCHED = re.compile(r"fetched (\d+) (\d+) [0-9a-f]{64}")


def is_url(source: str) -> bool:
    """Whether it is a URL rather than a path here."""
    return _URL.fullmatch(source) is not None


def check_source(url: str, sha256: str | None) -> None:
    """Errors: UserError for a URL or a checksum that cannot be used."""
    scheme = urlsplit(url).scheme.lower()
    if scheme not in ("http", "https"):
        way = f"`aws s3 presign {url}` prints one that is" if scheme == "s3" else "give one of these"
        raise UserError(f"{url}: is fetched from https:// and http:// only; {way}")
    if sha256 is not None and not _SHA256.fullmatch(sha256):
        raise UserError(f"sha256={sha256}: must be 64 hexadecimal digits in lower case, as sha256sum prints them")


def path_of(url: str, remote: str) -> str:
    """Where the file goes: `remote`, or below it by the URL's own name if `remote` ends with /. Errors: UserError."""
    name = PurePosixPath(unquote(urlsplit(url).path)).name
    if remote.endswith("/") and not name:
        raise UserError(f"{url}: has no file name; give one, for instance {remote}train.tar")
    return path_on_volume(f"{remote}{name}" if remote.endswith("/") else remote)


@dataclass
class UrlFetch:
    """One URL on its way to `path`, below the volume's root. progress: told the path, the bytes so far, and 0."""

    api: KubernetesApi
    settings: JobSettings
    url: str
    path: str
    sha256: str | None = None
    image: str = IMAGE
    user: User | None = None
    progress: Progress = lambda path, done, size: None
    backoff: Backoff = field(default_factory=Backoff)

    @property
    def pod(self) -> str:
        """The pod's name."""
        named = f"{self.url}\n{self.path}\n{self.sha256 or ''}"
        return f"data-{hashlib.sha256(named.encode()).hexdigest()[:10]}"

    def manifest(self) -> dict[str, Any]:
        """The pod. Errors: UserError when the environment has no shared volume."""
        script = (files("gpufleet.jobs.kubernetes") / "fetch.sh").read_text()
        words = ["fetch", "/mnt", self.url, self.path, self.sha256 or "", str(PAUSE_SECONDS)]
        return data_pod(self.settings, self.pod, self.image, self.user, ["sh", "-c", script, *words])

    def run(self) -> TransferredFile:
        """Start the pod, or find it, and follow it to its end. Errors: UserError; after Ctrl-C the pod continues."""
        try:
            self.api.create(api_paths.core(self.settings.namespace, "pods"), self.manifest())
        except KubernetesApiError as error:
            if error.status != 409:
                raise
        try:
            try:
                wait_for_start(self.api, self.settings, self.pod)
            except UserError:
                with suppress(UserError):
                    self._delete()
                raise
            lines = self._followed()
        except KeyboardInterrupt:
            raise UserError(
                f"{self.path}: pod {self.pod} continues with it; the same command follows it again, and `kubectl "
                f"delete pod {self.pod} -n {self.settings.namespace}` ends it"
            ) from None
        self._delete()
        result = next((found for line in reversed(lines) if (found := _FETCHED.fullmatch(line))), None)
        if result is None:
            said = "; ".join(line for line in lines[-2:] if not _AT.fullmatch(line)) or "its pod was ended"
            raise UserError(f"{self.url}: {said}; what has arrived is kept, fetch it again to continue")
        return TransferredFile(self.path, int(result[1]), int(result[2]))

    def _followed(self) -> list[str]:
        """The lines of its log, when the pod has ended."""
        while True:
            try:
                ended = self._ended()
                lines = list(self._log(follow=not ended))
                if ended or self._ended():
                    return lines
                self.backoff.worked()
                # The kubelet tells of a container's end a moment after its log's.
                time.sleep(_LOOK_SECONDS)
            except KubernetesUnreachable as error:
                if not self.backoff.pause():
                    raise UserError(f"{error}; pod {self.pod} continues; the same command follows it again") from error

    def _log(self, *, follow: bool) -> Iterator[str]:
        """Its lines; follow: as they come, to the container's end."""
        rest = b""
        with self.api.stream(f"{self._at()}/log", _IDLE_SECONDS, follow=str(follow).lower()) as pieces:
            for piece in pieces:
                *whole, rest = (rest + piece).split(b"\n")
                for line in (each.decode(errors="replace").strip() for each in whole):
                    if found := _AT.fullmatch(line):
                        self.progress(self.path, int(found[1]), 0)
                    yield line
        if rest:
            yield rest.decode(errors="replace").strip()

    def _ended(self) -> bool:
        pod = self.api.find(self._at())
        return pod is None or (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")

    def _delete(self) -> None:
        self.api.delete(self._at(), gracePeriodSeconds=0)

    def _at(self) -> str:
        return api_paths.core(self.settings.namespace, "pods", self.pod)
