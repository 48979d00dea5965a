"""Arrays on AWS Batch: what becomes of hundreds of runs. AWS is moto behind a loopback address."""

import json
from pathlib import Path
from typing import Any

from moto.batch.models import Job

from tests.tools.fake_aws import BUCKET, IMAGE, FakeAws, ended, meanwhile

TRAIN = ("--", "python3", "train.py", "--lr", "{lr}")


def rows_of_200(folder: Path) -> Path:
    file = folder / "search.csv"
    file.write_text("lr,batch\n" + "".join(f"0.{number:03},{32 * (1 + number % 4)}\n" for number in range(200)))
    return file


def children(array: Job) -> list[Job]:
    return list(array._child_jobs or [])


def test_array_of_200_names_the_one_that_failed(here: FakeAws, run: Any, tmp_path: Path) -> None:
    def life() -> None:
        array = here.wait_for_job("search")
        while len(children(array)) < 200:
            here.wait_for_looks()
        array.status = "PENDING"
        for at, child in enumerate(children(array)):
            child.status = "RUNNING" if at < 64 else "RUNNABLE"
        here.wait_for_looks()
        for at, child in enumerate(children(array)):
            ended(child, 3 if at == 117 else 0, "out of loss" if at == 117 else "")
        here.wait_for_looks()
        array._mark_stopped(success=False)

    with meanwhile(life):
        arguments = ["--name", "search", "--image", IMAGE, "--params", str(rows_of_200(tmp_path)), "--wait"]
        done = run("jobs", "submit", "dev", *arguments, *TRAIN)
    assert done.exit_code == 3
    [sent] = here.bodies("submitjob")
    assert sent["arrayProperties"] == {"size": 200}
    lines = done.stderr.splitlines()
    assert "search: 64 RUNNING, 136 RUNNABLE of 200" in lines
    assert "search:117: FAILED: exit code 3 (out of loss)" in lines
    assert "search: 1 FAILED, 199 SUCCEEDED of 200" in lines
    assert lines[-1] == "search: failed: 1 of 200 children failed (117)"
    assert len([line for line in lines if "search:117" in line]) == 1
    text = here.client("s3").get_object(Bucket=BUCKET, Key="jobs/search/parameters.csv")["Body"].read().decode()
    assert text.splitlines()[:2] == ["lr,batch", "0.000,32"]
    assert len(text.splitlines()) == 201


def test_array_that_succeeds_is_0(here: FakeAws, run: Any) -> None:
    done = run("jobs", "submit", "dev", "--name", "search", "--image", IMAGE, "--grid", "lr=0.1,0.01", *TRAIN)
    assert done.exit_code == 0, done.output
    array = here.wait_for_job("search")
    for child in children(array):
        ended(child)
    array._mark_stopped()
    done = run("jobs", "logs", "dev", "search", "--follow")
    assert done.exit_code == 0
    assert done.stderr.splitlines()[-1] == "search: succeeded: all 2 children"


def test_many_failures_are_named_together(here: FakeAws, run: Any) -> None:
    run("jobs", "submit", "dev", "--name", "search", "--image", IMAGE, "--array", "40", "--", "python3", "train.py")
    array = here.wait_for_job("search")
    for at, child in enumerate(children(array)):
        ended(child, 1 if 5 <= at < 30 else 2 if at == 35 else 0)
    array._mark_stopped(success=False)
    done = run("jobs", "logs", "dev", "search", "--follow", "--json")
    # Two exit codes: the job has none of its own.
    assert done.exit_code == 1
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert len([each for each in events if ": FAILED: exit code" in each["text"]]) == 20
    assert events[-1]["text"] == "search: failed: 26 of 40 children failed (5..29, 35)"


def test_child_is_a_job_of_its_own(here: FakeAws, run: Any) -> None:
    run("jobs", "submit", "dev", "--name", "search", "--image", IMAGE, "--array", "3", "--", "python3", "train.py")
    array = here.wait_for_job("search")
    child = children(array)[1]
    child.status = "RUNNING"
    here.write(child, "hello from 1")
    assert run("jobs", "logs", "dev", "search:1").stdout == "hello from 1\n"
    assert run("jobs", "logs", "dev", "search").stderr == (
        "search: is an array of 3; the log of a child is that of search:INDEX\n"
    )
    ended(child, 4)
    assert run("jobs", "logs", "dev", "search:1", "--follow").exit_code == 4
    assert run("jobs", "status", "dev", "search:1").stdout.startswith(
        "search:1: FAILED, the container's exit code is 4"
    )
    status = run("jobs", "status", "dev", "search").stdout
    assert status.splitlines()[1:] == ["  children: 2 SUBMITTED, 1 FAILED", f"  outputs: s3://{BUCKET}/jobs/search"]


def test_one_row_is_a_job_of_one(here: FakeAws, run: Any) -> None:
    done = run("jobs", "submit", "dev", "--name", "one", "--image", IMAGE, "--grid", "lr=0.1", *TRAIN)
    assert done.exit_code == 0, done.output
    assert "arrayProperties" not in here.bodies("submitjob")[0]


def test_parameters_that_no_word_takes_are_worth_a_note(here: FakeAws, run: Any) -> None:
    done = run("jobs", "submit", "dev", "--image", IMAGE, "--grid", "lr=1,2", "--dry-run", "--", "python3", "train.py")
    assert ": no word of the command has {lr} in it: parameters reach it as variables only ($lr); write" in done.stderr


def test_bucket_that_refuses_the_parameters(here: FakeAws, run: Any) -> None:
    denied = b"<Error><Code>AccessDenied</Code><Message>no</Message></Error>"
    here.refusals.append(lambda service, what, body: (403, denied) if service == "s3" else None)
    done = run("jobs", "submit", "dev", "--name", "a", "--image", IMAGE, "--grid", "lr=1,2", *TRAIN)
    assert done.exit_code == 1
    assert done.stderr == (
        f"Error: a: s3://{BUCKET}/jobs/a/parameters.csv cannot be written: s3:PutObject: denied by AWS; allow it to "
        "the credentials in use (no)\n"
    )
    assert not here.jobs
