"""What goes to and comes from containers for jobs on Azure Batch, against Azurite: programs, logs, outputs."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gpufleet.jobs.azure_batch import backend
from gpufleet.jobs.azure_batch.blobs import JobBlobs
from gpufleet.jobs.azure_storage import clients
from tests.tools.azurite_server import Azurite, azurite
from tests.tools.batch_account import FakeBatch
from tests.tools.fake_azure_batch import play

pytestmark = pytest.mark.azurite

TRAIN = ("--name", "train", "--pool", "spot", "--image", "training:base", "--", "python3", "train.py")


@pytest.fixture(scope="module")
def account() -> Iterator[Azurite]:
    with azurite("devfiles") as there:
        for container in ("scripts", "result"):
            there.service().create_container(container)
        yield there


@pytest.fixture
def stored(account: Azurite, run: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Azurite instead of what is kept in memory; its containers are emptied after each test."""
    play(monkeypatch, "GPUFLEET_AZURE_BLOB_ENDPOINT", account.endpoint)
    monkeypatch.setenv("AZURE_STORAGE_KEY", account.key)
    monkeypatch.setattr(backend, "JobBlobs", JobBlobs)
    # The SDK's own tries pause for a quarter of a minute.
    monkeypatch.setitem(clients._PACE, "retry_total", 0)
    service = account.service()
    yield service
    for container in ("scripts", "result"):
        client = service.get_container_client(container)
        for name in [each.name for each in client.list_blobs()]:
            client.delete_blob(name)


def test_program_arrives_whole(here: FakeBatch, run: Any, stored: Any, tmp_path: Path) -> None:
    program = tmp_path / "program"
    (program / "model").mkdir(parents=True)
    (program / "train.py").write_bytes(b"import model\n" * 1000)
    (program / "model" / "net.py").write_text("")
    assert run("jobs", "submit", "dev", "--script", str(program), *TRAIN).exit_code == 0
    scripts = stored.get_container_client("scripts")
    assert {each.name: each.size for each in scripts.list_blobs()} == {
        "jobs/train/train.py": 13000,
        "jobs/train/model/net.py": 0,
    }
    files = here.tasks["train"]["resourceFiles"]
    assert {each["filePath"]: each["httpUrl"].rpartition("/scripts/")[2] for each in files} == {
        "train.py": "jobs/train/train.py",
        "model/net.py": "jobs/train/model/net.py",
    }


def test_job_is_taken_back_when_its_program_cannot_be_sent(
    here: FakeBatch, run: Any, stored: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "train.py").write_text("")
    given = ("--script", str(tmp_path / "train.py"))
    monkeypatch.setenv("AZURE_STORAGE_KEY", "d3Jvbmc=")
    done = run("jobs", "submit", "dev", *given, *TRAIN)
    assert done.exit_code == 1
    assert done.stderr.count("\n") == 1
    assert here.jobs == {}


def test_log_of_a_node_that_is_gone(here: FakeBatch, run: Any, stored: Any) -> None:
    assert run("jobs", "submit", "dev", *TRAIN).exit_code == 0
    here.starts("train")
    here.forgets_files("train")
    here.ends("train")
    stored.get_blob_client("result", "jobs/train/stdout.txt").upload_blob("epoch 1\népoch 2\n".encode())
    assert run("jobs", "logs", "dev", "train").stdout == "epoch 1\népoch 2\n"
    done = run("jobs", "logs", "dev", "train", "--follow")
    assert (done.exit_code, done.stdout) == (0, "epoch 1\népoch 2\n")


def test_outputs_are_listed_and_fetched_once(run: Any, stored: Any, tmp_path: Path) -> None:
    result = stored.get_container_client("result")
    for name, content in {"stdout.txt": b"epoch 1\n", "model/weights.npz": bytes(range(256)) * 10}.items():
        result.upload_blob(f"jobs/train/{name}", content)
    result.upload_blob("jobs/train-2/other.txt", b"another job's")
    # What a mounted container has for a directory.
    result.upload_blob("jobs/train/model", b"", metadata={"hdi_isfolder": "true"})
    listed = run("jobs", "outputs", "list", "dev", "train")
    rows = [line.split() for line in listed.stdout.splitlines()]
    assert [(size, path) for size, _, path in rows] == [("2,560", "model/weights.npz"), ("8", "stdout.txt")]
    found = json.loads(run("jobs", "outputs", "list", "dev", "train", "--json").stdout)
    assert [each["bytes"] for each in found] == [2560, 8]
    to = tmp_path / "run-1"
    done = run("jobs", "outputs", "get", "dev", "train", str(to))
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [
        "model/weights.npz: 2,560 bytes, 2,560 bytes fetched",
        "stdout.txt: 8 bytes, 8 bytes fetched",
        f"2 files in {to}, 2,568 bytes fetched, sizes right",
    ]
    assert (to / "model" / "weights.npz").read_bytes() == bytes(range(256)) * 10
    again = run("jobs", "outputs", "get", "dev", "train", str(to))
    assert again.stdout.splitlines()[-1] == f"2 files in {to}, 0 bytes fetched, sizes right"


def test_job_without_outputs(run: Any, stored: Any) -> None:
    for verb in ("list", "get"):
        done = run("jobs", "outputs", verb, "dev", "none")
        assert (done.exit_code, done.stderr) == (
            1,
            "Error: none: there is nothing at https://devfiles.blob.core.windows.net/result/jobs/none; a job writes "
            "its outputs to $GPUFLEET_OUTPUTS, and `gpufleet jobs list dev` knows the jobs of the last days\n",
        )


def test_account_that_is_not_there_is_one_line(run: Any, stored: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUFLEET_AZURE_BLOB_ENDPOINT", "http://127.0.0.1:1/none")
    done = run("jobs", "outputs", "list", "dev", "train")
    assert done.exit_code == 1
    assert "does not answer" in done.stderr
    assert done.stderr.count("\n") == 1
