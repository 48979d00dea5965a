"""A small API server in this process, for what goes over the wire: paths, queries, errors. It checks nothing."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

KINDS = {
    "/api/v1": [("configmaps", "ConfigMap", True), ("namespaces", "Namespace", False), ("pods", "Pod", True)],
    "/apis/apps/v1": [("deployments", "Deployment", True)],
    "/apis/apiextensions.k8s.io/v1": [("customresourcedefinitions", "CustomResourceDefinition", False)],
}


class FakeApi:
    """objects: by path. requests: (method, path, query, content type, body), as they came. refusals: what the next
    PATCH is answered with, (status, body) each, in order."""

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Any]] = {}
        self.requests: list[tuple[str, str, dict[str, str], str, Any]] = []
        self.refusals: list[tuple[int, dict[str, Any]]] = []
        self.server = ""

    def queries(self, method: str) -> list[dict[str, str]]:
        return [query for verb, _, query, _, _ in self.requests if verb == method]

    def answer(self, method: str, path: str, query: dict[str, str], body: Any) -> tuple[int, dict[str, Any]]:
        if method == "GET" and path in KINDS:
            entries = [{"name": name, "kind": kind, "namespaced": scope} for name, kind, scope in KINDS[path]]
            return 200, {"resources": [*entries, {"name": "pods/log", "kind": "Pod", "namespaced": True}]}
        if method in ("PATCH", "PUT"):
            if self.refusals:
                return self.refusals.pop(0)
            live = {**body, "metadata": {**body["metadata"], "uid": "u", "resourceVersion": "7"}}
            if "dryRun" not in query:
                self.objects[path] = live
            return 200, live
        if path not in self.objects:
            return 404, {"kind": "Status", "reason": "NotFound", "message": f"{path} not found", "code": 404}
        return 200, self.objects.pop(path) if method == "DELETE" else self.objects[path]


@contextmanager
def fake_api() -> Iterator[FakeApi]:
    """Serve one at `.server`, an http address of this machine."""
    api = FakeApi()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _do(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            parts = urlsplit(self.path)
            query = dict(parse_qsl(parts.query))
            api.requests.append((self.command, parts.path, query, self.headers.get("Content-Type", ""), body))
            status, answer = api.answer(self.command, parts.path, query, body)
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_PATCH = do_PUT = do_DELETE = _do

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    api.server = f"http://127.0.0.1:{server.server_port}"
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
