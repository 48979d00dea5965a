"""Simulated time: one timeline for every process that works on the same rehearsal."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field


class Interrupted(Exception):
    """The engine asked the plugin to stop (Ctrl-C) while the cloud was at work."""


@dataclass
class Clock:
    """Turns simulated seconds into real ones: real = simulated * `scale`.

    The timeline is anchored at (`wall0`, `simulated0`). At scale 0 nothing waits: operations are over at once, so is
    every window of eventual consistency, and time passes as on the wall.
    """

    scale: float
    wall0: float = field(default_factory=time.time)
    simulated0: float = 0.0
    wall: Callable[[], float] = time.time
    _stop: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def counts(self) -> bool:
        """Whether simulated time passes at all."""
        return self.scale > 0

    def now(self) -> float:
        """Simulated seconds since the rehearsal began."""
        return self.simulated0 + (self.wall() - self.wall0) / (self.scale or 1.0)

    def ends(self, seconds: float) -> float:
        """When something that takes so many simulated seconds and starts now is over."""
        return self.now() + (seconds if self.counts else 0.0)

    def interrupt(self) -> None:
        """End every sleep, now and from now on, with Interrupted."""
        self._stop.set()

    async def until(self, moment: float) -> None:
        """Sleep until a simulated moment; gives other work a turn in any case. Interrupted when told to stop."""
        if self._stop.is_set():
            raise Interrupted
        remaining = (moment - self.now()) * self.scale
        if remaining <= 0:
            await asyncio.sleep(0)
            return
        try:
            await asyncio.wait_for(self._stop.wait(), remaining)
        except TimeoutError:
            return
        raise Interrupted

    async def pause(self, seconds: float, least: float = 0.01) -> None:
        """Sleep so many simulated seconds, but at least `least` real ones: between two looks at the cloud."""
        if self._stop.is_set():
            raise Interrupted
        try:
            await asyncio.wait_for(self._stop.wait(), max(seconds * self.scale, least))
        except TimeoutError:
            return
        raise Interrupted
