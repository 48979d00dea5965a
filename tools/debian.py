"""Packages of Debian or Ubuntu that tests need: looked for in milliseconds, installed without starting a service."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

SECONDS = 1500
"""For apt-get in all, on a slow mirror."""

_NO_SERVICES = Path("/usr/sbin/policy-rc.d")
"""Debian's packages ask it before they start a service: none must listen on this machine."""


class InstallFailed(Exception):
    """The packages cannot be installed; the text is one line for the user."""


def missing(packages: Sequence[str]) -> list[str]:
    """Those of `packages` that are not installed.

    Raises:
        InstallFailed: this is no Debian.
    """
    if not shutil.which("dpkg-query"):
        raise InstallFailed(f"{' '.join(packages)}: come from Debian or Ubuntu; this machine has no dpkg")
    ask = ["dpkg-query", "--show", "--showformat", "${Package} ${db:Status-Status}\n", *packages]
    told = subprocess.run(ask, capture_output=True, text=True, timeout=60, check=False).stdout
    there = {line.split()[0] for line in told.splitlines() if line.endswith(" installed")}
    return [package for package in packages if package not in there]


def install(packages: Sequence[str]) -> None:
    """Install `packages`, and nothing that they merely recommend.

    Raises:
        InstallFailed: not root, apt-get fails, or they are missing afterwards.
    """
    if os.geteuid() != 0:
        raise InstallFailed(f"missing: {' '.join(packages)}; run as root: apt-get install {' '.join(packages)}")
    ours = not _NO_SERVICES.exists()
    if ours:
        _NO_SERVICES.write_text("#!/bin/sh\nexit 101\n")
        _NO_SERVICES.chmod(0o755)
    try:
        _apt("update", "-qq")
        _apt("install", "-y", "-qq", "--no-install-recommends", *packages)
    finally:
        if ours:
            _NO_SERVICES.unlink()
    if still := missing(packages):
        raise InstallFailed(f"still missing after apt-get: {' '.join(still)}")


def have(packages: Sequence[str], what: str) -> int:
    """Install what is missing of `packages`. what: begins each line. Exit code 1 after one line that says why not."""
    try:
        if lacking := missing(packages):
            print(f"{what}: installing {' '.join(lacking)}", flush=True)
            install(lacking)
    except InstallFailed as failure:
        print(f"{what}: {failure}", file=sys.stderr)
        return 1
    return 0


def _apt(*words: str) -> None:
    # Another apt-get may be at work: wait for its lock rather than fail.
    command = ["apt-get", "-o", "DPkg::Lock::Timeout=300", *words]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(
            command,
            env=environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise InstallFailed(f"apt-get {words[0]} took more than {SECONDS} s; run it by hand") from None
    if done.returncode:
        told = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise InstallFailed(f"apt-get {words[0]}: {told}")
