"""Azure Resource Manager as the tests of preflight play it, and a subscription that it answers for."""

import pytest

from tests.unit.azure.azure_subscription import Subscription
from tests.unit.preflight.conftest import arm, azure, waits

__all__ = ["arm", "azure", "waits"]


@pytest.fixture
def subscription(azure):
    return Subscription(azure)
