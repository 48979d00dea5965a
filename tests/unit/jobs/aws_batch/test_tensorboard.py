"""`gpufleet jobs outputs get --tensorboard`, with a program in place of TensorBoard: what it shows is TensorBoard's."""

import os
from pathlib import Path
from typing import Any

import pytest

from gpufleet.cli import tensorboard
from tests.tools.fake_aws import BUCKET, FakeAws

EVENTS = "events.out.tfevents.1"
PROGRAM = f"""#!/bin/bash
# Ends with 3 when a file is there that the job writes later, as a reader of the folder would see it.
echo "$@" > "$TOLD"
for _ in $(seq 600); do [ -f "$2/later/{EVENTS}" ] && exit 3; sleep 0.1; done
"""


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the program writes what it was called with."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "tensorboard"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("TOLD", str(tmp_path / "told"))
    monkeypatch.setattr(tensorboard, "RENEWED_SECONDS", 0.2)
    return tmp_path / "told"


def put(here: FakeAws, name: str) -> None:
    here.client("s3").put_object(Bucket=BUCKET, Key=f"jobs/train/{name}", Body=b"x")


def test_files_that_come_later_are_copied(
    here: FakeAws, run: Any, told: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(here, EVENTS)
    shown = tensorboard.show_in_tensorboard

    def job_goes_on(program: str, folder: Path, copy_again: Any) -> int:
        put(here, f"later/{EVENTS}")
        return shown(program, folder, copy_again)

    monkeypatch.setattr("gpufleet.cli.job_outputs.show_in_tensorboard", job_goes_on)
    done = run("jobs", "outputs", "get", "dev", "train", str(tmp_path / "run"), "--tensorboard")
    assert done.exit_code == 3, done.output
    assert told.read_text() == f"--logdir {tmp_path / 'run'} --host localhost\n"
    assert (tmp_path / "run" / EVENTS).exists()


def test_a_copy_that_fails_is_tried_again(told: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from gpufleet.errors import UserError

    tries = []

    def copy_again() -> None:
        tries.append(1)
        if len(tries) == 1:
            raise UserError("dev: is not reached")
        (tmp_path / "run" / "later").mkdir(parents=True)
        (tmp_path / "run" / "later" / EVENTS).touch()

    program = tensorboard.tensorboard_program(as_json=False)
    assert tensorboard.show_in_tensorboard(program, tmp_path / "run", copy_again) == 3
    assert "Error: dev: is not reached; trying again" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ([], "tensorboard: is not on PATH; install it, `pip install tensorboard`, or leave out --tensorboard"),
        (["--json"], "tensorboard: shows a page until Ctrl-C; leave out --json"),
    ],
)
def test_said_before_anything_is_copied(
    here: FakeAws, run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], line: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    put(here, EVENTS)
    done = run("jobs", "outputs", "get", "dev", "train", str(tmp_path / "run"), "--tensorboard", *words)
    assert (done.exit_code, done.stderr) == (1, f"Error: {line}\n")
    assert not (tmp_path / "run").exists()
