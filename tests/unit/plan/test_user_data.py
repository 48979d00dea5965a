"""Forms of user data."""

import base64
import gzip

import pytest

from gpufleet.plan.user_data import form_of

MIME = b'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="="\n'


@pytest.mark.parametrize(
    ("data", "form"),
    [
        (MIME, "MIME multipart"),
        (b"\n" + MIME.lower(), "MIME multipart"),
        (b'Content-Type: multipart/mixed; boundary="="\nMIME-Version: 1.0\n', "MIME multipart"),
        (gzip.compress(MIME, mtime=0), "gzip"),
        (b"#!/bin/bash\nx=1\n", "text"),
        (b"#cloud-config\n", "text"),
        (b'[settings.kubernetes]\ncluster-name = "train"\n', "TOML"),
        (b"# ours\n[settings.host-containers.admin]\nenabled = true\n", "TOML"),
        (b"", "text"),
    ],
)
def test_form(data: bytes, form: str) -> None:
    assert form_of(base64.b64encode(data).decode()) == form


@pytest.mark.parametrize("text", ["#!/bin/bash", "MIME-Version: 1.0", "é", "a"])
def test_what_is_not_base64(text: str) -> None:
    assert form_of(text) == "not base64"
