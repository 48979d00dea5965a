"""The Kubernetes API by plain HTTP: one request, one answer, errors as the API server says them.

Not the `kubernetes` client: its import takes 0.5 s and 40 MB in each plugin process (urllib3: 0.1 s), and all that is
needed of it is a path for any kind, which discovery gives.
"""

from __future__ import annotations

import json
import ssl
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import urllib3

from gpufleet.errors import UserError
from gpufleet_rehearsal.kubernetes.kubeconfig import Access, UnusableKubeconfig

Object = dict[str, Any]
"""An object of the API, as JSON."""
TIMEOUT = urllib3.Timeout(connect=5.0, read=60.0)
"""Seconds; a control plane on this machine answers in milliseconds, and an admission webhook within 30 s."""
APPLY = "application/apply-patch+yaml"


class ApiUnreachable(UserError):
    """The API server does not answer; the text is one line."""


class ApiError(UserError):
    """The API server rejected; the text is its own message, on one line.

    code: HTTP status. reason: the API's word, for instance Invalid. causes: its details, {reason, message, field}.
    """

    def __init__(self, code: int, reason: str, message: str, causes: Sequence[Mapping[str, str]] = ()) -> None:
        self.code, self.reason, self.causes = code, reason, list(causes)
        super().__init__(" ".join(message.split()))


class UnknownKind(UserError):
    """The API server does not know the kind (yet): no such apiVersion, or no such kind in it."""


@dataclass(frozen=True)
class ApiPath:
    """Where the objects of one kind are found."""

    prefix: str
    """`/api/v1` or `/apis/<group>/<version>`."""
    plural: str
    namespaced: bool

    def path(self, namespace: str, name: str = "") -> str:
        """The path of an object, or of the whole collection in a namespace."""
        inside = f"/namespaces/{namespace}" if self.namespaced else ""
        return f"{self.prefix}{inside}/{self.plural}" + (f"/{name}" if name else "")


class ApiServer:
    """Speaks to one API server. Safe for use from several threads."""

    def __init__(self, access: Access) -> None:
        self.access = access
        self._headers = {"Accept": "application/json"} | (
            {"Authorization": f"Bearer {access.token}"} if access.token else {}
        )
        options: dict[str, Any] = {"server_hostname": access.server_name} if access.server_name else {}
        if access.server.startswith("https"):
            options["ssl_context"] = _context(access)
        self._pool = urllib3.PoolManager(maxsize=32, retries=False, timeout=TIMEOUT, **options)
        self._places: dict[str, dict[str, ApiPath]] = {}
        self._lock = threading.Lock()

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        query: Mapping[str, str] | None = None,
        content_type: str = "application/json",
    ) -> Object:
        """One request. Errors: ApiUnreachable, ApiError."""
        address = f"{self.access.server}{path}" + (f"?{urlencode(query)}" if query else "")
        headers = self._headers | ({"Content-Type": content_type} if body is not None else {})
        data = json.dumps(body).encode() if body is not None else None
        try:
            response = self._pool.request(method, address, body=data, headers=headers, redirect=False)
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise ApiUnreachable(
                f"the Kubernetes API server {self.access.server} cannot be reached ({_why(error)}); see that the "
                "control plane runs (`make cluster-up`, or `gpufleet rehearse` again), then run the command again"
            ) from error
        return _answer(response.status, response.data)

    def place(self, api_version: str, kind: str) -> ApiPath:
        """Where a kind is found; what is not known is asked for again. Errors: UnknownKind, ApiUnreachable,
        ApiError."""
        known = self._places.get(api_version, {})
        if kind not in known:
            known = self._discover(api_version)
        if kind not in known:
            raise UnknownKind(
                f'no matches for kind "{kind}" in version "{api_version}"; install its CustomResourceDefinition first, '
                "and name it in depends_on of this resource"
            )
        return known[kind]

    def knows(self, api_version: str, kind: str) -> bool:
        """Whether the API server serves a kind. Errors: ApiUnreachable, ApiError."""
        try:
            self.place(api_version, kind)
        except UnknownKind:
            return False
        return True

    def _discover(self, api_version: str) -> dict[str, ApiPath]:
        prefix = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        try:
            listed = self.request("GET", prefix)
        except ApiError as error:
            if error.code != 404:
                raise
            listed = {}
        found = {
            entry["kind"]: ApiPath(prefix, entry["name"], entry["namespaced"])
            for entry in listed.get("resources") or []
            if "/" not in entry["name"]
        }
        with self._lock:
            self._places[api_version] = found
        return found

    def get(self, place: ApiPath, namespace: str, name: str) -> Object | None:
        """An object; None when it is not there. Errors: ApiUnreachable, ApiError."""
        try:
            return self.request("GET", place.path(namespace, name))
        except ApiError as error:
            if error.code == 404:
                return None
            raise

    def list(self, place: ApiPath, namespace: str, **query: str) -> list[Object]:
        """Objects of a namespace. query: `labelSelector` and the like."""
        return list(self.request("GET", place.path(namespace), query=query).get("items") or [])

    def apply(
        self,
        place: ApiPath,
        namespace: str,
        document: Mapping[str, Any],
        *,
        manager: str,
        force: bool = False,
        dry_run: bool = False,
    ) -> Object:
        """Server-side apply; the answer is the whole object as it is now (would be, with dry_run)."""
        query = {"fieldManager": manager, "force": str(force).lower(), "fieldValidation": "Warn"}
        path = place.path(namespace, str(document["metadata"]["name"]))
        return self.request("PATCH", path, document, query=query | _dry(dry_run), content_type=APPLY)

    def replace(
        self, place: ApiPath, namespace: str, document: Mapping[str, Any], *, manager: str, dry_run: bool = False
    ) -> Object:
        """Put a whole object in the place of the one that has its resourceVersion."""
        path = place.path(namespace, str(document["metadata"]["name"]))
        return self.request("PUT", path, document, query={"fieldManager": manager} | _dry(dry_run))

    def delete(self, place: ApiPath, namespace: str, name: str, propagation: str) -> None:
        """Ask for a deletion; finalizers may hold the object. What is not there is fine."""
        try:
            self.request("DELETE", place.path(namespace, name), {"propagationPolicy": propagation})
        except ApiError as error:
            if error.code != 404:
                raise


def _dry(dry_run: bool) -> dict[str, str]:
    return {"dryRun": "All"} if dry_run else {}


def _context(access: Access) -> ssl.SSLContext:
    try:
        authority = access.authority.decode() if access.authority else None
        context = ssl.create_default_context(cadata=authority)
        if not access.verify:
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        if access.certificate and access.key:
            # The library reads certificates from files only.
            with tempfile.NamedTemporaryFile() as pair:
                Path(pair.name).write_bytes(access.certificate + b"\n" + access.key)
                context.load_cert_chain(pair.name)
    except (ssl.SSLError, ValueError) as error:
        raise UnusableKubeconfig(f"kubeconfig: certificate of {access.server}: {error}") from error
    return context


def _answer(status: int, data: bytes) -> Object:
    try:
        answer = json.loads(data) if data else {}
    except ValueError:
        answer = {"message": data.decode(errors="replace")}
    if not isinstance(answer, dict):
        answer = {"message": str(answer)}
    if status < 300:
        return answer
    details = answer.get("details") or {}
    message = answer.get("message") or f"the API server answered {status}"
    raise ApiError(status, str(answer.get("reason") or ""), str(message), details.get("causes") or [])


def _why(error: Exception) -> str:
    if isinstance(error, urllib3.exceptions.SSLError):
        return f"certificate: {error}"
    # The library counts a refused connection among the timeouts.
    if "refused" in str(error):
        return "connection refused"
    return "no answer in time" if isinstance(error, urllib3.exceptions.TimeoutError) else "the connection broke"
