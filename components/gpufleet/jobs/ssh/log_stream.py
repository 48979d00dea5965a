"""A job's log, read from its beginning on: no line is lost or doubled."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from gpufleet.jobs.events import Event, Kind
from gpufleet.jobs.ssh.job_folders import LOG, PIECE, JobFolders


@dataclass
class LogTail:
    """Errors of all methods: Unreached, Trouble."""

    folders: JobFolders
    name: str
    _read: int = field(default=0, init=False)
    _begun: bytes = field(default=b"", init=False)
    """The beginning of a line whose end has not come yet."""

    def new(self) -> Iterator[str]:
        """What there is beyond what was given, in whole lines."""
        while True:
            content = self.folders.read(self.name, LOG, self._read)
            self._read += len(content)
            *lines, self._begun = (self._begun + content).split(b"\n")
            for line in lines:
                yield _text(line)
            if len(content) < PIECE:
                return

    def rest(self) -> Iterator[str]:
        """The same when the job has ended: also a last line without an end."""
        yield from self.new()
        if self._begun:
            text, self._begun = self._begun, b""
            yield _text(text)

    def so_far(self, described: str) -> Iterator[Event]:
        """A line each, and a note where there is none. described: the job's state, for a person."""
        lines = 0
        for line in self.rest():
            lines += 1
            yield Event(Kind.LINE, line)
        if not lines:
            yield Event(Kind.NOTE, f"{self.name}: has written nothing yet: {described}")


def _text(line: bytes) -> str:
    return line.removesuffix(b"\r").decode(errors="replace")
