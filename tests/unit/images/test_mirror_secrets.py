"""Secrets in layers: each pattern finds its kind, and not what merely looks like it. The secrets are made up here."""

import gzip
import hashlib
import io
import json
import tarfile
from pathlib import Path

import pytest

from gpufleet.errors import UserError
from gpufleet.images.mirror.oci_layout import MANIFEST, OciLayout
from gpufleet.images.mirror.secrets import MAX_BYTES, Secret, known_patterns, secrets_in
from tests.unit.secret_examples import CERTAIN

CLEAN = {
    "a public key": "-----BEGIN PUBLIC KEY-----\nMIIEpAIBAAKCAQEA0000",
    "the words alone": 'if text.startswith("-----BEGIN PRIVATE KEY-----"):',
    "a longer word": "XAKIAABCDEFGHIJKLMNOPQ",
    "no value": "aws_secret_access_key = ${SECRET}",
    "an empty login": '{"auths": {"nvcr.io": {}}}',
    "short": "nvapi-abc ghp_abc hf_abc pul-abc",
    "what documentation is full of": "docker login --password hunter22 https://me:pw@host eyJhbGciOiJI.eyJzdWIiOiIx",
}


def image(folder: Path, *layers: dict[str, bytes], env: tuple[str, ...] = (), packed: bool = True) -> OciLayout:
    made = OciLayout.create(folder, "image")

    def put(content: bytes) -> dict[str, object]:
        digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
        made.blob(digest).write_bytes(content)
        return {"digest": digest, "size": len(content)}

    def packed_layer(files: dict[str, bytes]) -> bytes:
        stream = io.BytesIO()
        with tarfile.open(fileobj=stream, mode="w") as tar:
            for name, content in files.items():
                member = tarfile.TarInfo(name)
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
        return gzip.compress(stream.getvalue()) if packed else stream.getvalue()

    configuration = put(json.dumps({"config": {"Env": list(env)}}).encode())
    entries = [put(packed_layer(files)) for files in layers]
    made.put({"schemaVersion": 2, "mediaType": MANIFEST, "config": configuration, "layers": entries})
    return made


def test_patterns_that_may_be_allowed() -> None:
    assert {*CERTAIN, "netrc", "git-credentials"} == set(known_patterns())


@pytest.mark.parametrize("pattern", CERTAIN)
def test_pattern_is_found_in_a_file_and_in_a_variable(pattern: str, tmp_path: Path) -> None:
    made = image(tmp_path, {"etc/file": f"first line\n{CERTAIN[pattern]}\n".encode()}, env=(f"A={CERTAIN[pattern]}",))
    layer = made.manifest["layers"][0]["digest"]
    assert secrets_in(made, tmp_path / "memory") == [
        Secret(pattern, "etc/file", layer),
        Secret(pattern, "variable A", "config"),
    ]


@pytest.mark.parametrize("name", CLEAN)
def test_what_looks_like_one_is_none(name: str, tmp_path: Path) -> None:
    assert secrets_in(image(tmp_path, {"file": CLEAN[name].encode()}), tmp_path / "memory") == []


def test_deleted_file_is_found_in_the_layer_below(tmp_path: Path) -> None:
    secret = CERTAIN["pulumi-token"].encode()
    made = image(tmp_path, {"root/.netrc": b"machine x", "token": secret}, {".wh.token": b""}, packed=False)
    found = [(each.pattern, each.place) for each in secrets_in(made, tmp_path / "memory")]
    assert found == [("netrc", "root/.netrc"), ("pulumi-token", "token")]
    assert CERTAIN["pulumi-token"] not in "".join(each.read_text() for each in (tmp_path / "memory").iterdir())


def test_size_and_binaries_bound_the_search(tmp_path: Path) -> None:
    secret = CERTAIN["pulumi-token"].encode()
    files = {"full": secret.rjust(MAX_BYTES), "above": secret.rjust(MAX_BYTES + 1), "binary": b"\0" + secret}
    assert [each.place for each in secrets_in(image(tmp_path, files), tmp_path / "memory")] == ["full"]


def test_layer_that_cannot_be_read_is_no_pass(tmp_path: Path) -> None:
    made = image(tmp_path, {"file": b"text"})
    made.blob(made.manifest["layers"][0]["digest"]).write_bytes(b"\x28\xb5\x2f\xfd zstd")
    with pytest.raises(UserError, match=r"cannot be read for secrets: .*; layers have to be tar, alone or with gzip"):
        secrets_in(made, tmp_path / "memory")
