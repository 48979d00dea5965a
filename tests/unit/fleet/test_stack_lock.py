"""The engine's lock on a stack, from its file and from the engine's words."""

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gpufleet.fleet.file_backend import stacks_of_files
from gpufleet.fleet.stack_lock import StackLock, lock_in_message, lock_of

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
Eks = Callable[..., list[dict[str, Any]]]


@pytest.mark.parametrize(
    ("content", "lock"),
    [
        ({"pid": 7, "username": "ana", "hostname": "lab", "timestamp": "2026-11-01T10:00:00.123456789+01:00"},
         StackLock(datetime(2026, 11, 1, 9, 0, 0, 123456, UTC), "ana@lab (pid 7)")),
        ({"pid": 7, "username": "ana\x1b[2J", "hostname": "lab", "timestamp": "soon"},
         StackLock(NOW, "ana\\x1b[2J@lab (pid 7)")),
        ({}, StackLock(NOW)),
        ([], StackLock(NOW)),
        (None, StackLock(NOW)),
    ],
)  # fmt: skip
def test_lock_of_a_file(content: object, lock: StackLock) -> None:
    assert lock_of(content, NOW) == lock


def test_oldest_of_several_files_counts_and_one_that_is_cut_off_has_its_time(backend: Any, eks: Eks) -> None:
    backend.put("dev", eks("dev"))
    cut = backend.file("locks/organization/training/dev/0a.json", '{"pid": 1')
    moment = datetime(2026, 10, 1, tzinfo=UTC).timestamp()
    os.utime(cut, (moment, moment))
    later = {"pid": 2, "username": "ana", "hostname": "lab", "timestamp": "2026-11-01T10:00:00Z"}
    backend.file("locks/organization/training/dev/0b.json", json.dumps(later))
    (state,) = stacks_of_files(backend.url)
    assert (state.updating, state.lock) == (True, StackLock(datetime(2026, 10, 1, tzinfo=UTC)))
    cut.unlink()
    (state,) = stacks_of_files(backend.url)
    assert state.lock is not None
    assert state.lock.words == "locked since 2026-11-01 10:00 UTC by ana@lab (pid 2)"


def test_lock_in_the_engine_s_words() -> None:
    text = (
        "the stack is currently locked by 2 lock(s). Either wait for the other process(es) to end or delete the lock "
        "file with `pulumi cancel`. s3://states/.pulumi/locks/a.json: created by runner@ci-1 (pid 4711) at "
        "2026-10-02T09:30:00+02:00 s3://states/.pulumi/locks/b.json: created by DOMAIN\\Ana B@lab (pid 3) at "
        "2026-10-03T09:30:00Z"
    )
    assert lock_in_message(text) == StackLock(datetime(2026, 10, 2, 7, 30, tzinfo=UTC), "runner@ci-1 (pid 4711)")
    assert lock_in_message("error: no credentials") is None


def test_lock_is_old_when_no_role_s_credentials_last() -> None:
    assert [StackLock(NOW - timedelta(hours=hours)).is_old(NOW) for hours in (0, 12, 12.01)] == [False, False, True]
