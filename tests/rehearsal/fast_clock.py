"""A clock for tests of things that take long."""

from __future__ import annotations

import asyncio

from gpufleet_rehearsal.cloud.clock import Clock


class FastClock(Clock):
    """Time that jumps: sleeping moves the clock and takes no time."""

    def __init__(self) -> None:
        self.at = 0.0
        super().__init__(scale=1.0, wall0=0.0, wall=lambda: self.at)

    async def until(self, moment: float) -> None:
        self.at = max(self.at, moment)
        await asyncio.sleep(0)

    async def pause(self, seconds: float, least: float = 0.0) -> None:
        self.at += seconds
        await asyncio.sleep(0)
