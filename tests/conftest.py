"""What holds for every test, and for every process that a test starts."""

import gc
import os
from collections.abc import Generator
from pathlib import Path

import pytest

# Figures that the developer has refreshed must not decide whether a test passes.
os.environ["GPUFLEET_CATALOG"] = ""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Thousands of tests are collected, and none of them is garbage: looking for some took a third of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The mark `engine` for each test that starts the engine: all of tests/e2e, and the language host's.

    But for a few with the mark `smoke`, and for those that `make sweep` runs.
    """
    here = Path(__file__).parent
    for item in items:
        ours = here / "e2e" in item.path.parents or item.path == here / "tools" / "test_language_host.py"
        if ours and not any(item.get_closest_marker(name) for name in ("smoke", "sweep")):
            item.add_marker(pytest.mark.engine)
