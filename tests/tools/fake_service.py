"""A service of JSON on loopback, which gives the answers that a test tells it to."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


class Service(ThreadingHTTPServer):
    """Answers by path, in turn; the last one again and again. An answer: (status, JSON or bytes, headers)."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: dict[str, list] = {}
        self.asked: list[str] = []
        self.tokens: list[str | None] = []

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}"

    def page(self, items, following=None):
        return 200, {"Items": items, "NextPageLink": following, "Count": len(items)}, {}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        self.server.tokens.append(self.headers.get("Authorization"))
        answers = self.server.answers.get(urlsplit(self.path).path, [(404, {}, {})])
        status, content, headers = answers.pop(0) if len(answers) > 1 else answers[0]
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextmanager
def serving():
    server = Service()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
