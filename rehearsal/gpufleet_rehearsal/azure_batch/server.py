"""Azure Batch's data plane on a loopback address, for what a `BatchAccount` holds.

Requests and answers have the shapes of the SDK's models. Paths, queries, headers and properties that Batch does not
know are refused with its error's shape, never passed over. Sources: learn.microsoft.com/rest/api/batchservice; the SDK,
for ranges of files (ocp-range, answered with 200). Not played: tokens. Clients send none to this machine, and a request
with one is refused.
"""

import json
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from gpufleet.errors import UserError
from gpufleet_rehearsal.azure_batch.account import BatchAccount, BatchRejection, Data, stamp
from gpufleet_rehearsal.loopback import LoopbackHandler

VERSION = "2025-06-01"
JSON = "application/json; odata=minimalmetadata"

Opened = Callable[[str], AbstractContextManager[BatchAccount]]
"""Opens the account of a name for one request. Errors: BatchRejection."""

_ID = r"([\w-]{1,64})"
_ROUTES: list[tuple[str, str, str | None, int, str | None, str]] = [
    ("GET", f"/pools/{_ID}", None, 200, "BatchPool", "get_pool"),
    ("GET", f"/pools/{_ID}/nodes", None, 200, "BatchNode", "get_nodes"),
    ("GET", f"/pools/{_ID}/nodes/{_ID}", None, 200, "BatchNode", "get_node"),
    ("POST", f"/pools/{_ID}/resize", "BatchPoolResizeOptions", 202, None, "resize"),
    ("POST", f"/pools/{_ID}/disableautoscale", None, 200, None, "disable_autoscale"),
    ("POST", f"/pools/{_ID}/enableautoscale", "BatchPoolEnableAutoScaleOptions", 200, None, "enable_autoscale"),
    ("POST", f"/pools/{_ID}/evaluateautoscale", "BatchPoolEvaluateAutoScaleOptions", 200, "AutoScaleRun",
     "evaluate_autoscale"),
    ("GET", "/jobs", None, 200, "BatchJob", "get_jobs"),
    ("POST", "/jobs", "BatchJobCreateOptions", 201, None, "add_job"),
    ("GET", f"/jobs/{_ID}", None, 200, "BatchJob", "job"),
    ("PATCH", f"/jobs/{_ID}", "BatchJobUpdateOptions", 200, None, "change_job"),
    ("DELETE", f"/jobs/{_ID}", None, 202, None, "delete_job"),
    ("POST", f"/jobs/{_ID}/terminate", "BatchJobTerminateOptions", 202, None, "terminate_job"),
    ("POST", f"/jobs/{_ID}/tasks", "BatchTaskCreateOptions", 201, None, "add_task"),
    ("GET", f"/jobs/{_ID}/tasks/{_ID}", None, 200, "BatchTask", "task"),
]  # fmt: skip
"""Method, path, model of the body, status, model of the answer, and the method of `BatchAccount` that gives it."""
_FILE = re.compile(rf"/jobs/{_ID}/tasks/{_ID}/files/(.+)")
_FILTER = re.compile(r"creationTime gt DateTime'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ'")
"""The one filter that is played; it finds all jobs, which are of today."""


def batch_handler(opened: Opened) -> type[BaseHTTPRequestHandler]:
    """A handler for accounts at http://127.0.0.1:PORT/ACCOUNT."""

    class Handler(BatchHandler):
        open_account = staticmethod(opened)

    return Handler


class BatchHandler(LoopbackHandler):
    """One connection of a client."""

    open_account: Opened

    def answer(self, sent: bytes) -> None:
        url = urlsplit(self.path)
        _, name, *parts = unquote(url.path).split("/")
        self._base, self._below = f"http://{self.headers['Host']}/{name}", f"/{'/'.join(parts)}"
        try:
            with self.open_account(name) as batch:
                status, content, headers = self._answered(batch, parse_qs(url.query), sent)
        except BatchRejection as rejection:
            status, content, headers = rejection.status, self._error(rejection), {}
        except UserError as error:
            status, content, headers = 500, self._error(BatchRejection(500, "InternalError", str(error))), {}
        self._send(status, content, headers)

    def _answered(self, batch: BatchAccount, query: dict[str, list[str]], sent: bytes) -> tuple[int, Any, Data]:
        try:
            body = json.loads(sent) if sent else None
        except ValueError as error:
            raise BatchRejection(
                400, "InvalidRequestBody", "The specified Request Body is not syntactically valid."
            ) from error
        batch.asks(self.command, self._below, body)
        if self.headers.get("Authorization"):
            raise BatchRejection(401, "AuthenticationFailed", "A token was sent in the open to a rehearsed account.")
        version = query.pop("api-version", [""])
        if version != [VERSION]:
            raise BatchRejection(400, "UnsupportedRequestVersion", "", ("api-version", version[0]))
        if file := _FILE.fullmatch(self._below):
            return self._file(batch, query, *file.groups())
        return self._route(batch, query, body)

    def _route(self, batch: BatchAccount, query: dict[str, list[str]], body: Any) -> tuple[int, Any, Data]:  # noqa: ANN401
        # Reads the SDK's models, which takes a second.
        from gpufleet_rehearsal.azure_batch.shapes import faults

        fitting = [(route, found) for route in _ROUTES if (found := re.fullmatch(route[1], self._below))]
        if not fitting:
            raise BatchRejection(400, "InvalidUri", "The requested URI does not represent any resource on the server.")
        right = [(route, found) for route, found in fitting if route[0] == self.command]
        if not right:
            raise BatchRejection(405, "UnsupportedHttpVerb", "The resource doesn't support the specified HTTP verb.")
        (_, _, takes, status, gives, method), found = right[0]
        self._check_query(query, self.command == "GET" and (self._below == "/jobs" or self._below.endswith("/nodes")))
        if takes:
            self._check_body(takes, body)
        elif body is not None:
            raise BatchRejection(400, "InvalidRequestBody", "", ("Reason", "none is wanted here"))
        answer = getattr(batch, method)(*found.groups(), *([body] if takes else []))
        if gives is None:
            return status, None, {}
        for each in answer if isinstance(answer, list) else [answer]:
            assert not faults(gives, each, sent=False), faults(gives, each, sent=False)
        return status, self._paged(batch, answer, query) if isinstance(answer, list) else answer, {}

    def _check_query(self, query: dict[str, list[str]], lists: bool) -> None:
        for key, values in query.items():
            if not lists or key not in ("$filter", "$skiptoken"):
                raise BatchRejection(400, "UnsupportedQueryParameter", "", ("QueryParameterName", key))
            if key == "$filter" and (not _FILTER.fullmatch(values[0]) or self._below != "/jobs"):
                raise BatchRejection(400, "InvalidQueryParameterValue", "", ("QueryParameterValue", values[0]))

    def _check_body(self, model: str, body: Any) -> None:  # noqa: ANN401
        from gpufleet_rehearsal.azure_batch.shapes import faults

        if body is None:
            if model == "BatchJobTerminateOptions":
                return
            raise BatchRejection(400, "InvalidRequestBody", "The specified Request Body is not syntactically valid.")
        if self.headers.get("Content-Type") != JSON:
            raise BatchRejection(400, "InvalidHeaderValue", "", ("HeaderName", "Content-Type"))
        for code, name, reason in faults(model, body):
            raise BatchRejection(400, code, "", ("PropertyName", name), ("Reason", reason))

    def _paged(self, batch: BatchAccount, found: list[Data], query: dict[str, list[str]]) -> Data:
        begin = int(query.get("$skiptoken", ["0"])[0])
        page: Data = {"value": found[begin : begin + batch.page]}
        if begin + batch.page < len(found):
            following = f"{self._base}{self._below}?$skiptoken={begin + batch.page}&api-version={VERSION}"
            page["odata.nextLink"] = following
        return page

    def _file(
        self, batch: BatchAccount, query: dict[str, list[str]], job: str, task: str, name: str
    ) -> tuple[int, bytes, Data]:
        self._check_query(query, False)
        if self.command not in ("GET", "HEAD"):
            raise BatchRejection(405, "UnsupportedHttpVerb")
        batch.task(job, task)
        if (job, name) not in batch.files:
            raise BatchRejection(404, "FileNotFound", "The specified file does not exist.")
        content, made = batch.files[job, name]
        if wanted := self.headers.get("ocp-range"):
            span = re.fullmatch(r"bytes=(\d+)-(\d+)", wanted)
            begin, end = (int(span[1]), int(span[2])) if span else (0, -1)
            if begin >= len(content) or end < begin:
                raise BatchRejection(416, "InvalidRange", "The range specified is invalid for the current size.")
            content = content[begin : end + 1]
        headers = {
            "Content-Type": "application/octet-stream",
            "Last-Modified": formatdate(made, usegmt=True),
            "ocp-creation-time": formatdate(made, usegmt=True),
            "ocp-batch-file-isdirectory": "False",
            "ocp-batch-file-mode": "0o100644",
            "ocp-batch-file-url": f"{self._base}/jobs/{job}/tasks/{task}/files/{name}",
        }
        return 200, content, headers

    def _error(self, rejection: BatchRejection) -> Data:
        text = f"{rejection.words}\nRequestId:00000000-0000-0000-0000-000000000001\nTime:{stamp()}"
        details = [{"key": key, "value": value} for key, value in rejection.values]
        at = f"{self._base}/$metadata#Microsoft.Azure.Batch.Protocol.Entities.Container.errors/@Element"
        told = {"odata.metadata": at, "code": rejection.code, "message": {"lang": "en-US", "value": text}}
        return {**told, **({"values": details} if details else {})}

    def _send(self, status: int, content: Any, headers: Data) -> None:  # noqa: ANN401
        data = content if isinstance(content, bytes) else b"" if content is None else json.dumps(content).encode()
        self.send(status, {"Content-Type": JSON, "request-id": "1", **headers}, data)
