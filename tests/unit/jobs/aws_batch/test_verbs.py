"""`gpufleet jobs list|status|logs|cancel` on AWS Batch, and what goes wrong on the way to AWS."""

import json
from typing import Any

import pytest

from gpufleet.cli import stack_options
from gpufleet.jobs.aws_batch.client import AwsBatchClient, AwsBusy
from tests.tools.fake_aws import BUCKET, IMAGE, QUEUE, FakeAws, ended, outputs

TRAIN = ("--", "python3", "train.py")


@pytest.fixture
def job(here: FakeAws, run: Any) -> Any:
    assert run("jobs", "submit", "dev", "--name", "train", "--image", IMAGE, *TRAIN).exit_code == 0
    return here.wait_for_job("train")


def test_list_has_no_children(here: FakeAws, run: Any, job: Any) -> None:
    run("jobs", "submit", "dev", "--name", "search", "--image", IMAGE, "--array", "30", *TRAIN)
    ended(job)
    rows = {line.split()[0]: line.split()[1:4] for line in run("jobs", "list", "dev").stdout.splitlines()}
    assert rows == {"search": ["SUBMITTED", "1", "node"], "train": ["SUCCEEDED", "1", "node"]}
    found = json.loads(run("jobs", "list", "dev", "--json").stdout)
    assert {each["name"] for each in found} == {"train", "search"}
    assert set(found[0]) == {
        "name", "id", "state", "reason", "message", "children", "nodes", "created", "exitCode"
    }  # fmt: skip


def test_list_of_nothing(here: FakeAws, run: Any) -> None:
    assert run("jobs", "list", "dev").stdout == f"no jobs in queue {QUEUE} of us-east-1\n"


def test_status_of_a_job_that_waits_asks_why_at_once(here: FakeAws, run: Any, job: Any) -> None:
    job.status = "RUNNABLE"
    assert run("jobs", "status", "dev", "train").stdout.splitlines() == [
        "train: RUNNABLE",
        "  environment dev-pool: is UNMANAGED: Batch starts no instance in it, who made it does",
        f"  outputs: s3://{BUCKET}/jobs/train",
    ]


def test_status_by_id(here: FakeAws, run: Any, job: Any) -> None:
    ended(job, 2)
    assert run("jobs", "status", "dev", job.job_id).stdout.startswith(
        f"{job.job_id}: FAILED, the container's exit code is 2"
    )


def test_logs_of_a_job_that_has_none(here: FakeAws, run: Any, job: Any) -> None:
    done = run("jobs", "logs", "dev", "train")
    assert (done.exit_code, done.stdout, done.stderr) == (
        0,
        "",
        "train: no container has started yet: SUBMITTED\n",
    )


def test_cancel_ends_the_job_and_once_only(here: FakeAws, run: Any, job: Any) -> None:
    done = run("jobs", "cancel", "dev", "train")
    assert (done.exit_code, done.stdout) == (0, "train: cancelled; its log and its outputs stay\n")
    assert here.bodies("terminatejob") == [{"jobId": job.job_id, "reason": "gpufleet jobs cancel"}]
    ended(job, 143)
    assert run("jobs", "cancel", "dev", "train").stdout == "train: has already ended: FAILED\n"
    done = run("jobs", "cancel", "dev", "train", "--json")
    outcome = {"job": "train", "outcome": "train: has already ended: FAILED"}
    assert (done.exit_code, json.loads(done.stdout)) == (0, {"schema": 1, "environment": "dev", **outcome})
    assert len(here.bodies("terminatejob")) == 1


def test_newest_of_one_name_is_meant(here: FakeAws, run: Any, job: Any) -> None:
    batch = here.client("batch")
    for name in ("TRAIN", "train"):
        again = batch.submit_job(jobName=name, jobQueue=QUEUE, jobDefinition="dev-train")["jobId"]
    assert json.loads(run("jobs", "status", "dev", "train", "--json").stdout)["id"] == again


@pytest.mark.parametrize("verb", ["status", "logs", "cancel"])
@pytest.mark.parametrize("name", ["none", "train:7", "0c7ab5d8-0000-4000-8000-000000000001"])
def test_job_that_is_not_there(here: FakeAws, run: Any, job: Any, verb: str, name: str) -> None:
    done = run("jobs", verb, "dev", name)
    assert (done.exit_code, done.stderr) == (
        1,
        f"Error: {name}: job not found in queue {QUEUE} of us-east-1; AWS Batch forgets jobs some 7 days after "
        "their end; see `gpufleet jobs list dev`\n",
    )


def test_word_that_is_no_job(here: FakeAws, run: Any) -> None:
    assert run("jobs", "status", "dev", "a:b:c").stderr.startswith("Error: a:b:c: is not a job name; write NAME, NAME:")


def refused(here: FakeAws, status: int, code: str, message: str) -> None:
    text = json.dumps({"__type": code, "message": message}).encode()
    here.refusals.append(lambda service, what, body: (status, text))


REFUSALS = [
    (403, "ExpiredTokenException", "AWS credentials: expired; sign in again, for instance with `aws sso login`"),
    (
        403,
        "UnrecognizedClientException",
        "AWS credentials: not accepted (UnrecognizedClientException); check them",
    ),
    (403, "AccessDeniedException", "batch:ListJobs: denied by AWS; allow it to the credentials in use (words)"),
    (429, "TooManyRequestsException", "batch:ListJobs: TooManyRequestsException: words"),
    (500, "ServerException", "batch:ListJobs: ServerException: words"),
    (
        400,
        "ClientException",
        f"dev: queue={QUEUE}: words (in us-east-1 of the account in use); run `pulumi up`",
    ),
]


@pytest.mark.parametrize(("status", "code", "line"), REFUSALS, ids=lambda each: str(each)[:30])
def test_refusal_is_one_line(here: FakeAws, run: Any, status: int, code: str, line: str) -> None:
    refused(here, status, code, "words")
    done = run("jobs", "list", "dev")
    assert done.exit_code == 1
    assert done.stderr.startswith(f"Error: {line}"), done.stderr
    assert done.stderr.count("\n") == 1


def test_expired_token_while_following_leaves_the_job(here: FakeAws, run: Any, job: Any) -> None:
    refused(here, 403, "ExpiredTokenException", "x")
    done = run("jobs", "logs", "dev", "train", "--follow")
    assert (done.exit_code, done.stderr) == (
        1,
        "Error: AWS credentials: expired; sign in again, for instance with `aws sso login`; train continues, follow it "
        "again with `gpufleet jobs logs dev train --follow`\n",
    )


def test_no_credentials(here: FakeAws, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    done = run("jobs", "list", "dev")
    assert done.stderr == (
        "Error: AWS credentials: Unable to locate credentials; set AWS_PROFILE, or sign in with `aws configure` or "
        "`aws sso login`\n"
    )


def test_region_that_does_not_answer(here: FakeAws, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    given = outputs()
    given["jobs"]["region"] = "us-nowhere-1"
    done = run("jobs", "list", "dev", given=given)
    assert done.exit_code == 1
    assert "is us-nowhere-1 the region of the environment, and the network there?" in done.stderr
    assert done.stderr.count("\n") == 1
    with pytest.raises(AwsBusy):
        AwsBatchClient("us-nowhere-1", attempts=1).call("batch", "describe_jobs", jobs=["x"])


def test_rehearsal_that_plays_none_of_it(here: FakeAws, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUFLEET_REHEARSAL", "none")
    monkeypatch.setattr(stack_options, "_rehearsal", lambda program: object())
    assert run("jobs", "list", "dev").stderr == (
        "Error: dev: this rehearsal plays no AWS Batch; run `gpufleet rehearse dev -- gpufleet ...`\n"
    )
    assert here.asked == []


def test_played_services_are_asked_in_a_rehearsal_only(
    here: FakeAws, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GPUFLEET_REHEARSAL", raising=False)
    monkeypatch.setenv("GPUFLEET_AWS_ENDPOINT", here.url)
    assert run("jobs", "list", "dev").stderr == (
        f"Error: GPUFLEET_AWS_ENDPOINT={here.url}: holds in a rehearsal only; unset it, or run `gpufleet rehearse ENV "
        "-- ...`\n"
    )
    assert here.asked == []
