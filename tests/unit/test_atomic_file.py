import os
import stat
from pathlib import Path

import pytest

from gpufleet.atomic_file import update_file, write_atomically


def mode_of(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


@pytest.mark.parametrize(
    ("before", "given", "after"),
    [(None, None, 0o644), (0o640, None, 0o640), (None, 0o600, 0o600), (0o644, 0o600, 0o600), (0o600, 0o755, 0o755)],
)
def test_mode_is_the_one_given_else_that_of_the_file_before(
    tmp_path: Path, before: int | None, given: int | None, after: int
) -> None:
    file = tmp_path / "file"
    if before is not None:
        file.write_text("old")
        file.chmod(before)
    write_atomically(file, "new\r\nä\n", mode=given)
    assert (file.read_bytes(), mode_of(file)) == ("new\r\nä\n".encode(), after)
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_content_is_not_readable_by_others_before_its_mode_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes = []
    monkeypatch.setattr(os, "fchmod", lambda handle, mode: modes.append(stat.S_IMODE(os.fstat(handle).st_mode)))
    write_atomically(tmp_path / "file", b"secret", mode=0o600)
    assert modes == [0o600]


def test_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_text("old")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(file, "new", sync=True)
    assert (file.read_text(), [each.name for each in tmp_path.iterdir()]) == ("old", ["file"])


def test_update_writes_only_what_changes(tmp_path: Path) -> None:
    file = tmp_path / "file"
    update_file(file, "one", mode=0o755)
    first = file.stat()
    update_file(file, "one")
    assert (file.stat().st_ino, mode_of(file)) == (first.st_ino, 0o755)
    update_file(file, "two")
    assert (file.read_text(), mode_of(file)) == ("two", 0o644)
