"""Talk to a Kubernetes API server in JSON, with the standard library alone; connections are kept, one per thread."""

import http.client
import json
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

TIMEOUT_SECONDS = 30.0
POLL_SECONDS = 0.05
PATIENCE_SECONDS = 240.0
"""Far longer than any step of a control plane takes, also on a busy machine."""
FIELD_MANAGER = "gpufleet-cluster"

Object = dict[str, Any]


class ApiRefused(Exception):
    """The API server said no: its status code, its reason and its words."""

    def __init__(self, request: str, code: int, reason: str, message: str) -> None:
        super().__init__(f"{request}: {code} {reason}: {message}")
        self.code, self.reason = code, reason


class ApiSilent(Exception):
    """The API server does not answer, or what was waited for did not happen in time."""


class ApiClient:
    """One API server, with one bearer token."""

    def __init__(self, server: str, token: str, authority: Path) -> None:
        """server: `https://127.0.0.1:<port>`. authority: PEM file of the certificates to trust."""
        self.server, self.authority = server, authority
        place = urlsplit(server)
        self._host, self._port = place.hostname or "", place.port
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self._trust = ssl.create_default_context(cafile=str(authority))
        self._local = threading.local()
        self._resources: dict[str, dict[str, Object]] = {}

    def request(
        self, method: str, path: str, body: object = None, content: str = "application/json", **query: str
    ) -> Object:
        """Send one request, and return the answer's object. Raises ApiRefused and ApiSilent.

        A request is sent a second time where the server closed a kept connection before it answered.
        """
        text = self._exchange(method, path, body, content, query)
        found = json.loads(text) if text else {}
        return found if isinstance(found, dict) else {"value": found}

    def text(self, path: str, **query: str) -> str:
        """What the server answers where it is no JSON: a pod's log, `ok`. Raises ApiRefused and ApiSilent."""
        return self._exchange("GET", path, None, "application/json", query)

    def get(self, path: str, **query: str) -> Object:
        return self.request("GET", path, **query)

    def find(self, path: str) -> Object | None:
        """One object, None where it, or its kind, is not there. Raises ApiRefused otherwise, and ApiSilent."""
        try:
            return self.get(path)
        except ApiRefused as refused:
            if refused.code != http.HTTPStatus.NOT_FOUND:
                raise
            return None

    def apply(self, document: Mapping[str, Any], manager: str = FIELD_MANAGER) -> Object:
        """Server-side apply of one object of any kind. Raises ApiRefused, also where nobody knows the kind."""
        path = self.path(document)
        return self.request("PATCH", path, document, "application/apply-patch+yaml", fieldManager=manager, force="true")

    def merge(self, path: str, change: Mapping[str, Any]) -> Object:
        """Change fields of one object."""
        return self.request("PATCH", path, change, "application/merge-patch+json")

    def delete(self, path: str) -> None:
        """Delete one object and what it owns; one that is not there is well."""
        try:
            self.request("DELETE", path, {"propagationPolicy": "Background"})
        except ApiRefused as refused:
            if refused.code != http.HTTPStatus.NOT_FOUND:
                raise

    def path(self, document: Mapping[str, Any]) -> str:
        """The path of an object. Without a namespace a namespaced one lies in `default`."""
        version, kind, metadata = document["apiVersion"], document["kind"], document["metadata"]
        resource = self._resource(version, kind)
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        place = f"/namespaces/{quote(metadata.get('namespace') or 'default')}" if resource["namespaced"] else ""
        return f"{root}{place}/{resource['name']}/{quote(metadata['name'])}"

    def _resource(self, version: str, kind: str) -> Object:
        if kind not in self._resources.get(version, {}):
            root = f"/apis/{version}" if "/" in version else f"/api/{version}"
            listed = self.get(root)["resources"]
            self._resources[version] = {each["kind"]: each for each in listed if "/" not in each["name"]}
        try:
            return self._resources[version][kind]
        except KeyError:
            raise ApiRefused(f"GET {version}", 404, "NotFound", f"no kind {kind} in {version}") from None

    def _exchange(self, method: str, path: str, body: object, content: str, query: Mapping[str, str]) -> str:
        target = f"{path}?{urlencode(query)}" if query else path
        data = None if body is None else json.dumps(body).encode()
        code, answer = self._send(method, target, data, {**self._headers, "Content-Type": content})
        text = answer.decode(errors="replace")
        if code < 400:
            return text
        try:
            said = json.loads(text)
        except ValueError:
            said = {}
        if not isinstance(said, dict):
            said = {}
        raise ApiRefused(f"{method} {path}", code, said.get("reason", ""), said.get("message", text))

    def _send(self, method: str, target: str, data: bytes | None, headers: Mapping[str, str]) -> tuple[int, bytes]:
        for attempt in (1, 2):
            kept = getattr(self._local, "connection", None)
            connection = kept or http.client.HTTPSConnection(
                self._host, self._port, timeout=TIMEOUT_SECONDS, context=self._trust
            )
            self._local.connection = connection
            try:
                connection.request(method, target, data, dict(headers))
                answer = connection.getresponse()
                return answer.status, answer.read()
            except (OSError, http.client.HTTPException) as problem:
                connection.close()
                self._local.connection = None
                # A server that has closed a kept connection is seen as either, as it comes.
                closed = ConnectionError | http.client.RemoteDisconnected | ssl.SSLEOFError
                stale = kept is not None and isinstance(problem, closed)
                if attempt == 2 or not stale:
                    where = f"https://{self._host}:{self._port}"
                    raise ApiSilent(f"{method} {target}: no answer from {where} ({problem})") from None
        raise AssertionError("not reached")


def wait_until(
    what: str,
    happened: Callable[[], bool],
    seconds: float = PATIENCE_SECONDS,
    poll: float = POLL_SECONDS,
    state: Callable[[], str] = str,
) -> float:
    """Wait for `happened`; returns the seconds it took. Raises ApiSilent with `what` and `state` after `seconds`."""
    began = time.monotonic()
    while not happened():
        if time.monotonic() - began > seconds:
            raise ApiSilent(f"{what}: not in {seconds:.0f} s\n{state()}".strip())
        time.sleep(poll)
    return time.monotonic() - began
