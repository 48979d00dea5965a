"""A small HTTP server that plays the part of the Kubernetes API that following a job needs. No cluster behind it.

Nodes of kwok have no containers, so no logs: what the log endpoint does is played here, after its real behaviour:
sinceTime in whole seconds and filtered line by line, time stamps in nanoseconds, chunks that end anywhere.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

EPOCH = 1_790_000_000
"""Second of a job's first line."""


def stamped(nanoseconds: int, text: str) -> bytes:
    """A line as the kubelet gives it with timestamps=true. nanoseconds: after EPOCH."""
    second, rest = divmod(nanoseconds, 10**9)
    return f"{datetime.fromtimestamp(EPOCH + second, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09d}Z {text}\n".encode()


@dataclass
class FakeCluster:
    """objects: by path. lists: answers to lists, by path and label selector's end. cuts: bytes after which the first,
    second ... stream of a log breaks, without the end that a whole answer has. answers: status codes with which the
    next requests of any kind are answered, before all else; 0 closes the connection."""

    objects: dict[str, dict[str, Any]] = field(default_factory=dict)
    lists: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    logs: dict[str, list[tuple[int, bytes]]] = field(default_factory=dict)
    cuts: list[int] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    created: list[dict[str, Any]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    port: int = 0
    token: str = "secret"
    gone: bool = False
    """Whether it has ended: connections that are still open get no answer any more."""

    @property
    def kubeconfig(self) -> dict[str, Any]:
        return kubeconfig(f"http://127.0.0.1:{self.port}", {"token": self.token})


def kubeconfig(server: str, user: dict[str, Any]) -> dict[str, Any]:
    context = {"cluster": "c", "user": "u"}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "c", "context": context}],
        "current-context": "c",
    }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body in one piece: two would wait 40 ms for each other.
    wbufsize = 65536
    cluster: ClassVar[FakeCluster]

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        query = {key: values[0] for key, values in parse_qs(url.query).items()}
        self.cluster.asked.append(self.path)
        if self._refused():
            return
        if url.path.endswith("/log"):
            self._log(url.path, query)
        elif url.path in self.cluster.lists:
            role = query.get("labelSelector", "").rpartition("job-role=")[2]
            items = [
                each
                for each in self.cluster.lists[url.path]
                if role in ("", each["metadata"].get("labels", {}).get("training.kubeflow.org/job-role", role))
            ]
            phase = query.get("fieldSelector", "").rpartition("status.phase=")[2]
            if "status.phase" in query.get("fieldSelector", ""):
                items = [each for each in items if each.get("status", {}).get("phase") == phase]
            self._answer(200, {"kind": "List", "items": items})
        elif url.path in self.cluster.objects:
            self._answer(200, self.cluster.objects[url.path])
        else:
            self._status(404, "NotFound", f"{url.path} not found")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.cluster.asked.append(self.path)
        if self._refused():
            return
        path = f"{urlsplit(self.path).path}/{body['metadata']['name']}"
        if path in self.cluster.objects:
            self._status(409, "AlreadyExists", f'mpijobs "{body["metadata"]["name"]}" already exists')
            return
        body["metadata"]["uid"] = f"uid-{len(self.cluster.created)}"
        self.cluster.created.append(body)
        self.cluster.objects[path] = body
        self._answer(201, body)

    def do_DELETE(self) -> None:
        self.cluster.asked.append(self.path)
        if self._refused():
            return
        found = self.cluster.objects.pop(urlsplit(self.path).path, None)
        if found is None:
            self._status(404, "NotFound", "not found")
        else:
            self._answer(200, found)

    def _refused(self) -> bool:
        if self.headers.get("Authorization") != f"Bearer {self.cluster.token}":
            self._status(401, "Unauthorized", "Unauthorized")
            return True
        if self.cluster.gone:
            self.close_connection = True
            return True
        if not self.cluster.answers:
            return False
        status = self.cluster.answers.pop(0)
        if status == 0:
            self.close_connection = True
        else:
            self._status(status, "Played", f"played {status}")
        return True

    def _log(self, path: str, query: dict[str, str]) -> None:
        if path not in self.cluster.logs:
            self._status(500, "InternalError", "no preferred addresses found; known addresses: []")
            return
        since = 0
        if "sinceTime" in query:
            since = int(datetime.fromisoformat(query["sinceTime"]).timestamp()) - EPOCH
        body = b"".join(line for when, line in self.cluster.logs[path] if when // 10**9 >= since)
        cut = self.cluster.cuts.pop(0) if self.cluster.cuts else None
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        shown = body if cut is None else body[:cut]
        for start in range(0, len(shown), 4093):
            piece = shown[start : start + 4093]
            self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        if cut is None:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.wfile.flush()
            self.close_connection = True

    def _status(self, code: int, reason: str, message: str) -> None:
        self._answer(code, {"kind": "Status", "code": code, "reason": reason, "message": message})

    def _answer(self, code: int, content: dict[str, Any]) -> None:
        body = json.dumps(content).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def played(cluster: FakeCluster) -> Iterator[FakeCluster]:
    """Serve it on a free port of 127.0.0.1."""
    handler = type("Handler", (_Handler,), {"cluster": cluster})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        cluster.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield cluster
        finally:
            cluster.gone = True
            server.shutdown()
            thread.join()


def job_object(name: str, *conditions: tuple[str, str], namespace: str = "team", uid: str = "u1") -> dict[str, Any]:
    """A MPIJob with conditions of (type, reason), all True."""
    return {
        "metadata": {"name": name, "namespace": namespace, "uid": uid, "creationTimestamp": "2026-09-21T12:00:00Z"},
        "spec": {
            "slotsPerWorker": 1,
            "runPolicy": {"suspend": False},
            "mpiReplicaSpecs": {"Worker": {"replicas": 2}},
        },
        "status": {
            "startTime": "2026-09-21T12:00:00Z",
            "completionTime": "2026-09-21T12:02:05Z",
            "conditions": [
                {
                    "type": kind,
                    "status": "True",
                    "reason": reason,
                    "message": f"{name} {kind}",
                    "lastTransitionTime": "t",
                }
                for kind, reason in conditions
            ],
        },
    }


def launcher(name: str, phase: str, exit_code: int | None, made: str = "2026-09-21T12:00:01Z") -> dict[str, Any]:
    """A launcher's pod."""
    state = {"running": {}} if exit_code is None else {"terminated": {"exitCode": exit_code}}
    return {
        "metadata": {
            "name": name,
            "uid": f"uid-of-{name}",
            "creationTimestamp": made,
            "labels": {"training.kubeflow.org/job-role": "launcher"},
        },
        "status": {"phase": phase, "containerStatuses": [{"name": "launcher", "state": state}]},
    }
