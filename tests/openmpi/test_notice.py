"""Notice that a node will be taken, given as a kubelet gives it: the ranks hear it, save, and a retry goes on."""

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from gpufleet.jobs.kubernetes.mpi_job import mpi_job
from gpufleet.jobs.kubernetes.mpi_pods import job_grace_seconds
from gpufleet.jobs.kubernetes.pod_entrypoints import PATIENCE_SECONDS
from tests.openmpi.digits_job import JOB, command
from tests.openmpi.job_run import JobRun, job_run
from tests.openmpi.pod import Pod

pytestmark = pytest.mark.cluster

SECONDS = 600
GRACE = job_grace_seconds(JOB)
TRAIN = ["python3", "train.py", "--batch", "16", "--log-every", "10", "--checkpoint-every", "4000"]
STEPS = 5000
"""More than any of these runs makes."""


@pytest.fixture
def training(data: JobRun) -> Iterator[Pod]:
    """The launcher of a long training, past its first steps and far from its first checkpoint."""
    with data.launcher(command(*TRAIN, "--steps", str(STEPS), "--notice-every", "5")) as launcher:
        launcher.wait_for("step=20 ", SECONDS)
        yield launcher


def reclaimed(run: JobRun, launcher: Pod) -> int:
    """The step at which the training has stopped, of which there is a checkpoint and no other."""
    (step,) = re.findall(r"^reclaimed step=(\d+)", launcher.text(), re.MULTILINE)
    assert [path.name for path in (run.volume / "checkpoints").iterdir()] == [f"step-{int(step):09d}.pt"]
    return int(step)


@contextmanager
def retry(run: JobRun, step: int) -> Iterator[Pod]:
    with run.launcher(command(*TRAIN, "--steps", str(step + 10))) as launcher:
        yield launcher
        assert launcher.wait(SECONDS) == 0, launcher.text()
    assert f"resumed step={step}\n" in launcher.text()
    assert f"done step={step + 10} " in launcher.text()


def test_a_taken_worker_saves_and_the_retry_waits_for_the_next_one(data: JobRun, training: Pod):
    taken = data.workers[1]
    taken.take()
    assert taken.wait(GRACE) == 143
    assert "still run" not in taken.text()
    assert training.wait(SECONDS) == 143, training.text()
    step = reclaimed(data, training)
    # The Job controller starts the retry while the worker's pod still waits for a node.
    with ExitStack() as pods, retry(data, step) as launcher:
        launcher.wait_for("gpufleet: waiting for 1 workers: digits-worker-1.digits.research.svc ", SECONDS)
        data.start_worker(1, pods)
        assert launcher.wait(SECONDS) == 0, launcher.text()


def test_a_taken_launcher_saves_and_the_next_one_waits_for_its_end(data: JobRun, training: Pod):
    """The Job controller replaces a pod that is being deleted at once: two launchers are there for a while."""
    words = command(*TRAIN, "--steps", str(STEPS), "--notice-every", "5")
    with data.launcher(words) as second:
        second.wait_for("an earlier try of the job still ends there", SECONDS)
        training.take()
        assert training.wait(GRACE) == 143, training.text()
        step = reclaimed(data, training)
        second.wait_for(f"resumed step={step}\n", SECONDS)


def test_notice_is_for_who_catches_it(run: JobRun):
    """In a shell, catching SIGTERM only, with children that a signal would end: only the program has it."""
    with run.launcher(command("sh", "-c", "python3 notice.py; echo shell $?")) as launcher:
        launcher.wait_for("listens\n" * 4, SECONDS)
        run.workers[1].take()
        assert launcher.wait(SECONDS) == 0, launcher.text()
    assert run.workers[1].wait(GRACE) == 143
    said = [json.loads(line) for line in launcher.text().splitlines() if line.startswith("{")]
    told = {one["rank"]: one["told"] for one in said}
    assert told == {0: [], 1: [], 2: [15], 3: [15]}
    assert [one["children"] for one in said] == [[None, None]] * 4, "a child that got the signal has ended by it"
    assert launcher.text().count("shell 0") == 4


def test_notice_to_the_launcher_is_for_who_catches_it(run: JobRun):
    """mpirun's own way, SIGUSR1 to whatever a rank has started, would end the shell and the children."""
    with run.launcher(command("sh", "-c", "python3 notice.py; echo shell $?")) as launcher:
        launcher.wait_for("listens\n" * 4, SECONDS)
        launcher.take()
        assert launcher.wait(SECONDS) == 0, launcher.text()
    said = [json.loads(line) for line in launcher.text().splitlines() if line.startswith("{")]
    # Who is told first ends the loop of all: the others may hear it too late to say so.
    assert [15] in [one["told"] for one in said]
    assert [one["children"] for one in said] == [[None, None]] * 4
    assert launcher.text().count("shell 0") == 4


def test_who_does_not_listen_is_not_waited_for(tmp_path, python):
    """A worker ends at once; the launcher, which cannot know, before its grace is over."""
    job = {**JOB, "grace_seconds": 10}
    with job_run(mpi_job("digits", job), tmp_path, python) as run:
        for taken in ("launcher", "worker"):
            with run.launcher(command("sh", "-c", "echo up; exec sleep 300", grace_seconds=10)) as launcher:
                launcher.wait_for("up\n" * 4, SECONDS)
                pod = run.workers[1] if taken == "worker" else launcher
                pod.take()
                assert pod.wait(10) != -9, pod.text()
                assert launcher.wait(SECONDS) != 0


def test_a_worker_without_ranks_ends_at_once(run: JobRun):
    run.workers[0].take()
    assert run.workers[0].wait(10) == 143


def test_patience_ends(run: JobRun):
    run.workers[1].end()
    words = command("true")
    words[words.index(str(PATIENCE_SECONDS))] = "1"
    with run.launcher(words) as launcher:
        assert launcher.wait(SECONDS) == 1
    last = launcher.text().splitlines()[-1]
    assert last.startswith(
        "gpufleet: 1 workers did not come within 1 s: digits-worker-1.digits.research.svc ssh: connect to host "
    )
    assert last.endswith("; look at their pods")
