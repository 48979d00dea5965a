"""`--follow` on Azure Batch: a thread of the test moves a job on in the stand-in, as Batch would."""

import json
import re
from typing import Any

import pytest

from gpufleet.jobs.azure_batch import log_stream
from gpufleet.jobs.azure_batch.entrypoint import EVICTED
from tests.tools.batch_account import BatchRejection, FakeBatch
from tests.tools.fake_aws import meanwhile

SUBMIT = ("jobs", "submit", "dev", "--name", "train", "--pool", "spot", "--image", "training:base", "--follow")
TRAIN = ("--", "python3", "train.py")
GONE = (
    f"node 1 (10.0.0.5) is gone, as a Spot node that is evicted: this try of the task ends with code {EVICTED}; the "
    "next one continues from the newest checkpoint\n"
)


def test_transcript_from_submission_to_the_end(here: FakeBatch, run: Any) -> None:
    def life() -> None:
        here.wait_for_task("train")
        here.wait_for_looks()
        here.starts("train")
        for text in ("epoch 1 loss 0.9\nepoch 2", " loss 0.5\n", "saved"):
            here.writes("train", text)
            here.wait_for_looks()
        here.ends("train")

    with meanwhile(life):
        done = run(*SUBMIT, *TRAIN)
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == ["epoch 1 loss 0.9", "epoch 2 loss 0.5", "saved"]
    told = done.stderr.splitlines()
    assert told[:-1] == ["train: submitted", "train: active", "train: running", "train: succeeded"]
    assert re.fullmatch(r"train: succeeded after \d s", told[-1])


def test_eviction_is_told_and_the_next_try_is_read_from_its_beginning(here: FakeBatch, run: Any) -> None:
    here.add_node("spot-1", "node-0", "running")

    def life() -> None:
        here.wait_for_task("train")
        here.starts("train")
        here.writes("train", "epoch 1\nepoch 2\n")
        here.wait_for_looks()
        here.evicts("train")
        here.wait_for_looks()
        here.starts("train", "node-1")
        here.writes("train", "resumed at epoch 2\n")
        here.wait_for_looks()
        here.ends("train")

    with meanwhile(life):
        done = run(*SUBMIT, *TRAIN)
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == ["epoch 1", "epoch 2", "resumed at epoch 2"]
    assert done.stderr.splitlines()[-6:-1] == [
        "train: running",
        "train: its Spot node node-0 was taken by Azure; the job continues from its newest checkpoint when there is "
        "another",
        "train: active",
        "train: running",
        "train: succeeded",
    ]


def test_try_that_lost_another_node_goes_on_from_the_checkpoint(here: FakeBatch, run: Any, blobs: Any) -> None:
    """The master node's try ends with code 75, what it wrote last is in its copy, and Batch tries again."""

    def life() -> None:
        here.wait_for_task("train")
        here.starts("train")
        here.writes("train", "epoch 1\n")
        here.writes("train", GONE, "stderr.txt")
        here.wait_for_looks()
        blobs.content["result", "jobs/train/stdout.txt"] = b"epoch 1\nepoch 2, too late to be seen\n"
        here.forgets_files("train")
        here.fails_a_try("train")
        here.wait_for_looks()
        here.starts("train")
        here.writes("train", "resumed at epoch 2\n")
        here.wait_for_looks()
        here.ends("train")

    with meanwhile(life):
        done = run(*SUBMIT, "--nodes", "2", "--retries", "3", *TRAIN)
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines == ["epoch 1", GONE.strip(), "epoch 2, too late to be seen", "resumed at epoch 2"]
    note = "train: try 2: a Spot node was taken by Azure; the job continues from its newest checkpoint"
    assert note in done.stderr.splitlines()


def test_try_that_fails_by_itself(here: FakeBatch, run: Any) -> None:
    def life() -> None:
        here.wait_for_task("train")
        here.starts("train")
        here.wait_for_looks()
        here.fails_a_try("train")
        here.wait_for_looks()
        here.starts("train")
        here.wait_for_looks()
        here.ends("train", 137)

    with meanwhile(life):
        done = run(*SUBMIT, "--retries", "1", *TRAIN)
    assert done.exit_code == 137
    told = done.stderr.splitlines()
    assert "train: try 2: the last one failed; the job continues from its newest checkpoint" in told
    assert told[-1].endswith("s: the task's exit code is 137")


def test_no_try_is_left_after_an_eviction(here: FakeBatch, run: Any) -> None:
    def life() -> None:
        here.wait_for_task("train")
        here.starts("train")
        here.writes("train", GONE, "stderr.txt")
        here.ends("train", EVICTED)

    with meanwhile(life):
        done = run(*SUBMIT, "--nodes", "2", *TRAIN)
    assert done.exit_code == EVICTED
    assert done.stderr.endswith(
        " s: the task's exit code is 75 (a Spot node was taken, and no try is left; submit it "
        "again with --retries 10)\n"
    )


def test_cancelled_job_ends_without_a_code(here: FakeBatch, run: Any) -> None:
    def life() -> None:
        here.wait_for_task("train")
        here.wait_for_looks()
        here.terminate_job("train", {"terminateReason": "gpufleet jobs cancel"})

    with meanwhile(life):
        done = run(*SUBMIT, "--json", *TRAIN)
    assert done.exit_code == 1
    last = json.loads(done.stdout.splitlines()[-1])
    assert last == {
        "event": "end",
        "text": "train: failed: its task has no exit code (gpufleet jobs cancel)",
        "code": 1,
    }


def test_log_of_a_node_that_is_gone_is_its_copy(here: FakeBatch, run: Any, blobs: Any) -> None:
    def life() -> None:
        here.wait_for_task("train")
        here.starts("train")
        here.writes("train", "epoch 1\nepo")
        here.wait_for_looks()
        blobs.content["result", "jobs/train/stdout.txt"] = b"epoch 1\nepoch 2\n"
        here.forgets_files("train")
        here.ends("train")

    with meanwhile(life):
        done = run(*SUBMIT, *TRAIN)
    assert done.stdout.splitlines() == ["epoch 1", "epoch 2"]


def test_large_log_comes_in_pieces(here: FakeBatch, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_stream, "_PIECE", 1000)
    lines = [f"line {number} é" for number in range(500)]

    def life() -> None:
        here.wait_for_task("train")
        here.starts("train")
        here.writes("train", "\n".join(lines))
        here.ends("train")

    with meanwhile(life):
        done = run(*SUBMIT, *TRAIN)
    assert done.stdout.splitlines() == lines


def test_service_that_is_busy_costs_time_and_no_line(here: FakeBatch, run: Any) -> None:
    refused = {"task": 0, "file": 0}

    def busy(method: str, path: str) -> None:
        kind = "file" if "/files/" in path else "task" if path.endswith("/tasks/main") else None
        if kind and refused[kind] < 2:
            refused[kind] += 1
            raise BatchRejection(503, "ServerBusy", "The server is currently unable to receive requests.")

    def life() -> None:
        here.wait_for_task("train")
        here.starts("train")
        here.writes("train", "epoch 1\n")
        here.refusals.append(busy)
        here.wait_for_looks(8)
        here.ends("train")

    with meanwhile(life):
        done = run(*SUBMIT, *TRAIN)
    assert done.exit_code == 0, done.output
    assert done.stdout == "epoch 1\n"
    assert "ServerBusy: The server is currently unable to receive requests.; trying again for 10 min" in done.stderr
    assert "Azure answers again" in done.stderr


def test_job_that_waits_for_long_says_why(here: FakeBatch, run: Any) -> None:
    error = {"code": "AccountLowPriorityCoreQuotaReached", "message": "The account has reached its quota."}
    here.pools["spot-1"] |= {"targetLowPriorityNodes": 2, "resizeErrors": [error]}

    def life() -> None:
        here.wait_for_task("train")
        here.wait_for_looks()
        here.terminate_job("train", None)

    with meanwhile(life):
        done = run(*SUBMIT, "--why-after", "0", *TRAIN)
    lines = [line for line in done.stderr.splitlines() if "waits" in line]
    assert lines == [
        "train: waits: quota of Spot cores is used up: AccountLowPriorityCoreQuotaReached: The account has reached its "
        "quota.; raise it (the Batch account's Quotas), or use fewer nodes"
    ]


def test_log_may_be_unwanted(here: FakeBatch, run: Any) -> None:
    def life() -> None:
        here.wait_for_task("train")
        here.starts("train")
        here.writes("train", "epoch 1\n")
        here.ends("train")

    with meanwhile(life):
        done = run(*SUBMIT[:-1], "--wait", *TRAIN)
    assert (done.exit_code, done.stdout) == (0, "")
    assert not any("/files/" in path for _, path, _ in here.asked)
