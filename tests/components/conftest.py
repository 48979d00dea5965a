"""Fixtures for component tests: both engine modes."""

import pytest


@pytest.fixture(params=[True, False], ids=["preview", "update"])
def preview(request: pytest.FixtureRequest) -> bool:
    """True in preview mode (nothing that the cloud computes is known), False in update mode."""
    return bool(request.param)
