"""Keys and tokens of one control plane, made when it starts, and the kubeconfig that has them. All files are 0600."""

import json
import os
import secrets
import shutil
import subprocess
from base64 import b64encode
from pathlib import Path

ADMIN = "gpufleet-admin"


class KeysMissing(Exception):
    """Keys cannot be made here; the text says what to install."""


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner may read, whole or not at all."""
    fresh = path.with_name(f".{path.name}.new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    fresh.replace(path)


def make_token_file(path: Path) -> str:
    """A new token of the administrator, in the API server's form (token,user,uid,groups); returns the token."""
    token = secrets.token_hex(24)
    write_private(path, f'{token},{ADMIN},{ADMIN},"system:masters"\n')
    return token


def make_signing_key(path: Path) -> None:
    """The RSA key that service accounts' tokens are signed with. Raises KeysMissing."""
    openssl = shutil.which("openssl")
    if openssl is None:
        raise KeysMissing("no `openssl` on PATH, which makes the key of service accounts; install the package openssl")
    # -traditional would be an option of OpenSSL 3 alone; the API server reads both forms.
    done = subprocess.run([openssl, "genrsa", "2048"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise KeysMissing(f"`openssl genrsa 2048` failed: {done.stderr.strip().splitlines()[-1:]}")
    write_private(path, done.stdout)


def kubeconfig(server: str, authority: bytes, token: str, user: str = ADMIN) -> str:
    """A kubeconfig in JSON, which every reader of YAML takes too. authority: certificates in PEM."""
    cluster = {"server": server, "certificate-authority-data": b64encode(authority).decode()}
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "rehearsal", "cluster": cluster}],
            "users": [{"name": user, "user": {"token": token}}],
            "contexts": [{"name": "rehearsal", "context": {"cluster": "rehearsal", "user": user}}],
            "current-context": "rehearsal",
        },
        indent=1,
    )
