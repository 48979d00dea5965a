"""One stream of a job's output, read from its beginning on: no line is lost or doubled.

Azure Batch writes it to a file on the primary's node, and every try has its own file. When a try has ended the
node copies it to the container of results (as submission.py requests), from where it is read once the node is gone.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from gpufleet.jobs.azure_batch.blobs import JobBlobs
from gpufleet.jobs.azure_batch.client import AzureBatchClient
from gpufleet.jobs.azure_batch.errors import AzureBatchError
from gpufleet.jobs.azure_batch.settings import TASK_ID, AzureBatchSettings

_PIECE = 4 * 2**20
_NOT_THERE = (404, 409)
"""Statuses of answers about files of nodes that are gone, or not there yet: FileNotFound, NodeNotFound,
TaskFilesUnavailable, NodeStateUnusable and the like."""


@dataclass
class AzureBatchLogStream:
    """stream: stdout.txt or stderr.txt. attempt: the try that runs, by anything that differs from the one before.

    Errors of all methods: AzureBusy, AzureBatchError.
    """

    azure: AzureBatchClient
    blobs: JobBlobs
    settings: AzureBatchSettings
    job: str
    stream: str
    attempt: object = None
    _reading: object = field(default=None, init=False)
    """The try that was told of when the file was read last."""
    _ahead: bool = field(default=False, init=False)
    """Whether the file that is read is of a later try than was told of."""
    _made: str = field(default="", init=False)
    """When the file that is read was made."""
    _read: int = field(default=0, init=False)
    _begun: bytes = field(default=b"", init=False)
    """The beginning of a line whose end has not come yet."""
    _there: bool = field(default=False, init=False)
    """Whether the node has had all that was asked of it last."""

    def new_lines(self) -> Iterator[str]:
        """Complete lines of the node's file not yet returned; none if there is no such file.

        An error between two chunks loses no line.
        """
        self._there = False
        if self.attempt != self._reading:
            if not self._ahead:
                # Its file may have been made in the same second as the one before.
                yield from self.last_line()
                self._made, self._read = "", 0
            self._reading, self._ahead = self.attempt, False
        try:
            size, made = self.azure.file_size(self.job, TASK_ID, self.stream)
        except AzureBatchError as error:
            if error.status not in _NOT_THERE:
                raise
            return
        if made != self._made or size < self._read:
            # Another try's: times have whole seconds only.
            yield from self.last_line()
            self._ahead = self._made != ""
            self._made, self._read = made, 0
        while self._read < size:
            end = min(size, self._read + _PIECE)
            try:
                content = self.azure.file(self.job, TASK_ID, self.stream, self._read, end)
            except AzureBatchError as error:
                if error.status not in _NOT_THERE:
                    raise
                return
            yield from self._lines(content)
            if not content:
                break
        self._there = True

    def remaining_lines(self) -> Iterator[str]:
        """The remaining lines after the job has ended: from its node, or from the uploaded copy."""
        yield from self.new_lines()
        yield from self.last_line() if self._there else self.uploaded_lines()

    def uploaded_lines(self) -> Iterator[str]:
        """What the copy of the try that has ended last has beyond what was given of it; then the last line."""
        content = self.blobs.read(self.settings.result, f"{self.settings.folder(self.job)}/{self.stream}", self._read)
        if content:
            yield from self._lines(content)
        yield from self.last_line()

    def last_line(self) -> Iterator[str]:
        """A last line without a line break."""
        if self._begun:
            text, self._begun = self._begun, b""
            yield _text(text)

    def _lines(self, content: bytes) -> Iterator[str]:
        self._read += len(content)
        *whole, self._begun = (self._begun + content).split(b"\n")
        for line in whole:
            yield _text(line)


def _text(line: bytes) -> str:
    return line.removesuffix(b"\r").decode(errors="replace")
