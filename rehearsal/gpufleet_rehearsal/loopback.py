"""Servers on this machine that play a cloud's data plane while a command of the rehearsal runs."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_LOOK_SECONDS = 0.02
"""How often a server looks whether it is to end."""


class LoopbackHandler(BaseHTTPRequestHandler):
    """One connection of a client."""

    protocol_version = "HTTP/1.1"

    def answer(self, sent: bytes) -> None:
        """Answer one request of any method. sent: its body."""
        raise NotImplementedError

    def _answer(self) -> None:
        self.answer(self.rfile.read(int(self.headers.get("Content-Length") or 0)))

    do_GET = do_HEAD = do_POST = do_PATCH = do_DELETE = do_PUT = _answer

    def send(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """Send an answer; the body of one to HEAD is only counted, unless a header says its length."""
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """The terminal is the command's."""


@contextmanager
def serve(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """The address of a server on a free port of loopback, http://127.0.0.1:PORT, which ends with the context."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, args=(_LOOK_SECONDS,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
