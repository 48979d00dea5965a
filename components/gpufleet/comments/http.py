"""JSON over HTTP to a code host; errors become one line."""

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3

from gpufleet.comments.code_host import CommentError, PermissionDenied
from gpufleet.comments.retry import SECONDS, RateLimitRetry
from gpufleet.documents.json import parse_json

_TIMES = urllib3.Timeout(connect=10, read=30)


class CodeHostApi:
    """url: where its REST API begins. headers: of every request, the token among them. seconds: of patience."""

    def __init__(self, url: str, headers: Mapping[str, str], seconds: float = SECONDS) -> None:
        host = urlsplit(url).hostname
        if not url.startswith(("https://", "http://")) or not host:
            raise CommentError(f"{url}: must be the URL of an API, such as https://api.github.com")
        self._url, self._host, self._headers = url.rstrip("/"), host, dict(headers)
        self._patience = RateLimitRetry.of(host, seconds)
        parts = urlsplit(url)
        proxy = None if proxy_bypass(host) else getproxies().get(parts.scheme)
        self._pool = urllib3.ProxyManager(proxy) if proxy else urllib3.PoolManager()

    def request(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 - JSON
        """The answer's JSON, None where it has no body. Deleting twice is not an error.

        Errors: PermissionDenied, CommentError.
        """
        return _read(self._send(method, f"{self._url}{path}", body))

    def pages(self, path: str) -> Iterator[Any]:
        """Every entry of a list that comes in pages, by the `Link` header, which GitHub and GitLab both send."""
        url: str | None = f"{self._url}{path}"
        while url:
            answer = self._send("GET", url, None)
            yield from _read(answer)
            url = _next(answer.headers.get("Link", ""))
            if url and urlsplit(url)[:2] != urlsplit(self._url)[:2]:
                # The token goes nowhere else.
                raise CommentError(f"{self._host}: the next page is on another host; nothing was sent there")

    def _send(self, method: str, url: str, body: object) -> urllib3.BaseHTTPResponse:
        content = None if body is None else json.dumps(body).encode()
        headers = self._headers | ({"Content-Type": "application/json"} if content else {})
        answer = self._once(method, url, content, headers)
        while self._patience.wait_out(answer):
            answer = self._once(method, url, content, headers)
        # What is to be deleted may be gone: another run has found the same one too many.
        if answer.status < 300 or (method, answer.status) == ("DELETE", 404):
            return answer
        what = f"{self._host}: {method} {urlsplit(url).path}: {answer.status} {_words(answer)}"
        if answer.status in (401, 403):
            raise PermissionDenied(what)
        raise CommentError(what)

    def _once(
        self, method: str, url: str, content: bytes | None, headers: Mapping[str, str]
    ) -> urllib3.BaseHTTPResponse:
        try:
            return self._pool.request(
                method, url, body=content, headers=headers, retries=self._patience, timeout=_TIMES, redirect=False
            )
        except urllib3.exceptions.HTTPError as error:
            reason = getattr(error, "reason", None) or error
            raise CommentError(f"{self._host}: does not answer: {' '.join(str(reason).split())}") from error


def _read(answer: urllib3.BaseHTTPResponse) -> Any:  # noqa: ANN401 - JSON
    try:
        return parse_json(answer.data, "answer") if answer.data else None
    except ValueError as error:
        raise CommentError("the code host's answer is not JSON; check the API's URL") from error


def _words(answer: urllib3.BaseHTTPResponse) -> str:
    try:
        said = parse_json(answer.data, "answer")
        text = str(said.get("message") or said.get("error") or said) if isinstance(said, dict) else str(said)
    except ValueError:
        text = answer.data[:200].decode(errors="replace")
    return " ".join(text.split())[:300]


def _next(link: str) -> str | None:
    """The URL of the next page in a `Link` header (RFC 8288)."""
    for each in link.split(","):
        url, _, more = each.partition(";")
        if 'rel="next"' in more:
            return url.strip().removeprefix("<").removesuffix(">")
    return None
