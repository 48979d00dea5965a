# One object of S3, read with the container's own role; a part of what start.py sends.
from __future__ import annotations

import datetime
import hashlib
import hmac
import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request

from gpufleet.jobs.aws_batch.node_side.failure import StartError

ATTEMPTS = 6


# The address of an object. With the bucket in the path a bucket's name with dots has no trouble with certificates.
def object_url(bucket: str, key: str, region: str) -> str:
    there = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    if not there:
        there = "https://s3." + region + ".amazonaws.com" + (".cn" if region.startswith("cn-") else "")
    return there.rstrip("/") + "/" + bucket + "/" + urllib.parse.quote(key)


# The role's key pair and token, as ECS gives them to containers.
def credentials() -> list[str]:
    names = ("AccessKeyId", "SecretAccessKey", "Token")
    relative = os.environ.get("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")
    whole = "http://169.254.170.2" + relative if relative else os.environ.get("AWS_CONTAINER_CREDENTIALS_FULL_URI")
    if whole:
        with urllib.request.urlopen(whole, timeout=10) as answer:
            found = json.load(answer)
        return [found[name] for name in names]
    if os.environ.get("AWS_ACCESS_KEY_ID"):
        names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
        return [os.environ.get(name, "") for name in names]
    raise StartError("the job definition gives its containers no role, and S3 has what they need; give it a job role")


# The headers of a GET, signed. docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
def signed_headers(url: str, region: str, keys: list[str], now: datetime.datetime) -> dict[str, str]:
    parts = urllib.parse.urlsplit(url)
    stamp = now.strftime("%Y%m%dT%H%M%SZ")
    empty = hashlib.sha256(b"").hexdigest()
    headers = {"host": parts.netloc, "x-amz-content-sha256": empty, "x-amz-date": stamp}
    if keys[2]:
        headers["x-amz-security-token"] = keys[2]
    names = ";".join(sorted(headers))
    told = "".join(name + ":" + headers[name] + "\n" for name in sorted(headers))
    request = "\n".join(["GET", parts.path, "", told, names, empty])
    scope = "/".join([stamp[:8], region, "s3", "aws4_request"])
    text = "\n".join(["AWS4-HMAC-SHA256", stamp, scope, hashlib.sha256(request.encode()).hexdigest()])
    key = ("AWS4" + keys[1]).encode()
    for word in [*scope.split("/"), text]:
        key = hmac.new(key, word.encode(), hashlib.sha256).digest()
    credential = "Credential=" + keys[0] + "/" + scope
    headers["authorization"] = (
        "AWS4-HMAC-SHA256 " + credential + ", SignedHeaders=" + names + ", Signature=" + key.hex()
    )
    del headers["host"]
    return headers


def fetch(bucket: str, key: str, region: str) -> bytes:
    url, why = object_url(bucket, key, region), ""
    for number in range(ATTEMPTS):
        try:
            now = datetime.datetime.now(datetime.timezone.utc)  # noqa: UP017 - Python 3.8
            request = urllib.request.Request(url, headers=signed_headers(url, region, credentials(), now))
            with urllib.request.urlopen(request, timeout=30) as answer:
                text: bytes = answer.read()
                return text
        except urllib.error.HTTPError as error:
            why = str(error)
            if error.code < 500:
                break
        except OSError as error:
            why = str(error)
        # Hundreds of children start at once.
        time.sleep(2**number)
    raise StartError("s3://" + bucket + "/" + key + " cannot be read: " + why)
