"""Reading public price lists over HTTP: streamed, tried again, behind the user's proxy."""

import codecs
import re
import time
import urllib.request
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from gpufleet.documents.content import DocumentError
from gpufleet.documents.json import parse_json
from gpufleet.errors import UserError

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse, PoolManager

R = TypeVar("R")

Progress = Callable[[str, int, int | None], None]
"""Called with an address, the bytes that have come so far and how many will come; None if the server does not say."""


class DownloadError(UserError):
    """A list that cannot be read; its text is one line with the address."""


def _silent(url: str, done: int, total: int | None) -> None:
    """No progress is shown."""


class Downloads:
    """Public addresses, read without credentials.

    attempts: how often each is tried: after a refused or broken connection, an answer cut short, and 429 and 5xx.
    backoff_seconds: wait before the second attempt, doubled each time; a server's Retry-After counts instead.
    """

    def __init__(self, progress: Progress = _silent, attempts: int = 4, backoff_seconds: float = 1.0) -> None:
        self._progress = progress
        self._attempts = attempts
        self._backoff = backoff_seconds
        self._pools: dict[str, PoolManager] = {}

    def lines(self, url: str, read: Callable[[Iterator[str]], R]) -> R:
        """What `read` makes of the lines of a text, which are not kept. A second attempt calls it again.

        Raises DownloadError, and what `read` raises.
        """
        return self._again(url, lambda: read(self._lines(url)))

    def json(self, url: str) -> object:
        """A JSON answer. Raises DownloadError, also for an answer that is not JSON."""
        text = self._again(url, lambda: "\n".join(self._lines(url)))
        try:
            return parse_json(text, f"{url}: the answer")
        except DocumentError as error:
            raise DownloadError(str(error)) from error

    def _again(self, url: str, attempt: Callable[[], R]) -> R:
        from urllib3.exceptions import HTTPError, MaxRetryError

        for number in range(1, self._attempts + 1):
            try:
                return attempt()
            except MaxRetryError as error:  # urllib3 has waited and tried again by itself, but never a broken body
                raise DownloadError(f"{url}: cannot be read in {self._attempts} attempts: {_last(error)}") from error
            except HTTPError as error:
                if number == self._attempts:
                    raise DownloadError(f"{url}: cannot be read in {number} attempts: {_last(error)}") from error
                time.sleep(self._backoff * 2 ** (number - 1))
        raise AssertionError("attempts must be at least 1")

    def _lines(self, url: str) -> Iterator[str]:
        response = self._open(url)
        size = response.headers.get("content-length")
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        rest = ""
        for chunk in response.stream(1 << 18):
            self._progress(url, response.tell(), int(size) if size else None)
            *whole, rest = (rest + decoder.decode(chunk)).split("\n")
            yield from whole
        if rest:
            yield rest

    def _open(self, url: str) -> "BaseHTTPResponse":
        response = self._pool(url).request("GET", url, preload_content=False)
        if response.status != 200:
            raise DownloadError(f"{url}: the server answers {response.status} {response.reason or ''}".rstrip())
        return response

    def _pool(self, url: str) -> "PoolManager":
        import urllib3

        host = urlsplit(url)
        proxy = urllib.request.getproxies().get(host.scheme)
        if proxy and urllib.request.proxy_bypass(host.hostname or ""):
            proxy = None
        if (proxy or "") not in self._pools:
            shared: Any = {
                "retries": urllib3.Retry(
                    total=self._attempts - 1,
                    backoff_factor=self._backoff,
                    status_forcelist=(429, 500, 502, 503, 504),
                    allowed_methods={"GET"},
                ),
                "timeout": urllib3.Timeout(connect=10, read=60),
                "headers": {"Accept-Encoding": "gzip", "User-Agent": "gpufleet"},
            }
            self._pools[proxy or ""] = urllib3.ProxyManager(proxy, **shared) if proxy else urllib3.PoolManager(**shared)
        return self._pools[proxy or ""]


def _last(error: Exception) -> str:
    """The reason below urllib3's layers, on one line; the caller adds the address."""
    reason = getattr(error, "reason", None) or error
    return re.sub(r"^\w+\(.*?\): ", "", " ".join(str(reason).split()))
