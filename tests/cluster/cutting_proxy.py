"""A line to a registry that breaks in the middle of one blob, for tests of a copy that goes on afterwards."""

import http.client
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_WAIT_SECONDS = 60.0


class CuttingProxy(ThreadingHTTPServer):
    """cut: the blob whose transfer breaks, '' for none; it breaks when `others` blobs have passed. passed: blobs that
    have gone through as a whole."""

    daemon_threads = True

    def __init__(self, upstream: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.upstream, self.cut, self.others = upstream, "", 0
        self.passed: list[str] = []
        self.host = f"127.0.0.1:{self.server_port}"

    def wait_for_others(self) -> None:
        end = time.monotonic() + _WAIT_SECONDS
        while len(self.passed) < self.others and time.monotonic() < end:
            time.sleep(0.01)


class _Handler(BaseHTTPRequestHandler):
    server: CuttingProxy

    def do_GET(self) -> None:
        upstream = http.client.HTTPConnection(self.server.upstream, timeout=_WAIT_SECONDS)
        upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        upstream.putheader("Host", self.server.host)
        for name, value in self.headers.items():
            # One by one: a client says in several headers which manifests it takes.
            if name.lower() not in ("host", "connection"):
                upstream.putheader(name, value)
        upstream.endheaders()
        answer = upstream.getresponse()
        body = answer.read()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("connection", "transfer-encoding", "date", "server"):
                self.send_header(name, value)
        self.end_headers()
        blob = self.path.rpartition("/blobs/")[2]
        if self.server.cut and blob == self.server.cut:
            self.server.wait_for_others()
            self.wfile.write(body[: len(body) // 2])
            self.close_connection = True
            return
        self.wfile.write(body)
        if "/blobs/" in self.path and self.command == "GET" and answer.status == 200:
            self.server.passed.append(blob)

    do_HEAD = do_GET

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: tests look at `passed`."""


@contextmanager
def cutting_proxy(upstream: str) -> Iterator[CuttingProxy]:
    with CuttingProxy(upstream) as proxy:
        thread = threading.Thread(target=proxy.serve_forever, daemon=True)
        thread.start()
        yield proxy
        proxy.shutdown()
        thread.join()
