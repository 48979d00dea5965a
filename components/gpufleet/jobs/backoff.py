"""Exponential backoff: growing pauses between attempts, up to a time limit."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Backoff:
    """Pauses between failed attempts, in seconds.

    first, longest: the first pause and the longest; each is twice the one before. limit: give up when every
    attempt has failed for so long.
    """

    first: float = 1.0
    longest: float = 30.0
    limit: float = 600.0
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    _since: float | None = field(default=None, init=False)
    _pause: float = field(default=0.0, init=False)

    @property
    def waiting(self) -> bool:
        """Whether the last attempt failed."""
        return self._since is not None

    @property
    def waited(self) -> float:
        """Seconds since the first of the consecutive failures."""
        return 0.0 if self._since is None else self.clock() - self._since

    def worked(self) -> None:
        self._since = None
        self._pause = 0.0

    def next_pause(self) -> float | None:
        """After a failed attempt: the pause before the next, or None to give up."""
        now = self.clock()
        if self._since is None:
            self._since = now
        left = self.limit - (now - self._since)
        if left <= 0:
            return None
        self._pause = min(self._pause * 2 or self.first, self.longest)
        return min(self._pause, left)

    def pause(self) -> bool:
        """Wait after a failed attempt. False: the limit is reached, give up."""
        seconds = self.next_pause()
        if seconds is None:
            return False
        self.sleep(seconds)
        return True
