"""What holds for every test, and for every process that a test starts."""

import gc
import os
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

# Figures that the developer has refreshed must not decide whether a test passes.
os.environ["GPUFLEET_CATALOG"] = ""
# Nor must the developer's own region: components of AWS take the provider's.
for _name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
    os.environ.pop(_name, None)
# Tests make little garbage; what a thousand objects are worth to a service, a hundred thousand are here.
gc.set_threshold(100_000, 20, 20)
# How long an example takes says how busy the machine is.
settings.register_profile("ours", deadline=None)
settings.load_profile("ours")
_modules = 0


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Thousands of tests are collected, and none of them is garbage: looking for some took a third of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown() -> None:
    """Modules that a test has loaded are no garbage either: the clouds' SDKs made each look for some take 0.4 s."""
    global _modules
    if len(sys.modules) > _modules + 50:
        _modules = len(sys.modules)
        gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The mark `engine` for each test that starts the engine: all of tests/e2e, and the language host's.

    But for a few with the mark `smoke`, and for those that `make sweep` runs.
    """
    here = Path(__file__).parent
    for item in items:
        ours = here / "e2e" in item.path.parents or item.path == here / "tools" / "test_language_host.py"
        if ours and not any(item.get_closest_marker(name) for name in ("smoke", "sweep")):
            item.add_marker(pytest.mark.engine)
