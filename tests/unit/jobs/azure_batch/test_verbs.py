"""`gpufleet jobs list|status|logs|cancel` on Azure Batch, and what goes wrong on the way to Azure."""

import json
from typing import Any

import pytest

from gpufleet.jobs.azure_batch import client
from gpufleet.jobs.azure_batch.client import AzureBatchClient
from gpufleet.jobs.azure_batch.errors import AzureBatchError, AzureBusy
from gpufleet.jobs.settings import JobSettings
from tests.tools.batch_account import BatchRejection, FakeBatch

TRAIN = ("--image", "training:base", "--pool", "spot", "--", "python3", "train.py")


def submit(run: Any, name: str = "train", *options: str) -> None:
    assert run("jobs", "submit", "dev", "--name", name, *options, *TRAIN).exit_code == 0


@pytest.fixture
def job(here: FakeBatch, run: Any) -> Any:
    submit(run)
    return here.tasks["train"]


def test_list_over_pages_has_the_environments_own_jobs(here: FakeBatch, run: Any, job: Any) -> None:
    for name in ("search", "eval", "last"):
        submit(run, name, "--nodes", "2", "--retries", "1")
    here.jobs["other"] = {**here.jobs["eval"], "id": "other", "metadata": [{"name": "environment", "value": "prod"}]}
    here.starts("train")
    here.ends("train", 2)
    here.starts("search")
    here.ends("search")
    here.starts("eval")
    rows = [line.split()[:4] for line in run("jobs", "list", "dev").stdout.splitlines()]
    assert rows == [
        ["last", "active", "2", "nodes"],
        ["eval", "running", "2", "nodes"],
        ["search", "succeeded", "2", "nodes"],
        ["train", "failed", "1", "node"],
    ]
    found = json.loads(run("jobs", "list", "dev", "--json").stdout)
    assert set(found[0]) == {
        "name", "id", "state", "reason", "message", "nodes", "retries", "requeues", "created", "exitCode"
    }  # fmt: skip
    assert [each["exitCode"] for each in found] == [None, None, 0, 2]


def test_list_of_nothing(here: FakeBatch, run: Any) -> None:
    assert run("jobs", "list", "dev").stdout == "no jobs in Batch account devbatch of eastus\n"


def status(run: Any, name: str = "train") -> list[str]:
    done = run("jobs", "status", "dev", name)
    assert done.exit_code == 0, done.output
    lines: list[str] = done.stdout.splitlines()
    return lines


OUTPUTS = "  outputs: https://devfiles.blob.core.windows.net/result/jobs/train"


def test_status_of_a_job_that_waits_says_for_what(here: FakeBatch, run: Any, job: Any) -> None:
    here.pools["spot-1"]["autoScaleRun"] = {"timestamp": "2026-11-21T12:00:00Z", "results": "$TargetLowPriorityNodes=0"}
    assert status(run) == [
        "train: active",
        "  pool spot is at 0 nodes, and the job needs 1: its formula looks every few minutes, last at "
        "2026-11-21T12:00:00Z",
        OUTPUTS,
    ]


def test_status_of_one_that_has_failed(here: FakeBatch, run: Any, job: Any) -> None:
    here.starts("train")
    assert status(run) == ["train: running", OUTPUTS]
    here.ends("train", 2)
    assert status(run) == ["train: failed, the task's exit code is 2", OUTPUTS]


def test_status_of_one_whose_image_is_not_there(here: FakeBatch, run: Any, job: Any) -> None:
    words = "One or more container images cannot be pulled"
    details = [{"name": "Image", "value": "x:1"}]
    failure = {"category": "usererror", "code": "ContainerInvalidImage", "message": words, "details": details}
    here.ends("train", None, failure)
    assert status(run)[0] == f"train: failed (ContainerInvalidImage: {words}; Image: x:1)"


def test_status_of_a_job_without_its_task(here: FakeBatch, run: Any, job: Any) -> None:
    del here.tasks["train"]
    assert status(run)[0] == "train: active"


def test_logs_so_far(here: FakeBatch, run: Any, job: Any, blobs: Any) -> None:
    done = run("jobs", "logs", "dev", "train")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "train: has written nothing yet: active\n")
    here.starts("train")
    here.writes("train", "epoch 1\nepoch")
    here.writes("train", "a warning\n", "stderr.txt")
    assert run("jobs", "logs", "dev", "train").stdout == "epoch 1\nepoch\na warning\n"


def test_logs_when_the_node_is_gone(here: FakeBatch, run: Any, job: Any, blobs: Any) -> None:
    here.starts("train")
    here.ends("train")
    here.forgets_files("train")
    blobs.content["result", "jobs/train/stdout.txt"] = "épilogue\n".encode()
    assert run("jobs", "logs", "dev", "train").stdout == "épilogue\n"


def test_cancel_ends_the_job_and_once_only(here: FakeBatch, run: Any, job: Any) -> None:
    here.starts("train")
    assert run("jobs", "cancel", "dev", "train").stdout == "train: cancelled; its log and its outputs stay\n"
    assert here.bodies("POST", "/terminate") == [{"terminateReason": "gpufleet jobs cancel"}]
    line = "train: failed (TaskEnded: gpufleet jobs cancel: Task Was Ended by User Request)"
    assert status(run)[0] == line
    assert run("jobs", "cancel", "dev", "train").stdout == "train: has already ended: failed\n"
    assert len(here.bodies("POST", "/terminate")) == 1


def test_job_that_was_cancelled_before_it_started(here: FakeBatch, run: Any, job: Any) -> None:
    """Its task stays active, as Batch says."""
    assert run("jobs", "cancel", "dev", "train").exit_code == 0
    assert here.tasks["train"]["state"] == "active"
    assert status(run)[0] == "train: failed (gpufleet jobs cancel)"


@pytest.mark.parametrize("verb", ["status", "logs", "cancel"])
def test_job_that_is_not_there(here: FakeBatch, run: Any, verb: str) -> None:
    done = run("jobs", verb, "dev", "none")
    assert (done.exit_code, done.stderr) == (
        1,
        "Error: none: job not found in Batch account devbatch of eastus; see `gpufleet jobs list dev`\n",
    )


def refused(here: FakeBatch, status: int, code: str) -> None:
    def refuse(method: str, path: str) -> None:
        raise BatchRejection(status, code, "Words.")

    here.refusals.append(refuse)


REFUSALS = [
    (401, "InvalidAuthenticationInfo", "Azure credentials: not accepted by 127.0.0.1:"),
    (
        403,
        "AuthorizationFailure",
        "Azure Batch: list_jobs: denied by 127.0.0.1:",
    ),
    (429, "TooManyRequests", "Azure Batch: list_jobs: TooManyRequests: Words."),
    (500, "InternalError", "Azure Batch: list_jobs: InternalError: Words."),
    (404, "ResourceNotFound", "Azure Batch: list_jobs: ResourceNotFound: Words."),
]


@pytest.mark.parametrize(("status", "code", "line"), REFUSALS, ids=lambda each: str(each)[:30])
def test_refusal_is_one_line(here: FakeBatch, run: Any, status: int, code: str, line: str) -> None:
    refused(here, status, code)
    done = run("jobs", "list", "dev")
    assert done.exit_code == 1
    assert done.stderr.startswith(f"Error: {line}"), done.stderr
    assert done.stderr.count("\n") == 1
    assert "RequestId" not in done.stderr
    if status == 401:
        assert done.stderr.endswith("sign in with `az login`, or set AZURE_CLIENT_ID, AZURE_TENANT_ID and "
                                    "AZURE_CLIENT_SECRET\n")  # fmt: skip
    if status == 403:
        assert "give the identity in use the role Azure Batch Data Contributor on the Batch account" in done.stderr


def test_account_that_does_not_answer(here: FakeBatch, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUFLEET_AZURE_BATCH_ENDPOINT", "http://127.0.0.1:1")
    done = run("jobs", "list", "dev")
    assert done.stderr.startswith("Error: Azure Batch: list_jobs: 127.0.0.1:1 does not answer (")
    assert done.stderr.endswith("; is it the environment's, and the network there?\n")
    assert done.stderr.count("\n") == 1


def test_nobody_is_signed_in(settings: JobSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    from azure.core.exceptions import ClientAuthenticationError

    class Nobody:
        def get_token(self, *scopes: str, **options: object) -> object:
            raise ClientAuthenticationError(message="DefaultAzureCredential failed to retrieve a token.\nMore lines.")

    monkeypatch.setattr(client, "credential", Nobody)
    assert settings.azure_batch is not None
    with pytest.raises(AzureBatchError) as told:
        AzureBatchClient(settings.azure_batch).find("get_job", "train")
    assert str(told.value) == (
        "Azure credentials: DefaultAzureCredential failed to retrieve a token.; sign in with `az login`, or set "
        "AZURE_CLIENT_ID, AZURE_TENANT_ID and AZURE_CLIENT_SECRET"
    )


def test_what_plays_an_account_is_on_this_machine(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUFLEET_AZURE_BATCH_ENDPOINT", "http://batch.example.com")
    assert run("jobs", "list", "dev").stderr == (
        "Error: GPUFLEET_AZURE_BATCH_ENDPOINT=http://batch.example.com: must be an http:// URL of this machine; "
        "change or unset it\n"
    )


def test_played_account_is_asked_in_a_rehearsal_only(
    here: FakeBatch, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GPUFLEET_REHEARSAL")
    assert run("jobs", "list", "dev").stderr == (
        f"Error: GPUFLEET_AZURE_BATCH_ENDPOINT={here.url}: holds in a rehearsal only; unset it, or run `gpufleet "
        "rehearse ENV -- ...`\n"
    )
    assert here.asked == []


def test_what_may_pass_is_told_from_what_does_not(here: FakeBatch, settings: JobSettings) -> None:
    assert settings.azure_batch is not None
    batch = AzureBatchClient(settings.azure_batch, retries=0)
    refused(here, 503, "ServerBusy")
    with pytest.raises(AzureBusy):
        batch.find("get_job", "train")
