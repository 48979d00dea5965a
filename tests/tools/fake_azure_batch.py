"""Azure Batch's data plane behind a loopback address, for what `batch_account_in_tests` holds.

Requests and answers have the shapes of the SDK's models. Paths, queries, headers, properties that Batch does not know
are refused with its error's shape, never passed over. Sources: learn.microsoft.com/rest/api/batchservice; the SDK, for
ranges of files (ocp-range, answered with 200).
"""

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.tools.batch_account import Data, FakeBatch, Refused, stamp
from tests.tools.batch_shapes import faults

VERSION = "2025-06-01"
JSON = "application/json; odata=minimalmetadata"
REGISTRY = "devimages.azurecr.io"
IMAGE = f"{REGISTRY}/training:base"
IDENTITY = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/dev/providers/nodes"
BLOBS = "https://devfiles.blob.core.windows.net"


def outputs() -> dict[str, Any]:
    """What a stack on Azure Batch tells; Pulumi has no whole numbers."""
    spot = {
        "pool_id": "spot-1",
        "types": ["Standard_NC64as_T4_v3"],
        "network": "plain",
        "min": 0.0,
        "max": 10.0,
        "capacity": "spot",
        "task_nodes": 4.0,
        "mounts": ["scripts", "result", "logs"],
    }
    fixed = {"pool_id": "fixed-1", "types": ["Standard_NC4as_T4_v3"], "max": 2.0, "scaling": "fixed", "mounts": []}
    batch = {
        "account_endpoint": "devbatch.eastus.batch.azure.com",
        "account_name": "devbatch",
        "subscription_id": "00000000-0000-0000-0000-000000000000",
        "resource_group": "dev",
        "region": "eastus",
        "pools": {"spot": spot, "fixed": fixed},
        "identity_id": IDENTITY,
        "storage": {
            "account_name": "devfiles",
            "blob_endpoint": f"{BLOBS}/",
            "file_endpoint": "https://devfiles.file.core.windows.net/",
            "containers": ["scripts", "result"],
            "shares": ["logs"],
        },
        "scripts": "scripts",
        "result": "result",
        "logs": "logs",
    }
    return {"jobs": {"on": "azure-batch", "azure_batch": batch}, "registry_urls": {"training": f"{REGISTRY}/training"}}


@contextmanager
def fake_batch() -> Iterator[FakeBatch]:
    """An account with the pools `spot-1` (Spot, scales itself) and `fixed-1` (dedicated, 0 nodes)."""
    batch = FakeBatch()
    formula = "$TargetDedicatedNodes = 0; $TargetLowPriorityNodes = 0; $NodeDeallocationOption = taskcompletion;"
    batch.add_pool("spot-1", enableAutoScale=True, autoScaleFormula=formula)
    batch.add_pool("fixed-1", enableInterNodeCommunication=False)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(batch))
    batch.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield batch
    finally:
        server.shutdown()
        server.server_close()


ID = r"([\w-]{1,64})"
Route = tuple[str, str, str | None, int, str | None, Callable[..., Any]]
"""Method, path, model of the body, status, model of the answer, and what gives it."""

ROUTES: list[Route] = [
    ("GET", f"/pools/{ID}", None, 200, "BatchPool", FakeBatch.get_pool),
    ("GET", f"/pools/{ID}/nodes", None, 200, "BatchNode", lambda batch, pool: batch.pool(pool) and batch.nodes[pool]),
    ("GET", f"/pools/{ID}/nodes/{ID}", None, 200, "BatchNode", FakeBatch.get_node),
    ("POST", f"/pools/{ID}/resize", "BatchPoolResizeOptions", 202, None, FakeBatch.resize),
    ("POST", f"/pools/{ID}/disableautoscale", None, 200, None, FakeBatch.disable_autoscale),
    (
        "POST",
        f"/pools/{ID}/enableautoscale",
        "BatchPoolEnableAutoScaleOptions",
        200,
        None,
        FakeBatch.enable_autoscale,
    ),
    (
        "POST",
        f"/pools/{ID}/evaluateautoscale",
        "BatchPoolEvaluateAutoScaleOptions",
        200,
        "AutoScaleRun",
        FakeBatch.evaluate_autoscale,
    ),
    ("GET", "/jobs", None, 200, "BatchJob", lambda batch: list(batch.jobs.values())),
    ("POST", "/jobs", "BatchJobCreateOptions", 201, None, FakeBatch.add_job),
    ("GET", f"/jobs/{ID}", None, 200, "BatchJob", FakeBatch.job),
    ("PATCH", f"/jobs/{ID}", "BatchJobUpdateOptions", 200, None, FakeBatch.change_job),
    ("DELETE", f"/jobs/{ID}", None, 202, None, FakeBatch.delete_job),
    ("POST", f"/jobs/{ID}/terminate", "BatchJobTerminateOptions", 202, None, FakeBatch.terminate_job),
    ("POST", f"/jobs/{ID}/tasks", "BatchTaskCreateOptions", 201, None, FakeBatch.add_task),
    ("GET", f"/jobs/{ID}/tasks/{ID}", None, 200, "BatchTask", FakeBatch.task),
]
FILE = re.compile(rf"/jobs/{ID}/tasks/{ID}/files/(.+)")
FILTER = re.compile(r"creationTime gt DateTime'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ'")
"""The one filter that is played; it finds all jobs, which are of today."""


def _handler(batch: FakeBatch) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            url = urlsplit(self.path)
            path, query = unquote(url.path), parse_qs(url.query)
            body = json.loads(sent) if sent else None
            batch.asked.append((self.command, path, body))
            try:
                for refusal in batch.refusals:
                    refusal(self.command, path)
                if self.headers.get("Authorization"):
                    raise AssertionError("a token was sent in the open")
                if query.pop("api-version", [""]) != [VERSION]:
                    raise Refused(400, "UnsupportedRequestVersion", "", ("api-version", url.query))
                if FILE.fullmatch(path):
                    self.file(*FILE.fullmatch(path).groups(), query)
                else:
                    self.route(path, query, body)
            except Refused as refused:
                self.send(refused.status, self.error(refused), {"Content-Type": JSON})

        do_GET = do_HEAD = do_POST = do_PATCH = do_DELETE = do_PUT = answer

        def route(self, path: str, query: dict[str, list[str]], body: Any) -> None:
            fitting = [(route, re.fullmatch(route[1], path)) for route in ROUTES]
            fitting = [(route, found) for route, found in fitting if found]
            if not fitting:
                raise Refused(400, "InvalidUri", "The requested URI does not represent any resource on the server.")
            right = [(route, found) for route, found in fitting if route[0] == self.command]
            if not right:
                raise Refused(405, "UnsupportedHttpVerb", "The resource doesn't support the specified HTTP verb.")
            (_, _, takes, status, gives, work), found = right[0]
            lists = path == "/jobs" or path.endswith("/nodes")
            self.check_query(query, lists and self.command == "GET")
            if takes:
                self.check_body(takes, body)
            elif body is not None:
                raise Refused(400, "InvalidRequestBody", "", ("Reason", "none is wanted here"))
            answer = work(batch, *found.groups(), *([body] if takes else []))
            if gives is None:
                self.send(status, None, {})
                return
            for each in answer if isinstance(answer, list) else [answer]:
                assert not faults(gives, each, sent=False), faults(gives, each, sent=False)
            self.send(status, self.paged(answer, path, query) if isinstance(answer, list) else answer, {})

        def check_query(self, query: dict[str, list[str]], lists: bool) -> None:
            for key, values in query.items():
                if not lists or key not in ("$filter", "$skiptoken"):
                    raise Refused(400, "UnsupportedQueryParameter", "", ("QueryParameterName", key))
                if key == "$filter" and (not FILTER.fullmatch(values[0]) or not self.path.startswith("/jobs?")):
                    raise Refused(400, "InvalidQueryParameterValue", "", ("QueryParameterValue", values[0]))

        def check_body(self, model: str, body: Any) -> None:
            if body is None:
                if model == "BatchJobTerminateOptions":
                    return
                raise Refused(400, "InvalidRequestBody", "The specified Request Body is not syntactically valid.")
            if self.headers.get("Content-Type") != JSON:
                raise Refused(400, "InvalidHeaderValue", "", ("HeaderName", "Content-Type"))
            for code, name, reason in faults(model, body):
                raise Refused(400, code, "", ("PropertyName", name), ("Reason", reason))

        def paged(self, found: list[Data], path: str, query: dict[str, list[str]]) -> Data:
            begin = int(query.get("$skiptoken", ["0"])[0])
            page: Data = {"value": found[begin : begin + batch.page]}
            if begin + batch.page < len(found):
                page["odata.nextLink"] = f"{batch.url}{path}?$skiptoken={begin + batch.page}&api-version={VERSION}"
            return page

        def file(self, job: str, task: str, name: str, query: dict[str, list[str]]) -> None:
            self.check_query(query, False)
            if self.command not in ("GET", "HEAD"):
                raise Refused(405, "UnsupportedHttpVerb")
            batch.task(job, task)
            if (job, name) not in batch.files:
                raise Refused(404, "FileNotFound", "The specified file does not exist.")
            content, made = batch.files[job, name]
            wanted = self.headers.get("ocp-range")
            if wanted:
                begin, end = map(int, re.fullmatch(r"bytes=(\d+)-(\d+)", wanted).groups())
                if begin >= len(content) or end < begin:
                    raise Refused(416, "InvalidRange", "The range specified is invalid for the current size.")
                content = content[begin : end + 1]
            headers = {
                "Content-Type": "application/octet-stream",
                "Last-Modified": formatdate(made, usegmt=True),
                "ocp-creation-time": formatdate(made, usegmt=True),
                "ocp-batch-file-isdirectory": "False",
                "ocp-batch-file-mode": "0o100644",
                "ocp-batch-file-url": f"{batch.url}/jobs/{job}/tasks/{task}/files/{name}",
            }
            self.send(200, content, headers)

        def error(self, refused: Refused) -> Data:
            text = f"{refused.words}\nRequestId:00000000-0000-0000-0000-000000000001\nTime:{stamp()}"
            details = [{"key": key, "value": value} for key, value in refused.values]
            at = f"{batch.url}/$metadata#Microsoft.Azure.Batch.Protocol.Entities.Container.errors/@Element"
            told = {"odata.metadata": at, "code": refused.code, "message": {"lang": "en-US", "value": text}}
            return {**told, **({"values": details} if details else {})}

        def send(self, status: int, content: Any, headers: dict[str, str]) -> None:
            data = content if isinstance(content, bytes) else b"" if content is None else json.dumps(content).encode()
            self.send_response(status)
            for name, value in {"Content-Type": JSON, "request-id": "1", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """The requests stand in `asked`."""

    return Handler
