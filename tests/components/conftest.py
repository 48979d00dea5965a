"""Fixtures for component tests: both engine modes."""

import pytest

from tests.components.recorder import event_loop_of_its_own

__all__ = ["event_loop_of_its_own"]


@pytest.fixture(params=[True, False], ids=["preview", "update"])
def preview(request: pytest.FixtureRequest) -> bool:
    """True in preview mode (nothing that the cloud computes is known), False in update mode."""
    return bool(request.param)
