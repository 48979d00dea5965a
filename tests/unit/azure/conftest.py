"""Azure Resource Manager as the tests of preflight play it, and a subscription that it answers for."""

import importlib.util
from pathlib import Path

import pytest

from azure_subscription import Subscription

_SPEC = importlib.util.spec_from_file_location("played_arm", Path(__file__).parents[1] / "preflight" / "conftest.py")
_PLAYED = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_PLAYED)
azure, arm, waits = _PLAYED.azure, _PLAYED.arm, _PLAYED.waits


@pytest.fixture
def subscription(azure):
    return Subscription(azure)
