"""`gpufleet` as a user runs it, a process of its own, for an environment on the tests' control plane."""

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tools.kubernetes.control_plane import ControlPlane

GPUFLEET = str(Path(sys.executable).with_name("gpufleet"))
SECONDS = 600
"""The most that one command may take that ends by itself."""


def outputs(
    plane: ControlPlane,
    namespace: str,
    folder: Path,
    *,
    kubeconfig: object = None,
    jobs: dict[str, Any] | None = None,
    **pools: dict[str, Any],
) -> str:
    """A file like `pulumi stack output --json --show-secrets` makes it. kubeconfig: instead of the administrator's."""
    file = folder / "outputs.json"
    content = {
        "kubeconfig": plane.kubeconfig.read_text() if kubeconfig is None else kubeconfig,
        "registry_urls": {"dev/training": "registry.invalid/dev/training"},
        "jobs": {"namespace": namespace, "pools": pools, **(jobs or {})},
    }
    file.write_text(json.dumps(content))
    return str(file)


def gpufleet(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([GPUFLEET, *arguments], capture_output=True, text=True, timeout=SECONDS, check=False)


@contextmanager
def running(*arguments: str) -> Iterator["subprocess.Popen[str]"]:
    """A command that goes on while the test does; killed at its end, or after SECONDS.

    Ctrl-C reaches it even where the tests run in the background of a shell, which has its children ignore it.
    """
    process = subprocess.Popen(
        [GPUFLEET, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    watchdog = threading.Timer(SECONDS, process.kill)
    watchdog.start()
    try:
        yield process
    finally:
        watchdog.cancel()
        process.kill()
        process.communicate()


def said_until(process: "subprocess.Popen[str]", *words: str) -> list[str]:
    """The lines of a command up to the first one with all of these words."""
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line.rstrip("\n"))
        if all(word in line for word in words):
            return said
    raise AssertionError(f"ended with {process.wait()} before a line with {words}: {said}")


def said_to_the_end(process: "subprocess.Popen[str]") -> tuple[list[str], int]:
    """The lines that a command still says, and its exit code."""
    assert process.stderr is not None
    lines = process.stderr.read().splitlines()
    return lines, process.wait()
