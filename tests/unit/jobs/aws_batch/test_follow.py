"""`--follow` on AWS Batch. AWS is moto behind a loopback address; a thread of the test moves its jobs on over time."""

import json
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import boto3
from botocore.stub import Stubber

from gpufleet.jobs.aws_batch.client import AwsBatchClient
from gpufleet.jobs.aws_batch.log_stream import AwsBatchLogStream
from tests.tools.fake_aws import IMAGE, FakeAws, ended, meanwhile

TRAIN = ("--", "python3", "train.py")


def test_transcript_from_submission_to_the_end(here: FakeAws, run: Any) -> None:
    def life() -> None:
        job = here.wait_for_job("train")
        for state in ("PENDING", "RUNNABLE", "STARTING", "RUNNING"):
            here.wait_for_looks()
            job.status = state
        for lines in (["epoch 1 loss 0.9", "epoch 2 loss 0.5"], ["saved checkpoint"]):
            here.write(job, *lines)
            here.wait_for_looks()
        key = next(
            each["value"] for each in job.container_overrides["environment"] if each["name"] == "GPUFLEET_OUTPUTS"
        )
        bucket, _, prefix = key.removeprefix("s3://").partition("/")
        here.client("s3").put_object(Bucket=bucket, Key=f"{prefix}/checkpoint.npz", Body=b"weights")
        ended(job)
        # The node's log driver is later than the state.
        here.write(job, "done")

    with meanwhile(life):
        done = run("jobs", "submit", "dev", "--name", "train", "--image", IMAGE, "--follow", *TRAIN)
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert lines[:6] == [
        "train: submitted",
        "train: SUBMITTED",
        "train: PENDING",
        "train: RUNNABLE",
        "train: STARTING",
        "train: RUNNING",
    ]
    assert lines[6:9] == ["epoch 1 loss 0.9", "epoch 2 loss 0.5", "saved checkpoint"]
    assert set(lines[9:-1]) == {"train: SUCCEEDED", "done"}
    assert lines[-1].startswith("train: succeeded")
    assert done.stdout.splitlines() == ["epoch 1 loss 0.9", "epoch 2 loss 0.5", "saved checkpoint", "done"]


def test_exit_code_and_reason_go_through(here: FakeAws, run: Any) -> None:
    def life() -> None:
        job = here.wait_for_job("train")
        job.status = "RUNNING"
        here.write(job, "bang")
        ended(job, 137, "OutOfMemoryError: Container killed due to memory usage")

    with meanwhile(life):
        done = run("jobs", "submit", "dev", "--name", "train", "--image", IMAGE, "--follow", *TRAIN)
    assert done.exit_code == 137
    assert done.stdout == "bang\n"
    assert done.stderr.splitlines()[-1] == (
        "train: failed: the container's exit code is 137 (OutOfMemoryError: Container killed due to memory usage)"
    )


def test_job_that_failed_without_a_container_is_1(here: FakeAws, run: Any) -> None:
    assert run("jobs", "submit", "dev", "--name", "train", "--image", IMAGE, *TRAIN).exit_code == 0
    job = here.wait_for_job("train")
    job.job_stopped_reason = "CannotPullContainerError: not found"
    job._mark_stopped(success=False)
    done = run("jobs", "logs", "dev", "train", "--follow", "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "event": "end",
        "text": "train: failed: its container has no exit code (CannotPullContainerError: not found)",
        "code": 1,
    }


def test_every_attempt_has_its_log(here: FakeAws, run: Any) -> None:
    def life() -> None:
        job = here.wait_for_job("train")
        job.status = "RUNNING"
        here.write(job, "first try")
        here.wait_for_looks()
        first = {"container": {"logStreamName": job.log_stream_name, "reason": "Host EC2 (instance i-1) terminated."}}
        job.attempts, job.log_stream_name, job.status = [first], None, "RUNNABLE"
        here.wait_for_looks()
        job.status, job.log_stream_name = "RUNNING", "second"
        here.client("logs").create_log_stream(logGroupName="/aws/batch/dev", logStreamName="second")
        here.write(job, "second try")
        here.wait_for_looks()
        job.attempts = [first, {"container": {"exitCode": 0, "logStreamName": "second"}}]
        job._mark_stopped()

    with meanwhile(life):
        done = run("jobs", "submit", "dev", "--name", "train", "--image", IMAGE, "--follow", *TRAIN)
    assert done.exit_code == 0, done.output
    assert done.stdout == "first try\nsecond try\n"
    assert "train: attempt 2" in done.stderr


def test_log_of_a_multi_node_job_is_its_main_nodes(here: FakeAws, run: Any) -> None:
    assert run("jobs", "submit", "dev", "--name", "train", "--image", IMAGE, "--nodes", "2", *TRAIN).exit_code == 0
    job = here.wait_for_job("train")
    # moto has no nodes: the main one is another job of the right id.
    run("jobs", "submit", "dev", "--name", "main", "--image", IMAGE, *TRAIN)
    main = here.wait_for_job("main")
    main.job_id, main.job_definition = f"{job.job_id}#0", job.job_definition
    # Its definition names another log group than that of single jobs.
    options = {"awslogs-group": "/aws/batch/nodes"}
    job.job_definition.node_properties["nodeRangeProperties"][0]["container"]["logConfiguration"] = {"options": options}
    here.client("logs").create_log_group(logGroupName="/aws/batch/nodes")
    here.group = "/aws/batch/nodes"
    here.jobs[main.job_id] = main
    here.write(main, "rank 0 of 16")
    ended(main, 3)
    job._mark_stopped(success=False)
    done = run("jobs", "logs", "dev", "train", "--follow")
    assert done.exit_code == 3
    assert done.stdout == "rank 0 of 16\n"
    assert run("jobs", "logs", "dev", "train#0").stdout == "rank 0 of 16\n"


def test_interruption_leaves_the_job_and_says_how_to_come_back(here: FakeAws, run: Any, tmp_path: Path) -> None:
    """A real process, interrupted as by Ctrl-C."""
    assert run("jobs", "submit", "dev", "--name", "train", "--image", IMAGE, *TRAIN).exit_code == 0
    words = ["jobs", "logs", "dev", "train", "--follow", "--outputs", str(tmp_path / "outputs.json")]
    program = [sys.executable, "-c", "from gpufleet.cli import main; main()", *words]
    # Children of a shell's background job ignore Ctrl-C, unless told.
    listening = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(
        program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=listening
    ) as process:
        try:
            assert process.stderr
            assert process.stderr.readline() == "train: SUBMITTED\n"
            process.send_signal(signal.SIGINT)
            _, told = process.communicate(timeout=300)
        finally:
            process.kill()
    assert process.returncode == 130
    assert told == (
        "\ntrain: continues; follow it again with `gpufleet jobs logs dev train --follow`; "
        "stop it with `gpufleet jobs cancel dev train`\n"
    )
    assert here.wait_for_job("train").status == "SUBMITTED"
    assert not here.bodies("terminatejob")


def test_throttling_costs_time_and_no_line(here: FakeAws, run: Any) -> None:
    assert run("jobs", "submit", "dev", "--name", "train", "--image", IMAGE, *TRAIN).exit_code == 0
    job = here.wait_for_job("train")
    here.write(job, *(f"line {number}" for number in range(500)))
    refused = {"logs": 0, "batch": 0}

    def throttle(service: str, what: str, body: bytes) -> tuple[int, bytes] | None:
        if service in refused and refused[service] < 2:
            refused[service] += 1
            return 400, b'{"__type": "ThrottlingException", "message": "Rate exceeded"}'
        return None

    here.refusals.append(throttle)

    def life() -> None:
        while refused["logs"] < 2:
            time.sleep(0.05)
        here.write(job, "last")
        ended(job)

    job.status = "RUNNING"
    with meanwhile(life):
        done = run("jobs", "logs", "dev", "train", "--follow")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [*(f"line {number}" for number in range(500)), "last"]
    assert "Rate exceeded; trying again for 10 min" in done.stderr
    assert "AWS answers again" in done.stderr


def test_pages_and_an_expired_token_lose_and_double_nothing(monkeypatch: Any) -> None:
    """What moto does not play, as recorded answers: pages that are empty in the middle, an expired token."""
    client = boto3.client("logs", "us-east-1", aws_access_key_id="x", aws_secret_access_key="y")
    stream = {"logGroupName": "g", "logStreamName": "s", "startFromHead": True}

    def page(token: str, *events: tuple[int, str]) -> dict[str, Any]:
        told = [{"timestamp": at, "message": text, "ingestionTime": at} for at, text in events]
        return {"events": told, "nextForwardToken": token, "nextBackwardToken": "b"}

    with Stubber(client) as stub:
        add = lambda answer, **more: stub.add_response("get_log_events", answer, {**stream, **more})  # noqa: E731
        add(page("f/1", (1, "a"), (2, "b"), (2, "b")))
        add(page("f/2"), nextToken="f/1")
        add(page("f/3", (2, "c")), nextToken="f/2")
        add(page("f/3"), nextToken="f/3")
        # The next day.
        stub.add_client_error(
            "get_log_events",
            "InvalidParameterException",
            "expired",
            400,
            expected_params={**stream, "nextToken": "f/3"},
        )
        add(page("f/9", (2, "b"), (2, "b"), (2, "c"), (2, "c"), (3, "d")), startTime=2)
        add(page("f/9"), nextToken="f/9")
        aws = AwsBatchClient("us-east-1")
        monkeypatch.setattr(aws, "_client", lambda service: client)
        log = AwsBatchLogStream(aws, "g", "s")
        assert list(log.new_lines()) == ["a", "b", "b", "c"]
        assert list(log.new_lines()) == ["c", "d"]
        stub.assert_no_pending_responses()


def test_stream_that_is_not_there_yet_has_no_lines(here: FakeAws, credentials: None) -> None:
    assert list(AwsBatchLogStream(AwsBatchClient("us-east-1"), "/aws/batch/dev", "none").new_lines()) == []
