"""A small image, made by hand and pushed with skopeo: for tests that need one and no builder."""

import gzip
import hashlib
import io
import json
import random
import subprocess
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.cluster.command_line import SECONDS
from tests.cluster.registry_program import RegistryProgram

_OCI = "application/vnd.oci.image"


def push_tiny(
    registry: RegistryProgram,
    folder: Path,
    name: str,
    *layers: Mapping[str, bytes],
    noise: int = 0,
    **configuration: object,
) -> str:
    """Push `name` (repository:tag) and return its digest. layers: content of files by name. noise: bytes that nothing
    compresses, in a layer of their own. configuration: what the image's `config` holds."""
    every = [*layers, {"noise": random.Random(noise).randbytes(noise)}] if noise else list(layers)
    folder = folder / name.replace("/", "-").replace(":", "-")
    (folder / "blobs" / "sha256").mkdir(parents=True)
    packed, plain = [], []
    for files in every:
        tar = _tar(files)
        plain.append(f"sha256:{hashlib.sha256(tar).hexdigest()}")
        packed.append(_put(folder, gzip.compress(tar, 1, mtime=0), f"{_OCI}.layer.v1.tar+gzip"))
    image = {
        "architecture": "amd64",
        "os": "linux",
        "config": configuration,
        "rootfs": {"type": "layers", "diff_ids": plain},
    }
    manifest = {
        "schemaVersion": 2,
        "mediaType": f"{_OCI}.manifest.v1+json",
        "config": _put(folder, json.dumps(image).encode(), f"{_OCI}.config.v1+json"),
        "layers": packed,
    }
    entry = _put(folder, json.dumps(manifest).encode(), f"{_OCI}.manifest.v1+json")
    (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    (folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [entry]}))
    command = ["skopeo", "copy", "--quiet", "--preserve-digests", "--dest-tls-verify=false"]
    command += ["--authfile", str(registry.login), f"oci:{folder}", f"docker://{registry.host}/{name}"]
    subprocess.run(command, check=True, capture_output=True, timeout=SECONDS)
    return str(entry["digest"])


def _tar(files: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return out.getvalue()


def _put(folder: Path, content: bytes, kind: str) -> dict[str, Any]:
    digest = hashlib.sha256(content).hexdigest()
    (folder / "blobs" / "sha256" / digest).write_bytes(content)
    return {"mediaType": kind, "digest": f"sha256:{digest}", "size": len(content)}
