"""The API server as a pod sees it, and the exporters of its nodes, in JSON and text, within bounds of time and size."""

import http.client
import json
import os
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

ANSWER_SECONDS = 30.0
METRICS_SECONDS = 5.0
_MOST_BYTES = 64_000_000
_MERGE = "application/merge-patch+json"


class ClusterError(Exception):
    """One line: what was asked, and what came of it. status: of HTTP, 0 without an answer."""

    def __init__(self, line: str, status: int = 0) -> None:
        super().__init__(line)
        self.status = status


class PodCluster:
    """By the pod's own account. Source: kubernetes.io/docs/tasks/run-application/access-api-from-pod."""

    def __init__(self, account: Path) -> None:
        """account: the directory of its token and certificate. The kubelet renews the token: it is read each time."""
        self._account = account
        self._host = os.environ["KUBERNETES_SERVICE_HOST"]
        self._port = int(os.environ.get("KUBERNETES_SERVICE_PORT", "443"))
        self._trust = ssl.create_default_context(cafile=str(account / "ca.crt"))

    def listed(self, path: str) -> list[dict[str, Any]]:
        """All objects of a listing. Errors: ClusterError."""
        items = self._json("GET", path).get("items")
        return items if isinstance(items, list) else []

    def patch(self, path: str, change: Mapping[str, Any]) -> None:
        self._json("PATCH", path, change, _MERGE)

    def create(self, path: str, body: Mapping[str, Any]) -> None:
        self._json("POST", path, body)

    def _json(self, method: str, path: str, body: object = None, content: str = "application/json") -> dict[str, Any]:
        token = (self._account / "token").read_text(encoding="utf-8").strip()
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json", "Content-Type": content}
        server = http.client.HTTPSConnection(self._host, self._port, timeout=ANSWER_SECONDS, context=self._trust)
        status, text = _answer(server, method, path, None if body is None else json.dumps(body), headers)
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            found = None
        if status >= 400 or not isinstance(found, dict):
            said = found.get("message") if isinstance(found, dict) else "not JSON"
            raise ClusterError(f"{method} {path}: {status}: {' '.join(str(said).split())[:300]}", status)
        return found


def metrics_of(address: str, port: int) -> str:
    """What an exporter answers. Errors: ClusterError."""
    server = http.client.HTTPConnection(address, port, timeout=METRICS_SECONDS)
    status, text = _answer(server, "GET", "/metrics", None, {})
    if status != 200:
        raise ClusterError(f"GET http://{address}:{port}/metrics: {status}", status)
    return text


def node_path(name: str) -> str:
    return f"/api/v1/nodes/{quote(name)}"


def _answer(
    server: http.client.HTTPConnection, method: str, path: str, body: str | None, headers: Mapping[str, str]
) -> tuple[int, str]:
    try:
        server.request(method, path, body, dict(headers))
        answer = server.getresponse()
        content = answer.read(_MOST_BYTES + 1)
    except (OSError, http.client.HTTPException) as error:
        raise ClusterError(f"{method} {path}: {server.host}:{server.port}: {type(error).__name__}: {error}") from error
    finally:
        server.close()
    if len(content) > _MOST_BYTES:
        raise ClusterError(f"{method} {path}: more than {_MOST_BYTES} bytes")
    return answer.status, content.decode("utf-8", "replace")
