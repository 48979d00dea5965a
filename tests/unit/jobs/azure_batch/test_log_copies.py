"""What the master node of a task copies of its log: whole files, and nothing that ends the training."""

from pathlib import Path

import pytest

from gpufleet.jobs.node_runtime.log_copies import copy_log


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of a task, whose log has one line."""
    directory = tmp_path / "task"
    directory.mkdir()
    monkeypatch.setenv("AZ_BATCH_TASK_DIR", str(directory))
    (directory / "stdout.txt").write_text("epoch 1\n")
    return directory


def test_each_copy_is_the_log_as_it_is(task: Path, tmp_path: Path) -> None:
    target = tmp_path / "mount" / "tries" / "2026-11-23T140000Z"
    copy_log(target)
    assert {each.name: each.read_text() for each in target.iterdir()} == {"stdout.txt": "epoch 1\n"}
    (task / "stdout.txt").write_text("epoch 1\nepoch 2\n")
    (task / "stderr.txt").write_text("warning\n")
    copy_log(target)
    assert {each.name: each.read_text() for each in target.iterdir()} == {
        "stdout.txt": "epoch 1\nepoch 2\n",
        "stderr.txt": "warning\n",
    }


def test_a_mount_that_takes_no_file_ends_no_training(task: Path, tmp_path: Path) -> None:
    (tmp_path / "mount").write_text("not a directory")
    copy_log(tmp_path / "mount" / "tries")
    assert (tmp_path / "mount").read_text() == "not a directory"
