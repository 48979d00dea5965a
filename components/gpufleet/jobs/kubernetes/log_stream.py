"""Lines of a log that is read in several streams: each line once, in order.

The log endpoint gives a start in whole seconds only (metav1.Time), and filters line by line, so that a new stream
repeats lines. Two writers of one container (stdout and stderr) may also leave lines a little out of order. A new
stream therefore starts some seconds earlier than the newest line, and what it repeats is recognised by time stamp (in
nanoseconds) and text, as often as it was seen.
"""

from collections import Counter
from datetime import UTC, datetime

OVERLAP_SECONDS = 2
"""How much earlier a new stream starts. Our choice: writers of one container differ by milliseconds."""


class KubernetesLogStream:
    """One container's log. Feed it the bytes of streams that were asked for with timestamps=true."""

    def __init__(self) -> None:
        self._newest: int | None = None
        self._seen: list[tuple[int, bytes]] = []
        self._repeated: Counter[bytes] = Counter()
        self._rest = b""

    @property
    def since(self) -> str | None:
        """sinceTime of the next stream; None: from the beginning."""
        start = self._start
        return None if start is None else datetime.fromtimestamp(start, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    @property
    def _start(self) -> int | None:
        return None if self._newest is None else self._newest - OVERLAP_SECONDS

    def begin(self) -> None:
        """A new stream starts at `since`; half a line at the end of the last one is forgotten, it comes again."""
        self._rest = b""
        self._prune()
        self._repeated = Counter(line for _, line in self._seen)

    def feed(self, chunk: bytes) -> list[str]:
        """The new lines that this piece completes, without time stamps."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        return [text for line in lines if (text := self._new(line)) is not None]

    def finish(self) -> list[str]:
        """The log has ended: its last line may lack the line break."""
        last, self._rest = self._rest, b""
        text = self._new(last) if last else None
        return [] if text is None else [text]

    def _new(self, line: bytes) -> str | None:
        if self._repeated[line] > 0:
            self._repeated[line] -= 1
            return None
        second, text = _split(line)
        if second is None:
            # Without a time stamp it is the kubelet that speaks, not the container: it repeats itself at will.
            return text
        self._newest = second if self._newest is None else max(self._newest, second)
        self._seen.append((second, line))
        if len(self._seen) % 4096 == 0:
            self._prune()
        return text

    def _prune(self) -> None:
        start = self._start
        if start is not None:
            self._seen = [(second, line) for second, line in self._seen if second >= start]


def _split(line: bytes) -> tuple[int | None, str]:
    """The second of a line's time stamp, and its text."""
    stamp, _, text = line.partition(b" ")
    second = _second(stamp.decode("ascii", "replace"))
    return (None, line.decode(errors="replace")) if second is None else (second, text.decode(errors="replace"))


def _second(stamp: str) -> int | None:
    """Whole seconds of 2026-11-21T15:04:05.123456789Z, or with an offset."""
    head, zone = stamp[:19], stamp[19:].lstrip(".0123456789")
    if len(head) < 19 or not zone:
        return None
    try:
        return int(datetime.fromisoformat(head + zone).timestamp())
    except ValueError:
        return None
