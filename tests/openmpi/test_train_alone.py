"""examples/train without mpirun: one rank. What a user can get wrong is one line, and a damaged file costs little."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.openmpi.job_run import ROOT
from tests.openmpi.log_lines import progress

pytestmark = pytest.mark.cluster

EXAMPLE = ROOT / "examples" / "train"
SECONDS = 600


class Example:
    """The example's programs, with a data set of 256 pictures in ``folder``."""

    def __init__(self, python: Path, folder: Path) -> None:
        self.python, self.folder = python, folder

    def command(self, program: str, *words: object) -> list[str]:
        return [str(self.python), str(EXAMPLE / program), *map(str, words)]

    def train(self, *words: object, **environment: str) -> subprocess.CompletedProcess[str]:
        return self.run(self.train_command(*words), **environment)

    def train_command(self, *words: object) -> list[str]:
        places = ["--data", self.folder / "data", "--checkpoints", self.folder / "checkpoints"]
        return self.command("train.py", *places, "--batch", 8, "--log-every", 5, "--checkpoint-every", 5, *words)

    def run(self, command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
        clean = {"PATH": os.environ["PATH"], "OMP_NUM_THREADS": "1", **environment}
        return subprocess.run(command, env=clean, capture_output=True, text=True, timeout=SECONDS, check=False)

    def refusal(self, *words: object, **environment: str) -> str:
        """The one line of a run that is refused."""
        done = self.train(*words, **environment)
        assert done.returncode == 1, done.stdout
        (line,) = done.stderr.splitlines()
        return line


@pytest.fixture(scope="module")
def pictures(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pictures")
    example = Example(python, folder)
    done = example.run(example.command("make_data.py", folder, "--images", 256))
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def example(python: Path, tmp_path: Path, pictures: Path) -> Example:
    shutil.copytree(pictures, tmp_path / "data")
    return Example(python, tmp_path)


def test_trains_and_ends(example: Example):
    done = example.train("--steps", 10)
    assert done.returncode == 0, done.stderr
    assert [line.step for line in progress(done.stdout)] == [5, 10]
    assert "done step=10 accuracy=" in done.stdout
    again = example.train("--steps", 10)
    assert again.stdout.splitlines()[0] == "resumed step=10"
    assert progress(again.stdout) == []


def test_synthetic_data_and_a_place_for_outputs_need_no_volume(example: Example):
    """The words of `first_job`, where a job finds GPUFLEET_OUTPUTS."""
    outputs = example.folder / "outputs"
    words = example.command("train.py", "--synthetic", "--steps", 10, "--batch", 8, "--log-every", 5)
    done = example.run(words, GPUFLEET_OUTPUTS=str(outputs))
    assert done.returncode == 0, done.stderr
    accuracy = done.stdout.rpartition("done step=10 accuracy=")[2].strip()
    result = json.loads((outputs / "result.json").read_text())
    assert (result["steps"], f"{result['accuracy']:.4f}", result["learning_rate"]) == (10, accuracy, 0.03)
    assert [path.name for path in (outputs / "checkpoints").iterdir()] == ["step-000000010.pt"]


def test_damaged_checkpoint_costs_the_steps_since_the_one_before(example: Example):
    example.train("--steps", 10)
    newest = example.folder / "checkpoints" / "step-000000010.pt"
    newest.write_bytes(newest.read_bytes()[:1000])
    done = example.train("--steps", 15)
    assert done.returncode == 0, done.stderr
    assert f"{newest}: cannot be read, taking the one before" in done.stdout
    assert "resumed step=5\n" in done.stdout


def test_only_damaged_checkpoints_are_not_taken_for_a_new_run(example: Example):
    (example.folder / "checkpoints").mkdir()
    (example.folder / "checkpoints" / "step-000000010.pt").write_bytes(b"")
    line = example.refusal("--steps", 15)
    told = f"{example.folder}/checkpoints: no checkpoint in it can be read; repair it, or give --checkpoints"
    assert line == f"train.py: rank 0: {told}"


def test_half_written_checkpoint_is_passed_over_and_cleared_away(example: Example):
    example.train("--steps", 5)
    half = example.folder / "checkpoints" / "step-000000007.part"
    half.write_bytes(b"half")
    assert "resumed step=5\n" in example.train("--steps", 10).stdout
    names = sorted(path.name for path in half.parent.iterdir())
    assert names == ["step-000000005.pt", "step-000000010.pt"]


def test_a_kill_at_any_moment_leaves_checkpoints_that_can_be_read(example: Example):
    """Five kills at moments spread over a run that does little else than saving."""
    before = 0
    for moment in range(5):
        started = subprocess.Popen(
            example.train_command("--steps", 100_000, "--checkpoint-every", 1),
            env={"PATH": os.environ["PATH"], "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert started.stdout
        for line in started.stdout:
            if line.startswith("saved"):
                break
        time.sleep(0.07 * moment)
        started.kill()
        rest = started.communicate(timeout=SECONDS)[0]
        assert "cannot be read" not in rest
        names = sorted((example.folder / "checkpoints").glob("step-*.pt"))
        assert len(names) in (1, 2, 3)
        step = int(names[-1].stem[5:])
        assert step > before
        before = step
    assert f"resumed step={before}\n" in example.train("--steps", before + 1).stdout


@pytest.mark.parametrize(
    ("said", "gone"),
    [
        # What PyTorch 1.13 was heard to say when the store's or a neighbour's process had been killed.
        ("Connection reset by peer", True),
        ("Broken pipe", True),
        ("[./gloo/transport/tcp/pair.cc:598] Connection closed by peer [10.244.0.10]:31973", True),
        ("mat1 and mat2 shapes cannot be multiplied (8x64 and 32x10)\nConnection", False),
    ],
)
def test_what_a_rank_hears_of_one_that_is_gone_is_known(example: Example, said: str, gone: bool):
    code = "import sys, train; print(train.of_another_rank(RuntimeError(sys.argv[1])))"
    done = example.run([str(example.python), "-c", code, said], PYTHONPATH=str(EXAMPLE))
    assert done.stdout == f"{gone}\n", done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1])
def test_notice_saves_and_ends_with_143(example: Example, number: signal.Signals):
    started = subprocess.Popen(
        example.train_command("--steps", 100_000, "--checkpoint-every", 50_000),
        env={"PATH": os.environ["PATH"], "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert started.stdout
    assert started.stdout.readline().startswith("ranks=1 ")
    started.send_signal(number)
    rest = started.communicate(timeout=SECONDS)[0]
    assert started.returncode == 143
    (step,) = re.findall(r"^reclaimed step=(\d+)", rest, re.MULTILINE)
    assert (example.folder / "checkpoints" / f"step-{int(step):09d}.pt").exists()


def test_checkpoint_of_another_model(example: Example):
    example.train("--steps", 5)
    command = example.command("make_data.py", example.folder / "data", "--images", 64)
    relabel = "import numpy, sys; f = sys.argv[1]; d = dict(numpy.load(f)); d['labels'][0] = 9; numpy.savez(f, **d)"
    assert example.run(command).returncode == 0
    more = [str(example.python), "-c", relabel, str(example.folder / "data" / "train.npz")]
    assert example.run(more).returncode == 0
    assert "is of another model; give --checkpoints" in example.refusal("--steps", 10)


def test_file_that_holds_something_else(example: Example):
    (example.folder / "data" / "test.npz").write_text("no archive")
    assert "data/test.npz: is no .npz file with images and labels" in example.refusal("--steps", 5)


def test_folder_that_cannot_be_written(example: Example):
    (example.folder / "checkpoints").write_text("a file")
    assert "cannot be written: " in example.refusal("--steps", 5)


def test_refusal_does_not_wait_for_threads_of_the_exchange(example: Example):
    """Python's own end would: seen on a busy machine, it found gloo's threads running and aborted (SIGABRT)."""
    (example.folder / "sitecustomize.py").write_text("import atexit, os; atexit.register(os.abort)")
    (example.folder / "checkpoints").write_text("a file")
    assert "cannot be written: " in example.refusal("--steps", 5, PYTHONPATH=str(example.folder))


def test_loss_that_runs_away(example: Example):
    line = example.refusal("--steps", 50, "--learning-rate", 1e6)
    assert re.search(r"the loss is (nan|inf) at step \d+; give a smaller --learning-rate", line)


def test_half_told_place(example: Example):
    line = example.refusal("--steps", 5, OMPI_COMM_WORLD_RANK="0")
    assert line == "train.py: OMPI_COMM_WORLD_SIZE is missing; start train.py with OpenMPI's mpirun, torchrun, or alone"


def test_arguments_out_of_range(example: Example):
    """In one process: PyTorch takes long to load."""
    tries = [["--batch", "0"], ["--steps", "-1"], ["--allreduce-dtype", "fp8"]]
    program = "import train\nfor words in {}:\n try: train.arguments(words)\n except SystemExit as end: print(end.code)"
    done = example.run([str(example.python), "-c", program.format(tries)], PYTHONPATH=str(EXAMPLE))
    assert done.stdout.split() == ["2"] * 3
    told = [line for line in done.stderr.splitlines() if "error: " in line]
    assert [words[0] in line for words, line in zip(tries, told, strict=True)] == [True] * 3
