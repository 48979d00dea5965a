"""A job's log, read from its beginning on: no line is lost or doubled."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from gpufleet.jobs.events import Event, EventKind
from gpufleet.jobs.ssh.job_folders import CHUNK_BYTES, LOG_FILE, JobFolders


@dataclass
class SshLogStream:
    """Errors of all methods: SshUnreachable, SshError."""

    folders: JobFolders
    name: str
    _read: int = field(default=0, init=False)
    _begun: bytes = field(default=b"", init=False)
    """The beginning of a line whose end has not come yet."""

    def new_lines(self) -> Iterator[str]:
        """Lines not yet returned, complete ones only."""
        while True:
            content = self.folders.read(self.name, LOG_FILE, self._read)
            self._read += len(content)
            *lines, self._begun = (self._begun + content).split(b"\n")
            for line in lines:
                yield _text(line)
            if len(content) < CHUNK_BYTES:
                return

    def remaining_lines(self) -> Iterator[str]:
        """The same after the job has ended: also a last line without a line break."""
        yield from self.new_lines()
        if self._begun:
            text, self._begun = self._begun, b""
            yield _text(text)

    def events_until_now(self, described: str) -> Iterator[Event]:
        """A line each, and a note where there is none. described: the job's state, for a person."""
        lines = 0
        for line in self.remaining_lines():
            lines += 1
            yield Event(EventKind.LINE, line)
        if not lines:
            yield Event(EventKind.NOTE, f"{self.name}: has written nothing yet: {described}")


def _text(line: bytes) -> str:
    return line.removesuffix(b"\r").decode(errors="replace")
