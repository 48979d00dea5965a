"""A cluster's API as plain JSON objects by path, and its failures as errors for the user.

The client's classes of objects are left aside: MPIJobs have none. Importing it takes half a second and 65 MB, so that
the command line does it only once it talks to a cluster.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

import urllib3
from kubernetes.client import ApiClient  # type: ignore[import-untyped]
from kubernetes.client.exceptions import ApiException  # type: ignore[import-untyped]

from gpufleet.documents.json import parse_json
from gpufleet.errors import UserError
from gpufleet.jobs.kubernetes.connection import connect
from gpufleet.rules.messages import one_line

KubernetesObject = dict[str, Any]
"""One Kubernetes object, or a list of them, as JSON."""

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 60.0
"""Longest wait for a connection and for the next bytes of an answer. A list of 513 pods takes one or two seconds."""


class KubernetesUnreachable(UserError):
    """The API server did not answer; the same call may succeed later."""


class KubernetesApiError(UserError):
    """The API server rejected a request. status: of HTTP; reason: in Kubernetes' one word."""

    def __init__(self, text: str, status: int, reason: str = "") -> None:
        super().__init__(text)
        self.status = status
        self.reason = reason


class KubernetesApi:
    """The API of one cluster.

    where: what the user knows the cluster by, for messages. open_client: makes a client; asked again when the
    credentials have expired, which is what a token of EKS does after 15 minutes.
    """

    def __init__(self, where: str, open_client: Callable[[], ApiClient]) -> None:
        self.where = where
        self._open_client = open_client
        self._client = open_client()

    @classmethod
    def of(cls, kubeconfig: object, where: str) -> "KubernetesApi":
        """Errors: KubeconfigError, see connection.py."""
        return cls(where, lambda: connect(kubeconfig, where))

    @property
    def server(self) -> str:
        return str(self._client.configuration.host)

    @property
    def configuration(self) -> Any:  # noqa: ANN401 - the client is untyped
        """Of the client: credentials and certificates, for connections of another kind."""
        return self._client.configuration

    def get(self, path: str, **query: object) -> KubernetesObject:
        """Errors: KubernetesUnreachable, KubernetesApiError; so too for all others here."""
        return self._json("GET", path, query)

    def find(self, path: str, **query: object) -> KubernetesObject | None:
        """The same, and None for what does not exist."""
        try:
            return self.get(path, **query)
        except KubernetesApiError as error:
            if error.status == 404:
                return None
            raise

    def create(self, path: str, body: Mapping[str, object], **query: object) -> KubernetesObject:
        return self._json("POST", path, query, body)

    def patch(self, path: str, body: Mapping[str, object]) -> KubernetesObject:
        """Change an object by a merge patch."""
        return self._json("PATCH", path, {}, body, "application/merge-patch+json")

    def delete(self, path: str, **query: object) -> KubernetesObject:
        return self._json("DELETE", path, query)

    @contextmanager
    def stream(self, path: str, idle_seconds: float, **query: object) -> Iterator[Iterator[bytes]]:
        """The bytes of an answer as they come.

        The iterator raises Unreachable when the stream breaks, or is silent for idle_seconds.
        """
        response = self._ask("GET", path, query, None, None, idle_seconds)
        try:
            yield self._chunks(response)
        finally:
            response.close()

    def _chunks(self, response: Any) -> Iterator[bytes]:  # noqa: ANN401 - urllib3's, by way of an untyped client
        try:
            # Not read(): it waits until the whole amount is there.
            yield from response.stream(65536) if not response.chunked else response.read_chunked()
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise KubernetesUnreachable(f"{self.server}: the stream broke: {_reason_text(error)}") from error

    def _json(
        self,
        method: str,
        path: str,
        query: Mapping[str, object],
        body: Mapping[str, object] | None = None,
        content_type: str | None = None,
    ) -> KubernetesObject:
        response = self._ask(method, path, query, body, content_type, ANSWER_SECONDS)
        try:
            return cast("KubernetesObject", parse_json(response.data, self.where))
        except ValueError as error:
            raise KubernetesApiError(
                f"{self.where}: {self.server} does not answer like Kubernetes", response.status
            ) from error
        except urllib3.exceptions.HTTPError as error:
            raise KubernetesUnreachable(
                f"{self.where}: {self.server}: the answer broke off: {_reason_text(error)}"
            ) from error

    def _ask(
        self,
        method: str,
        path: str,
        query: Mapping[str, object],
        body: Mapping[str, object] | None,
        content_type: str | None,
        answer_seconds: float,
    ) -> Any:  # noqa: ANN401
        try:
            return self._asked(method, path, query, body, content_type, answer_seconds)
        except KubernetesApiError as error:
            if error.status != 401:
                raise
        # Maybe only expired.
        self._client = self._open_client()
        return self._asked(method, path, query, body, content_type, answer_seconds)

    def _asked(
        self,
        method: str,
        path: str,
        query: Mapping[str, object],
        body: Mapping[str, object] | None,
        content_type: str | None,
        answer_seconds: float,
    ) -> Any:  # noqa: ANN401
        headers = {"Accept": "application/json, */*"} | ({"Content-Type": content_type} if content_type else {})
        try:
            return self._client.call_api(
                path,
                method,
                query_params=[(name, _parameter(value)) for name, value in query.items() if value is not None],
                header_params=headers,
                body=body,
                auth_settings=["BearerToken"],
                _preload_content=False,
                _return_http_data_only=True,
                _request_timeout=(CONNECT_SECONDS, answer_seconds),
            )
        except ApiException as error:
            raise self._error(error) from error
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise self._unreachable(error) from error

    def _unreachable(self, error: object) -> KubernetesUnreachable:
        return KubernetesUnreachable(
            f"{self.where}: {self.server} cannot be reached: {_reason_text(error)}; "
            "is the cluster up, and this machine allowed to reach it?"
        )

    def _insecure(self, reason: object) -> UserError:
        """TLS did not come about: a certificate that will not do tomorrow either, or a server that ended meanwhile."""
        if "certificate" not in str(reason):
            return self._unreachable(reason)
        fix = "take the kubeconfig again from the stack's outputs"
        return KubernetesApiError(f"{self.where}: {self.server} is not trusted: {_reason_text(reason)}; {fix}", 0)

    def _error(self, error: ApiException) -> UserError:
        status = int(error.status or 0)
        if status == 0:
            return self._insecure(error.reason)
        said, reason = _message_and_reason(error.body)
        said = said or _reason_text(error.reason)
        if status == 401:
            fix = "sign in again, or take the kubeconfig again from the stack's outputs"
            return KubernetesApiError(
                f"{self.where}: {self.server} does not accept the credentials (401 {said}); {fix}", 401
            )
        if status == 403 and "system:anonymous" in said:
            fix = "take the kubeconfig again from the stack's outputs"
            return KubernetesApiError(
                f"{self.where}: the kubeconfig holds no credentials (403 {said}); {fix}", 403, reason
            )
        if status == 403 and "exceeded quota" not in said:
            fix = "ask the environment's owner for the right"
            return KubernetesApiError(f"{self.where}: not allowed (403): {said}; {fix}", 403, reason)
        if status == 429 or status >= 500:
            # 500 from a log: the node is not there. The caller knows whether it is worth another try.
            return KubernetesBusy(f"{self.where}: {self.server} answers {status}: {said}", status, reason)
        return KubernetesApiError(f"{self.where}: {said} ({status})", status, reason)


class KubernetesBusy(KubernetesApiError, KubernetesUnreachable):
    """The server is there and cannot answer now (429, 5xx)."""


def _message_and_reason(body: object) -> tuple[str, str]:
    """Message and reason of the Status object that Kubernetes answers with."""
    try:
        status = parse_json(cast("str", body), "answer")
    except (TypeError, ValueError):
        return "", ""
    if not isinstance(status, dict):
        return "", ""
    return one_line(str(status.get("message") or "")), str(status.get("reason") or "")


def _reason_text(error: object) -> str:
    """A library's error in few words: the innermost reason."""
    text = str(getattr(error, "reason", None) or error)
    for known, words in _KNOWN.items():
        if known in text:
            return words
    return one_line(" ".join(text.rpartition(": ")[2].split()) or type(error).__name__)


_KNOWN = {
    "Connection refused": "connection refused",
    "Name or service not known": "its name is not known",
    "Temporary failure in name resolution": "its name cannot be resolved",
    "Network is unreachable": "network is unreachable",
    "timed out": "no answer in time",
    "certificate has expired": "its certificate has expired",
    "Hostname mismatch": "its certificate is another host's",
    "IP address mismatch": "its certificate is another host's",
    "certificate verify failed": "its certificate is not signed by the kubeconfig's authority",
    "no certificate or crl found": "the kubeconfig's authority is not a certificate",
    "Connection reset": "connection reset",
    "closed connection without response": "connection closed",
}


def _parameter(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
