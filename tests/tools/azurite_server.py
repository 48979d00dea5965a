"""Azurite on this machine: blobs of a storage account, kept in memory, on loopback, ended with the test."""

import base64
import os
import secrets
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from tools.azurite import install

ACCOUNT = "traindata01"
_SECONDS = 180


@dataclass(frozen=True)
class Azurite:
    """endpoint: below which the account is, under its name. key: made for this run."""

    endpoint: str
    account: str
    key: str

    @property
    def url(self) -> str:
        """Of the account."""
        return f"{self.endpoint}/{self.account}"

    def service(self) -> Any:
        """A BlobServiceClient of the account's owner."""
        from azure.storage.blob import BlobServiceClient

        return BlobServiceClient(self.url, credential={"account_name": self.account, "account_key": self.key})


@contextmanager
def azurite(account: str = ACCOUNT) -> Iterator[Azurite]:
    """For tests with the mark `azurite`, which `make e2e` runs after it has installed it."""
    if not install.installed():
        pytest.fail("Azurite is not installed; run `.venv/bin/python -m tools.azurite.install`")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    key = base64.b64encode(secrets.token_bytes(32)).decode()
    command = [
        "node",
        str(install.PROGRAM),
        "--blobHost",
        "127.0.0.1",
        "--blobPort",
        str(port),
        "--inMemoryPersistence",
    ]
    command += ["--skipApiVersionCheck", "--disableTelemetry", "--silent"]
    process = subprocess.Popen(
        command,
        env={"PATH": os.environ.get("PATH", ""), "AZURITE_ACCOUNTS": f"{account}:{key}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        _wait(process, port)
        yield Azurite(f"http://127.0.0.1:{port}", account, key)
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)


def _wait(process: subprocess.Popen[bytes], port: int) -> None:
    end = time.monotonic() + _SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            said = process.stdout.read().decode(errors="replace") if process.stdout else ""
            raise AssertionError(f"Azurite ended with {process.returncode}: {said[-500:]}")
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise AssertionError(f"Azurite does not listen on port {port} after {_SECONDS} s")
