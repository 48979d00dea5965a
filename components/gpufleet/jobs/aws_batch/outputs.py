"""The files that a job has written to the environment's bucket: list and download.

A file arrives beside its name, as NAME.gpufleet-part-MARK (of the object's ETag), and takes its name, and the object's
time of change, once its size is right; what an interrupted copy has left is gone on with, unless the object has changed
since. A file here that has the object's size and time of change is not fetched again.
"""

import hashlib
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path, PurePosixPath
from threading import Event
from typing import Any

from gpufleet.errors import UserError
from gpufleet.jobs.aws_batch.client import AwsBatchClient, AwsBusy, error_code
from gpufleet.jobs.aws_batch.jobs import AwsBatchJobs
from gpufleet.jobs.aws_batch.settings import AwsBatchSettings
from gpufleet.jobs.aws_batch.sweep_results import SweepResults
from gpufleet.jobs.backoff import Backoff
from gpufleet.jobs.file_transfer import Progress, TransferredFile
from gpufleet.rules.messages import one_line

AT_ONCE = 8
"""Files that are fetched at the same time: a sweep has thousands of small ones, and each is a separate call. Below
the ten connections of a botocore client, which threads may share (boto/boto3#1592)."""
_PIECE = 2**20


@dataclass(frozen=True)
class OutputFile:
    """One file of a job. path: below the job's prefix. changed: when it was written."""

    path: str
    size: int
    changed: datetime
    key: str
    etag: str


@dataclass
class AwsBatchOutputs:
    """The outputs of one environment's jobs.

    progress: called with a path, its bytes so far, and its size, by several threads. backoff: the pauses of one file.
    """

    aws: AwsBatchClient
    settings: AwsBatchSettings
    environment: str
    progress: Progress = lambda path, done, size: None
    backoff: Backoff = field(default_factory=Backoff)

    def list_files(self, job: str) -> list[OutputFile]:
        """A job's files, by name; JOB:7 is a child of an array. Errors: UserError, also where there are none."""
        prefix = f"{self.settings.key(job.replace(':', '/'))}/"
        found = [_output(each, prefix) for each in self._objects(prefix) if not each["Key"].endswith("/")]
        if not found:
            raise UserError(
                f"{job}: there is nothing at s3://{self._bucket}/{prefix}; a job writes its outputs to "
                f"$GPUFLEET_OUTPUTS, and `gpufleet jobs list {self.environment}` knows the jobs of the last days"
            )
        return sorted(found, key=lambda each: each.path)

    def get(self, job: str, to: Path) -> Iterator[TransferredFile]:
        """Copy all of a job's files to a directory, `AT_ONCE` at a time. Errors: UserError."""
        found = self.list_files(job)
        places = [to / _inside(each.path) for each in found]
        stop, workers = Event(), ThreadPoolExecutor(AT_ONCE)
        try:
            yield from workers.map(lambda output, file: self._get(output, file, stop), found, places)
        finally:
            # After an error, or Ctrl-C, what is under way ends with its next piece.
            stop.set()
            workers.shutdown(cancel_futures=True)

    def tables(self, job: str, directory: Path) -> Iterator[str]:
        """Write the table of a sweep whose files are in the directory, with a line about it. Errors: UserError."""
        return SweepResults(AwsBatchJobs(self.aws, self.settings, self.environment), job, directory).write()

    @property
    def _bucket(self) -> str:
        if self.settings.bucket is None:
            raise UserError(
                f"{self.environment}: the stack's outputs have no bucket (jobs.bucket); run `pulumi up` with one"
            )
        return self.settings.bucket

    def _objects(self, prefix: str) -> Iterator[dict[str, Any]]:
        try:
            yield from self.aws.ask("s3", "list_objects_v2", "Contents[]", Bucket=self._bucket, Prefix=prefix)
        except UserError as error:
            if error_code(error) == "NoSuchBucket":
                raise UserError(
                    f"{self.environment}: bucket={self._bucket}: bucket not found; `pulumi up` makes it"
                ) from error
            raise

    def _get(self, output: OutputFile, file: Path, stop: Event) -> TransferredFile:
        changed = output.changed.timestamp()
        try:
            if file.is_file() and file.stat().st_size == output.size and int(file.stat().st_mtime) == int(changed):
                return TransferredFile(output.path, output.size, 0)
            file.parent.mkdir(parents=True, exist_ok=True)
            mark = hashlib.sha256(output.etag.encode()).hexdigest()[:8]
            part = file.with_name(f"{file.name}.gpufleet-part-{mark}")
            moved = self._fill(output, part, stop)
            os.utime(part, (changed, changed))
            part.replace(file)
        except OSError as error:
            raise UserError(f"{error.filename or file}: {error.strerror}; give another directory") from error
        return TransferredFile(output.path, output.size, moved)

    def _fill(self, output: OutputFile, part: Path, stop: Event) -> int:
        """Fetch what the part lacks, over as many connections as it takes. Returns the bytes that came."""
        moved, backoff = 0, replace(self.backoff)
        while True:
            has = part.stat().st_size if part.exists() else 0
            if has > output.size:
                part.unlink()
                continue
            if has == output.size:
                if not has:
                    part.touch()
                return moved
            try:
                for length in self._pieces(output, part, has):
                    if stop.is_set():
                        raise UserError(f"{output.path}: is not whole; run the same command again")
                    moved += length
                    has += length
                    backoff.worked()
                    self.progress(output.path, has, output.size)
            except AwsBusy as error:
                if not backoff.pause():
                    raise UserError(
                        f"{output.path}: {error}; what is here is kept, run the same command again to continue"
                    ) from error

    def _pieces(self, output: OutputFile, part: Path, begin: int) -> Iterator[int]:
        """Append to the part from a byte on; the length of each piece. Errors: AwsBusy, when the connection breaks."""
        from botocore import exceptions as botocore

        where = {"Bucket": self._bucket, "Key": output.key, "IfMatch": output.etag}
        try:
            answer = self.aws.call("s3", "get_object", **where, **({"Range": f"bytes={begin}-"} if begin else {}))
        except UserError as error:
            if error_code(error) in ("PreconditionFailed", "412", "NoSuchKey"):
                raise UserError(f"{output.path}: has changed in the meantime; run the same command again") from error
            raise
        with part.open("ab") as file:
            try:
                for piece in answer["Body"].iter_chunks(_PIECE):
                    file.write(piece)
                    yield len(piece)
            except (botocore.HTTPClientError, botocore.IncompleteReadError) as error:
                raise AwsBusy(f"s3://{self._bucket}/{output.key}: {' '.join(str(error).split())}") from error


def _output(found: dict[str, Any], prefix: str) -> OutputFile:
    key = str(found["Key"])
    return OutputFile(key.removeprefix(prefix), int(found["Size"]), found["LastModified"], key, str(found["ETag"]))


def _inside(path: str) -> PurePosixPath:
    """The path, which other programs have made, when it stays inside. Errors: UserError."""
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts) or "\0" in path:
        raise UserError(f"{one_line(path)}: is not a valid local path; copy it with `aws s3 cp`")
    return PurePosixPath(path)
