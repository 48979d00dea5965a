"""A job as its folder records it. Everybody who shares the folder may have written what is read here."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

import msgspec

from gpufleet.documents.content import DocumentError
from gpufleet.documents.json import parse_json

JOB_NAME = re.compile(r"[A-Za-z0-9][\w-]{0,63}", re.ASCII)
"""A job's name, which is its folder's; a folder with another name does not hold a job."""
RECORD_BYTES = 2**18
"""Most bytes of a job.json: a command may have 128 KiB (Linux: MAX_ARG_STRLEN)."""
UNREADABLE = "UNREADABLE"
"""State of a job whose folder does not hold what `gpufleet jobs submit` writes."""

_ID = re.compile(r"\d{1,20}(;[\w.-]+)?|\d{1,20} \d{1,20} [0-9a-f-]{36}", re.ASCII)
"""Slurm's, with a cluster's name where there are several; hosts: process, start and boot."""
_EXIT_CODE = re.compile(r"\d{1,3}", re.ASCII)
_FOLDER_KINDS = {"l": "is a symbolic link"}
_FILE_KINDS = {"l": "its job.json is a symbolic link", "o": "its job.json is not a file"}


class _JobJson(msgspec.Struct):
    environment: str
    created: Annotated[datetime, msgspec.Meta(tz=True)]
    nodes: Annotated[int, msgspec.Meta(ge=1)] = 1
    pool: str | None = None
    time_limit_minutes: int | None = None


@dataclass(frozen=True)
class JobRecord:
    """A job's folder. name: the folder's.

    environment: "" where it cannot be read. created: RFC 3339. id: the back end's, "" before it is submitted.
    exit_code: None while the script has not ended. owner: uid of another user that the folder or its id belongs to,
    None for the user's own. fault: why the folder cannot be read, "" otherwise.
    """

    name: str
    id: str = ""
    exit_code: int | None = None
    environment: str = ""
    created: str = ""
    nodes: int = 1
    pool: str = ""
    time_limit_minutes: int | None = None
    owner: str | None = None
    fault: str = ""


def parse_records(listing: bytes) -> Iterator[JobRecord]:
    """The jobs in a listing, a line each: uid of the user, owner of the folder, owner of the id, kind of folder, kind
    of job.json, name, id, exit code, job.json; with tabs between."""
    for line in listing.split(b"\n"):
        words = line.split(b"\t", 8)
        if len(words) == 9:
            *told, content = words
            yield _record([word.decode("utf-8", "replace").strip() for word in told], content)


def _record(words: list[str], content: bytes) -> JobRecord:
    user, owner, owner_of_id, folder, file, name, job, code = words
    strangers = [each for each in (owner, owner_of_id) if each not in ("", user)]
    stranger = strangers[0] if strangers else None
    fault = _FOLDER_KINDS.get(folder) or _FILE_KINDS.get(file)
    if not fault and job and not _ID.fullmatch(job):
        fault = "its id is not the id of a job"
    if not fault and code and not _EXIT_CODE.fullmatch(code):
        fault = "its exit.txt is not an exit code"
    if not fault and not content.strip():
        fault = "its job.json is empty, or not yours to read"
    if fault:
        return JobRecord(name, owner=stranger, fault=fault)
    try:
        found = parse_json(content, name, shape=_JobJson, most=RECORD_BYTES)
    except DocumentError as error:
        return JobRecord(name, owner=stranger, fault=f"its job.json: {error.reason}")
    return JobRecord(
        name,
        job.partition(";")[0],
        int(code) if code else None,
        found.environment,
        found.created.isoformat().replace("+00:00", "Z"),
        found.nodes,
        found.pool or "",
        found.time_limit_minutes,
        stranger,
    )
