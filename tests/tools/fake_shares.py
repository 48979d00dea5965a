"""File shares of an account as their REST API answers to what we ask of it: Azurite has none.

It stands in for Azure Files in memory, behind the SDK's own pipeline. Whatever is asked in another way than the API has
it is an AssertionError: a header that is missing, a range that is too long, an MD5 that is wrong, a call that is not
played. Its answers are made after learn.microsoft.com/rest/api/storageservices/file-service-rest-api; no account of
Azure has been asked.
"""

import base64
import hashlib
import io
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

from requests import PreparedRequest, Response, Session
from requests.adapters import BaseAdapter
from urllib3 import HTTPResponse

_MOST = 4 * 2**20
HOST = "https://traindata01.file.core.windows.net"


class Token:
    """Somebody who is signed in."""

    def get_token_info(self, *scopes: str, **options: object) -> Any:
        from azure.core.credentials import AccessTokenInfo

        assert scopes == ("https://storage.azure.com/.default",)
        return AccessTokenInfo("token", 2**33)

    def get_token(self, *scopes: str, **options: object) -> Any:
        from azure.core.credentials import AccessToken

        return AccessToken("token", 2**33)


@dataclass
class FakeFile:
    content: bytearray
    written: str
    metadata: dict[str, str] = field(default_factory=dict)
    valid: list[tuple[int, int]] = field(default_factory=list)
    version: int = 0

    @property
    def etag(self) -> str:
        return f'"0x{self.version}"'


@dataclass
class FakeShares:
    """files, directories: by SHARE/PATH. refusal: status and code of every answer. breaks: ranges that never arrive."""

    shares: set[str] = field(default_factory=lambda: {"logs"})
    files: dict[str, FakeFile] = field(default_factory=dict)
    directories: set[str] = field(default_factory=set)
    refusal: tuple[int, str] | None = None
    breaks: set[int] = field(default_factory=set)
    calls: list[str] = field(default_factory=list)
    ranges: int = 0
    _versions: int = 0

    def touch(self, path: str, content: bytes, now: str = "2026-11-21T10:00:00.0000000Z") -> None:
        """A node writes a file: its metadata stay, its time of change does not."""
        kept = self.files[path].metadata if path in self.files else {}
        self.files[path] = FakeFile(bytearray(content), now, kept, [(0, len(content) - 1)], self._next())

    def session(self) -> Session:
        """A session in which all of HOST is this."""
        session = Session()
        session.mount(HOST, _Adapter(self))
        return session

    def answer(self, request: PreparedRequest) -> tuple[int, dict[str, str], bytes]:
        headers, url = request.headers, urlsplit(str(request.url))
        query = {key: values[0] for key, values in parse_qs(url.query).items()}
        path = unquote(url.path).strip("/")
        call = f"{request.method} {query.get('restype', '')} {query.get('comp', '')}".strip()
        self.calls.append(call)
        assert headers["Authorization"] == "Bearer token"
        assert headers["x-ms-file-request-intent"] == "backup"
        assert headers["x-ms-version"] >= "2022-11-02"
        body = request.body or b""
        content = body.read() if hasattr(body, "read") else body if isinstance(body, bytes) else body.encode()
        if self.refusal:
            return _refused(*self.refusal)
        if path.partition("/")[0] not in self.shares:
            return _refused(404, "ShareNotFound")
        match call:
            case "HEAD":
                return self._properties(path)
            case "GET":
                return self._read(path, headers)
            case "GET  rangelist":
                return self._ranges(path)
            case "GET directory list":
                return self._list(path)
            case "PUT directory":
                return self._directory(path)
            case "PUT":
                return self._create(path, headers)
            case "PUT  range":
                return self._write(path, headers, content)
            case "PUT  rename":
                return self._rename(path, headers)
        raise AssertionError(f"{call} is not played")

    def _next(self) -> int:
        self._versions += 1
        return self._versions

    def _properties(self, path: str) -> tuple[int, dict[str, str], bytes]:
        if path not in self.files:
            return self._gone(path)
        return 200, self._headers(self.files[path]), b""

    def _headers(self, file: FakeFile) -> dict[str, str]:
        return {
            "Content-Length": str(len(file.content)),
            "Last-Modified": format_datetime(datetime(2026, 11, 21, tzinfo=UTC), usegmt=True),
            "ETag": file.etag,
            "x-ms-type": "File",
            "x-ms-file-last-write-time": file.written,
            **{f"x-ms-meta-{name}": value for name, value in file.metadata.items()},
        }

    def _gone(self, path: str) -> tuple[int, dict[str, str], bytes]:
        return _refused(404, "ResourceNotFound" if self._parent(path) else "ParentNotFound")

    def _parent(self, path: str) -> bool:
        parent = path.rpartition("/")[0]
        return parent in self.shares or parent in self.directories

    def _read(self, path: str, headers: object) -> tuple[int, dict[str, str], bytes]:
        if path not in self.files:
            return self._gone(path)
        file, given = self.files[path], dict(headers)  # type: ignore[call-overload]
        assert given["x-ms-range-get-content-md5"] == "true"
        begin, end = _range(given["x-ms-range"])
        assert end - begin < _MOST, "an MD5 is only made of 4 MiB and less"
        if begin >= len(file.content):
            return _refused(416, "InvalidRange")
        piece = bytes(file.content[begin : end + 1])
        found = self._headers(file) | {
            "Content-Length": str(len(piece)),
            "Content-Range": f"bytes {begin}-{begin + len(piece) - 1}/{len(file.content)}",
            "Content-MD5": _md5(piece),
        }
        return 206, found, piece

    def _ranges(self, path: str) -> tuple[int, dict[str, str], bytes]:
        file = self.files[path]
        joined: list[tuple[int, int]] = []
        for begin, end in sorted(file.valid):
            if joined and begin <= joined[-1][1] + 1:
                joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
            else:
                joined.append((begin, end))
        rows = "".join(f"<Range><Start>{begin}</Start><End>{end}</End></Range>" for begin, end in joined)
        return 200, {"Content-Type": "application/xml"}, f"<?xml version='1.0'?><Ranges>{rows}</Ranges>".encode()

    def _list(self, path: str) -> tuple[int, dict[str, str], bytes]:
        if path not in self.directories and path not in self.shares:
            return self._gone(path)
        rows = []
        for name in sorted(self.directories):
            if name.rpartition("/")[0] == path:
                rows.append(f"<Directory><Name>{escape(name.rpartition('/')[2])}</Name><Properties/></Directory>")
        for name, file in sorted(self.files.items()):
            if name.rpartition("/")[0] == path:
                rows.append(
                    f"<File><Name>{escape(name.rpartition('/')[2])}</Name><Properties><Content-Length>"
                    f"{len(file.content)}</Content-Length><LastWriteTime>{file.written}</LastWriteTime></Properties></File>"
                )
        share = path.partition("/")[0]
        text = (
            f'<?xml version="1.0"?><EnumerationResults ServiceEndpoint="{HOST}/" ShareName="{share}" DirectoryPath="">'
            f"<Entries>{''.join(rows)}</Entries><NextMarker/></EnumerationResults>"
        )
        return 200, {"Content-Type": "application/xml"}, text.encode()

    def _directory(self, path: str) -> tuple[int, dict[str, str], bytes]:
        if not self._parent(path):
            return _refused(404, "ParentNotFound")
        if path in self.directories:
            return _refused(409, "ResourceAlreadyExists")
        if path in self.files:
            return _refused(409, "ResourceTypeMismatch")
        self.directories.add(path)
        return 201, {}, b""

    def _create(self, path: str, headers: object) -> tuple[int, dict[str, str], bytes]:
        given = dict(headers)  # type: ignore[call-overload]
        assert given["x-ms-type"] == "file"
        if not self._parent(path):
            return _refused(404, "ParentNotFound")
        size, written = int(given["x-ms-content-length"]), given["x-ms-file-last-write-time"]
        self.files[path] = FakeFile(bytearray(size), written, _metadata(given), [], self._next())
        return 201, {"ETag": self.files[path].etag}, b""

    def _write(self, path: str, headers: object, content: bytes) -> tuple[int, dict[str, str], bytes]:
        given = dict(headers)  # type: ignore[call-overload]
        self.ranges += 1
        if self.ranges in self.breaks:
            raise OSError("the connection broke")
        assert given["x-ms-write"] == "update"
        assert given["x-ms-file-last-write-time"] == "preserve"
        assert given["Content-MD5"] == _md5(content)
        begin, end = _range(given.get("x-ms-range") or given["Range"])
        file = self.files[path]
        assert end - begin + 1 == len(content) <= _MOST
        if end >= len(file.content):
            return _refused(416, "InvalidRange")
        file.content[begin : end + 1] = content
        file.valid.append((begin, end))
        file.version = self._next()
        return 201, {"ETag": file.etag, "Content-MD5": given["Content-MD5"]}, b""

    def _rename(self, path: str, headers: object) -> tuple[int, dict[str, str], bytes]:
        given = dict(headers)  # type: ignore[call-overload]
        source = unquote(urlsplit(given["x-ms-file-rename-source"]).path).strip("/")
        if source not in self.files:
            return self._gone(source)
        assert given["x-ms-file-rename-replace-if-exists"].lower() == "true"
        file = self.files.pop(source)
        file.written, file.version = given["x-ms-file-last-write-time"], self._next()
        file.metadata = _metadata(given)
        self.files[path] = file
        return 200, {"ETag": file.etag}, b""


class _Adapter(BaseAdapter):
    def __init__(self, shares: FakeShares) -> None:
        super().__init__()
        self._shares = shares

    def send(self, request: PreparedRequest, *args: object, **options: object) -> Response:
        from requests import ConnectionError as Broken

        try:
            status, headers, body = self._shares.answer(request)
        except OSError as error:
            raise Broken(str(error), request=request) from error
        body = b"" if request.method == "HEAD" else body
        found = Response()
        found.status_code, found.url, found.request, found.reason = status, str(request.url), request, str(status)
        found.headers.update(headers)
        found.raw = HTTPResponse(
            io.BytesIO(body), headers=headers, status=status, preload_content=False, request_method=request.method
        )
        return found

    def close(self) -> None:
        pass


def _refused(status: int, code: str) -> tuple[int, dict[str, str], bytes]:
    text = f'<?xml version="1.0"?><Error><Code>{code}</Code><Message>{code}.\nRequestId:1\nTime:2</Message></Error>'
    return status, {"x-ms-error-code": code, "Content-Type": "application/xml"}, text.encode()


def _metadata(given: dict[str, str]) -> dict[str, str]:
    return {name[10:].lower(): value for name, value in given.items() if name.lower().startswith("x-ms-meta-")}


def _md5(content: bytes) -> str:
    return base64.b64encode(hashlib.md5(content, usedforsecurity=False).digest()).decode()


def _range(text: str) -> tuple[int, int]:
    begin, _, end = text.removeprefix("bytes=").partition("-")
    return int(begin), int(end)
