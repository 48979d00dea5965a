"""The part of Azure Storage's REST API for blobs that `gpufleet data` and jobs use, at http://127.0.0.1:PORT/ACCOUNT.

All else is refused, never passed over. Source: learn.microsoft.com/rest/api/storageservices (Put Block, Put Block
List, Get Block List, Get Blob, Get Blob Properties, List Blobs; blob-service-error-codes). Not played: keys, tokens,
roles and network rules of the account, file shares.
"""

import base64
import hashlib
import re
from collections.abc import Callable
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler
from threading import Lock
from urllib.parse import parse_qs, unquote, urlsplit
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from gpufleet.errors import UserError
from gpufleet_rehearsal.azure_storage.containers import Blob, BlobRejection, Containers
from gpufleet_rehearsal.cloud.resource import SimulatedResource
from gpufleet_rehearsal.loopback import LoopbackHandler

_MOST_LISTED = 5000
"""Blobs of one answer."""
_MD5_BYTES = 4 * 2**20
"""Most bytes of a range that Azure makes an MD5 of."""

Query = dict[str, str]
Answer = tuple[int, dict[str, str], bytes]


def blob_handler(held: Containers) -> type[BaseHTTPRequestHandler]:
    """A handler for the containers of a simulated cloud."""

    class Handler(BlobHandler):
        containers, lock = held, Lock()

    return Handler


class BlobHandler(LoopbackHandler):
    """One connection of a client."""

    containers: Containers
    lock: Lock

    def answer(self, sent: bytes) -> None:
        url = urlsplit(self.path)
        _, account, root, name = [*unquote(url.path).split("/", 3), "", ""][:4]
        query = {key: values[0] for key, values in parse_qs(url.query).items()}
        try:
            with self.lock:
                status, headers, body = self._answered(account, root, name, query, sent)
        except BlobRejection as rejection:
            status, headers, body = _refused(rejection)
        except UserError as error:
            status, headers, body = _refused(BlobRejection(507, "InternalError", str(error)))
        self.send(status, {"x-ms-request-id": "1", **headers}, body)

    def _answered(self, account: str, root: str, name: str, query: Query, sent: bytes) -> Answer:
        call = " ".join([self.command, *(query.pop(each, "-") for each in ("restype", "comp"))])
        works: dict[str, Callable[[SimulatedResource, str, Query, bytes], Answer]] = {
            "HEAD - -": self._properties,
            "GET - -": self._read,
            "GET container list": self._list,
            "GET - blocklist": self._block_list,
            "PUT - block": self._stage,
            "PUT - blocklist": self._commit,
        }
        work = works.get(call)
        if work is None or bool(name) == (call == "GET container list"):
            words = f"A rehearsal does not play {self.command} {self.path} of a storage account."
            raise BlobRejection(501, "NotImplemented", words)
        return work(self.containers.find(account, root), name, query, sent)

    def _properties(self, container: SimulatedResource, name: str, query: Query, sent: bytes) -> Answer:
        blob = self.containers.blob(container, name)
        return 200, {**_headers(blob), "Content-Length": str(len(blob.content))}, b""

    def _read(self, container: SimulatedResource, name: str, query: Query, sent: bytes) -> Answer:
        blob = self.containers.blob(container, name)
        if self.headers.get("If-Match", blob.etag).strip('"') != blob.etag.strip('"'):
            raise BlobRejection(
                412, "ConditionNotMet", "The condition specified using HTTP conditional header(s) is not met."
            )
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("x-ms-range") or self.headers.get("Range") or "")
        if asked is None:
            return 200, _headers(blob), blob.content
        begin, size = int(asked[1]), len(blob.content)
        if begin >= size:
            raise BlobRejection(
                416, "InvalidRange", "The range specified is invalid for the current size of the resource."
            )
        piece = blob.content[begin : int(asked[2] or size - 1) + 1]
        headers = {name: value for name, value in _headers(blob).items() if name != "Content-MD5"}
        headers |= {
            "Content-Range": f"bytes {begin}-{begin + len(piece) - 1}/{size}",
            "x-ms-blob-content-md5": blob.md5,
        }
        if self.headers.get("x-ms-range-get-content-md5") == "true":
            if len(piece) > _MD5_BYTES:
                raise BlobRejection(400, "OutOfRangeInput", "An MD5 is made of ranges of up to 4 MiB.")
            headers["Content-MD5"] = _md5(piece)
        return 206, {name: value for name, value in headers.items() if value}, piece

    def _list(self, container: SimulatedResource, name: str, query: Query, sent: bytes) -> Answer:
        found = sorted(
            each for each in self.containers.blobs(container).items() if each[0].startswith(query.get("prefix", ""))
        )
        begin = int(query.get("marker", "0"))
        page = found[begin : begin + int(query.get("maxresults", _MOST_LISTED))]
        following = begin + len(page) if begin + len(page) < len(found) else ""
        rows = "".join(_row(name, blob) for name, blob in page)
        text = (
            f'<?xml version="1.0"?><EnumerationResults ContainerName="{container.view["containerName"]}">'
            f"<Blobs>{rows}</Blobs><NextMarker>{following}</NextMarker></EnumerationResults>"
        )
        return 200, {"Content-Type": "application/xml"}, text.encode()

    def _block_list(self, container: SimulatedResource, name: str, query: Query, sent: bytes) -> Answer:
        if query.get("blocklisttype") != "uncommitted":
            raise BlobRejection(501, "NotImplemented", "A rehearsal lists uncommitted blocks only.")
        staged = self.containers.staged(container, name)
        if not staged:
            self.containers.blob(container, name)
        rows = "".join(f"<Block><Name>{key}</Name><Size>{len(block)}</Size></Block>" for key, block in staged.items())
        text = f"<?xml version='1.0'?><BlockList><UncommittedBlocks>{rows}</UncommittedBlocks></BlockList>"
        return 200, {"Content-Type": "application/xml"}, text.encode()

    def _stage(self, container: SimulatedResource, name: str, query: Query, sent: bytes) -> Answer:
        if self.headers.get("Content-MD5", _md5(sent)) != _md5(sent):
            raise BlobRejection(400, "Md5Mismatch", "The MD5 value specified in the request did not match.")
        self.containers.stage(container, name, query["blockid"], sent)
        return 201, {}, b""

    def _commit(self, container: SimulatedResource, name: str, query: Query, sent: bytes) -> Answer:
        blocks = [each.text or "" for each in ElementTree.fromstring(sent)]
        self.containers.commit(container, name, blocks, self.headers.get("x-ms-blob-content-md5", ""))
        blob = self.containers.blob(container, name)
        return 201, {"ETag": blob.etag, "Last-Modified": formatdate(blob.changed, usegmt=True)}, b""


def _headers(blob: Blob) -> dict[str, str]:
    told = {
        "Content-Type": "application/octet-stream",
        "Last-Modified": formatdate(blob.changed, usegmt=True),
        "ETag": blob.etag,
        "Content-MD5": blob.md5,
        "x-ms-blob-type": "BlockBlob",
    }
    return {name: value for name, value in told.items() if value}


def _row(name: str, blob: Blob) -> str:
    told = {
        "Last-Modified": formatdate(blob.changed, usegmt=True),
        "Etag": blob.etag.strip('"'),
        "Content-Length": len(blob.content),
        "Content-Type": "application/octet-stream",
        "Content-MD5": blob.md5,
        "BlobType": "BlockBlob",
    }
    properties = "".join(f"<{key}>{value}</{key}>" for key, value in told.items())
    return f"<Blob><Name>{escape(name)}</Name><Properties>{properties}</Properties><Metadata/></Blob>"


def _refused(rejection: BlobRejection) -> Answer:
    words = escape(f"{rejection.words}\nRequestId:1\nTime:2")
    text = (
        f'<?xml version="1.0" encoding="utf-8"?><Error><Code>{rejection.code}</Code><Message>{words}</Message></Error>'
    )
    return rejection.status, {"x-ms-error-code": rejection.code, "Content-Type": "application/xml"}, text.encode()


def _md5(content: bytes) -> str:
    return base64.b64encode(hashlib.md5(content, usedforsecurity=False).digest()).decode()
