"""Fixtures of the tests of stacks."""

import asyncio

import pytest


@pytest.fixture(autouse=True)
def event_loop_of_its_own():
    """Pulumi's runtime asks for the thread's event loop, which a test elsewhere may have closed and taken away."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    loop.close()
