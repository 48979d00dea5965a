"""Progress of an image's download: without it, a layer of 8 GB prints nothing for minutes."""

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

_BLOB = re.compile(r"Copying blob (?P<digest>sha256:[0-9a-f]{64})")
EVERY = 15.0
"""Seconds."""


@contextmanager
def report_progress(
    cache: Path, layout: Path, due: int, say: Callable[[str], None], every: float = EVERY
) -> Iterator[None]:
    """Say how much has arrived, until the end. due: bytes. layout: where what has not fully arrived lies meanwhile."""
    before, done = _size(cache, layout), threading.Event()

    def tell() -> None:
        while not done.wait(every):
            say(f"  {max(0, _size(cache, layout) - before) / 1e6:.1f} of {due / 1e6:.1f} MB")

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def layer_progress(say: Callable[[str], None], sizes: Mapping[str, int]) -> Callable[[str], None]:
    """A callback for skopeo's output that reports each layer. sizes: bytes by digest; other blobs are skipped."""

    def hear(line: str) -> None:
        found = _BLOB.match(line)
        if found and found["digest"] in sizes:
            there = ", is there already" if "already exists" in line else ""
            say(f"  layer {found['digest'][7:19]}, {sizes[found['digest']] / 1e6:.1f} MB{there}")

    return hear


def _size(cache: Path, layout: Path) -> int:
    total = 0
    for file in (*(cache / "blobs" / "sha256").glob("*"), *layout.glob("oci-put-blob*")):
        try:
            total += file.stat().st_size
        except OSError:
            continue  # renamed meanwhile
    return total
