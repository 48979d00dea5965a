#!/usr/bin/env python3
"""Install what tests/openmpi needs from Debian: OpenMPI, sshd, mpi4py and PyTorch for the CPU.

Looks only, in milliseconds, when all is there. 190 MB to fetch and 850 MB on disk, two to three minutes.
PyTorch of PyPI runs the same tests (GPUFLEET_TRAINING_PYTHON=/path/to/python3), but its wheels for x86-64 come with
CUDA: 3.0 GB to fetch and 5.4 GB on disk for 2.15.0, seen in November 2026.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGES = ("iproute2", "openmpi-bin", "openssh-client", "openssh-server", "python3-mpi4py", "python3-torch")
SECONDS = 1500
"""For apt-get in all, on a slow mirror."""

_NO_SERVICES = Path("/usr/sbin/policy-rc.d")
"""Debian's packages ask it before they start a service: sshd must not listen on this machine."""


class InstallFailed(Exception):
    """The packages cannot be installed; the text is one line for the user."""


def missing() -> list[str]:
    """The packages of `PACKAGES` that are not installed.

    Raises:
        InstallFailed: this is no Debian.
    """
    if not shutil.which("dpkg-query"):
        raise InstallFailed("the tests with real OpenMPI need Debian or Ubuntu; this machine has no dpkg")
    ask = ["dpkg-query", "--show", "--showformat", "${Package} ${db:Status-Status}\n", *PACKAGES]
    told = subprocess.run(ask, capture_output=True, text=True, timeout=60, check=False).stdout
    there = {line.split()[0] for line in told.splitlines() if line.endswith(" installed")}
    return [package for package in PACKAGES if package not in there]


def install(packages: list[str]) -> None:
    """Install ``packages``, starting no service.

    Raises:
        InstallFailed: not root, or apt-get fails.
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


def main() -> int:
    """Exit code 0 when all packages are there, 1 with one line otherwise."""
    try:
        packages = missing()
        if packages:
            print(f"openmpi: installing {' '.join(packages)} (minutes)", flush=True)
            install(packages)
        if still := missing():
            raise InstallFailed(f"still missing after apt-get: {' '.join(still)}")
    except InstallFailed as failure:
        print(f"openmpi: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
