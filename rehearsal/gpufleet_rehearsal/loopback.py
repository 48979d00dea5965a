"""Servers on this machine that play a cloud's data plane while a command of the rehearsal runs."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_LOOK_SECONDS = 0.02
"""How often a server looks whether it is to end."""


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
