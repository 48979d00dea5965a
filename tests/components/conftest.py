"""Fixtures for component tests: both engine modes."""

import asyncio
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def event_loop_of_its_own() -> Iterator[None]:
    """Pulumi's runtime asks for the thread's event loop, which a test elsewhere may have closed and taken away."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    loop.close()


@pytest.fixture(params=[True, False], ids=["preview", "update"])
def preview(request: pytest.FixtureRequest) -> bool:
    """True in preview mode (nothing that the cloud computes is known), False in update mode."""
    return bool(request.param)
