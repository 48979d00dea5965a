"""A server on loopback for price lists, and catalogs that a test may write."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import gpufleet.catalog
from gpufleet.catalog import AwsGpuType, Catalog

SHIPPED = Path(gpufleet.catalog.__file__).parent / "aws"

Answer = Callable[[BaseHTTPRequestHandler], None]


class Site:
    """Answers requests in the order in which answers were given, the last one for all further ones."""

    def __init__(self) -> None:
        self._answers: list[Answer] = []
        self.asked: list[str] = []
        """Paths of the requests; whole addresses when this server was used as a proxy."""
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append(self.path)
                site._answers[min(len(site.asked), len(site._answers)) - 1](self)

            def log_message(self, *args: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def answers(self, body: str | bytes, status: int = 200, size: int | None = None, **headers: str) -> None:
        """The next answer. size: what the header says of its length, when that is not true."""
        data = body.encode() if isinstance(body, str) else body

        def answer(request: BaseHTTPRequestHandler) -> None:
            request.send_response(status)
            for name, value in {"Content-Length": str(len(data) if size is None else size), **headers}.items():
                request.send_header(name.replace("_", "-"), value)
            request.end_headers()
            request.wfile.write(data)
            # So that a client sees the end of a body that is shorter than promised.
            request.close_connection = True

        self._answers.append(answer)

    def hangs_up(self) -> None:
        """The next connection is closed without an answer."""

        def hang_up(request: BaseHTTPRequestHandler) -> None:
            request.close_connection = True

        self._answers.append(hang_up)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    served = Site()
    yield served
    served.close()


@pytest.fixture
def shipped() -> Catalog[AwsGpuType]:
    """The catalog of AWS that ships with the package, whatever the user of this machine has refreshed."""
    return Catalog(SHIPPED, AwsGpuType)
