"""The part of S3's REST API by which jobs and `gpufleet` read and write the objects of a bucket, by path.

All else is refused, never passed over. What stands in a bucket is kept with it in the rehearsal's file. Source:
docs.aws.amazon.com/AmazonS3/latest/API (ListObjectsV2, GetObject, HeadObject, PutObject, ErrorResponses). Not played:
versions, keys, roles and policies of the bucket, uploads in parts.
"""

import hashlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.message import Message
from email.utils import formatdate
from typing import NamedTuple
from urllib.parse import quote
from xml.sax.saxutils import escape

from gpufleet_rehearsal.aws_batch.rejection import AwsRejection
from gpufleet_rehearsal.azure_storage.containers import Blob, BlobRejection, Containers
from gpufleet_rehearsal.cloud.resource import SimulatedResource

BUCKETS = ("aws:s3/bucket:Bucket", "aws:s3/bucketV2:BucketV2")
_LIST_KEYS = {"list-type", "prefix", "continuation-token", "max-keys", "encoding-type"}
_MOST_LISTED = 1000
XML = {"Content-Type": "application/xml"}


class Answer(NamedTuple):
    """Of HTTP."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class PlayedObjects:
    """Buckets of a simulated cloud. Errors of all methods: AwsRejection, StoreError."""

    def __init__(self, held: Containers) -> None:
        self._held = held

    def answer(self, method: str, path: str, query: Mapping[str, str], headers: Message, body: bytes) -> Answer:
        """The answer to a request for /BUCKET or /BUCKET/KEY."""
        bucket, _, key = path.removeprefix("/").partition("/")
        listing = method == "GET" and not key and query.get("list-type") == "2" and set(query) <= _LIST_KEYS
        whole = bool(key) and not set(query) - {"x-id"} and "aws-chunked" not in headers.get("Content-Encoding", "")
        if not listing and not (whole and method in ("GET", "HEAD", "PUT")):
            raise AwsRejection("NotImplemented", f"a rehearsal does not play {method} {path} of S3", 501)
        there = self._bucket(bucket)
        if listing:
            return self._list(there, bucket, query)
        if method == "PUT":
            self.put(bucket, key, body)
            return Answer(200, {"ETag": _etag(self._held.blobs(there)[key])}, b"")
        return self._read(there, key, headers)

    def put(self, bucket: str, key: str, content: bytes) -> None:
        """Write an object."""
        try:
            self._held.write(self._bucket(bucket), key, content)
        except BlobRejection as rejection:
            raise AwsRejection("EntityTooLarge", rejection.words) from rejection

    def _bucket(self, name: str) -> SimulatedResource:
        for kind in BUCKETS:
            for each in self._held.store.resources(kind):
                if each.view.get("bucket") == name:
                    return each
        raise AwsRejection("NoSuchBucket", "The specified bucket does not exist", 404)

    def _list(self, bucket: SimulatedResource, name: str, query: Mapping[str, str]) -> Answer:
        prefix = query.get("prefix", "")
        found = sorted(each for each in self._held.blobs(bucket).items() if each[0].startswith(prefix))
        begin = int(query.get("continuation-token", "0"))
        page = found[begin : begin + min(int(query.get("max-keys", _MOST_LISTED)), _MOST_LISTED)]
        end = begin + len(page)
        spelt = quote if query.get("encoding-type") == "url" else escape
        more = f"<NextContinuationToken>{end}</NextContinuationToken>" if end < len(found) else ""
        encoding = "<EncodingType>url</EncodingType>" if query.get("encoding-type") == "url" else ""
        rows = "".join(
            f"<Contents><Key>{spelt(key)}</Key><Size>{len(blob.content)}</Size><ETag>{escape(_etag(blob))}</ETag>"
            f"<LastModified>{_iso(blob.changed)}</LastModified><StorageClass>STANDARD</StorageClass></Contents>"
            for key, blob in page
        )
        text = (
            f'<?xml version="1.0" encoding="UTF-8"?><ListBucketResult><Name>{name}</Name>'
            f"<KeyCount>{len(page)}</KeyCount><Prefix>{spelt(prefix)}</Prefix>{encoding}{more}{rows}"
            f"<IsTruncated>{'true' if more else 'false'}</IsTruncated></ListBucketResult>"
        )
        return Answer(200, XML, text.encode())

    def _read(self, bucket: SimulatedResource, key: str, headers: Message) -> Answer:
        blob = self._held.blobs(bucket).get(key)
        if blob is None:
            raise AwsRejection("NoSuchKey", "The specified key does not exist.", 404)
        if headers.get("If-Match", _etag(blob)).strip('"') != _etag(blob).strip('"'):
            words = "At least one of the pre-conditions you specified did not hold"
            raise AwsRejection("PreconditionFailed", words, 412)
        told = {
            "Content-Type": "binary/octet-stream",
            "ETag": _etag(blob),
            "Last-Modified": formatdate(blob.changed, usegmt=True),
            "Accept-Ranges": "bytes",
        }
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", headers.get("Range") or "")
        if asked is None:
            return Answer(200, told, blob.content)
        begin, size = int(asked[1]), len(blob.content)
        if begin >= size:
            raise AwsRejection("InvalidRange", "The requested range is not satisfiable", 416)
        piece = blob.content[begin : int(asked[2] or size - 1) + 1]
        return Answer(206, told | {"Content-Range": f"bytes {begin}-{begin + len(piece) - 1}/{size}"}, piece)


def _etag(blob: Blob) -> str:
    return f'"{hashlib.md5(blob.content, usedforsecurity=False).hexdigest()}"'


def _iso(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
