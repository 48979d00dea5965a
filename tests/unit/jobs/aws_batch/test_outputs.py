"""`gpufleet jobs outputs`: from S3, which is moto behind a loopback address, with connections that break."""

import itertools
import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from gpufleet.errors import UserError
from gpufleet.jobs.aws_batch import outputs as outputs_module
from gpufleet.jobs.aws_batch.client import AwsBatchClient
from gpufleet.jobs.aws_batch.outputs import AT_ONCE, AwsBatchOutputs
from gpufleet.jobs.settings import JobSettings
from tests.tools.fake_aws import BUCKET, FakeAws, outputs

BIG = bytes(range(256)) * 12_000


@pytest.fixture
def job(here: FakeAws) -> FakeAws:
    s3 = here.client("s3")
    for key, body in (("checkpoint.npz", BIG), ("logs/a/loss.csv", b"1,0.5\n"), ("empty", b""), ("logs/", b"")):
        s3.put_object(Bucket=BUCKET, Key=f"jobs/train/{key}", Body=body)
    s3.put_object(Bucket=BUCKET, Key="jobs/train-2/other", Body=b"not of this job")
    here.asked.clear()
    return here


def fetched(here: FakeAws) -> list[str]:
    """Paths of all objects that were asked for since."""
    return [what.split("?")[0] for service, what, _ in here.asked if service == "s3" and "list-type" not in what]


def test_list_and_get(job: FakeAws, run: Any, tmp_path: Path) -> None:
    rows = json.loads(run("jobs", "outputs", "list", "dev", "train", "--json").stdout)
    assert [(each["path"], each["bytes"]) for each in rows] == [
        ("checkpoint.npz", len(BIG)),
        ("empty", 0),
        ("logs/a/loss.csv", 6),
    ]
    assert "      3,072,000  20" in run("jobs", "outputs", "list", "dev", "train").stdout
    to = tmp_path / "run"
    done = run("jobs", "outputs", "get", "dev", "train", str(to))
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[0] == "checkpoint.npz: 3,072,000 bytes, 3,072,000 bytes fetched"
    assert done.stdout.splitlines()[-1] == f"3 files in {to}, 3,072,006 bytes fetched, sizes right"
    assert (to / "checkpoint.npz").read_bytes() == BIG
    assert (to / "logs/a/loss.csv").read_bytes() == b"1,0.5\n"
    assert (to / "empty").read_bytes() == b""
    assert sorted(each.name for each in to.iterdir()) == ["checkpoint.npz", "empty", "logs"]


def test_get_as_json(job: FakeAws, run: Any, tmp_path: Path) -> None:
    done = run("jobs", "outputs", "get", "dev", "train", str(tmp_path), "--json")
    sizes = {"checkpoint.npz": len(BIG), "empty": 0, "logs/a/loss.csv": 6}
    assert json.loads(done.stdout) == {
        "schema": 1,
        "environment": "dev",
        "job": "train",
        "directory": str(tmp_path),
        "files": [{"path": path, "bytes": size, "transferred_bytes": size} for path, size in sizes.items()],
        "transferred_bytes": len(BIG) + 6,
    }
    assert done.stderr.splitlines()[-1].startswith(f"3 files in {tmp_path}")
    again = json.loads(run("jobs", "outputs", "get", "dev", "train", str(tmp_path), "--json").stdout)
    assert (again["transferred_bytes"], again["files"][0]["bytes"]) == (0, len(BIG))


def test_what_is_here_is_not_fetched_again_and_what_changed_is(job: FakeAws, run: Any, tmp_path: Path) -> None:
    run("jobs", "outputs", "get", "dev", "train", str(tmp_path))
    job.asked.clear()
    done = run("jobs", "outputs", "get", "dev", "train", str(tmp_path))
    assert done.stdout.splitlines()[-1].endswith("0 bytes fetched, sizes right")
    assert fetched(job) == []
    # Of the same size, but written later.
    later = (tmp_path / "logs/a/loss.csv").stat().st_mtime - 10
    os.utime(tmp_path / "logs/a/loss.csv", (later, later))
    run("jobs", "outputs", "get", "dev", "train", str(tmp_path))
    assert fetched(job) == [f"/{BUCKET}/jobs/train/logs/a/loss.csv"]


def test_interrupted_copy_goes_on_where_it_was(job: FakeAws, run: Any, tmp_path: Path) -> None:
    run("jobs", "outputs", "get", "dev", "train", str(tmp_path))
    whole = tmp_path / "checkpoint.npz"
    (tmp_path / part_of(job, "checkpoint.npz")).write_bytes(BIG[:1_000_000])
    whole.unlink()
    done = run("jobs", "outputs", "get", "dev", "train", str(tmp_path))
    assert "checkpoint.npz: 3,072,000 bytes, 2,072,000 bytes fetched" in done.stdout
    assert whole.read_bytes() == BIG
    assert not (tmp_path / part_of(job, "checkpoint.npz")).exists()


def test_rest_of_another_version_is_not_gone_on_with(job: FakeAws, run: Any, tmp_path: Path) -> None:
    (tmp_path / part_of(job, "checkpoint.npz")).write_bytes(b"x" * 1000)
    job.client("s3").put_object(Bucket=BUCKET, Key="jobs/train/checkpoint.npz", Body=BIG[::-1])
    assert run("jobs", "outputs", "get", "dev", "train", str(tmp_path)).exit_code == 0
    assert (tmp_path / "checkpoint.npz").read_bytes() == BIG[::-1]


def part_of(here: FakeAws, name: str) -> str:
    import hashlib

    etag = here.client("s3").head_object(Bucket=BUCKET, Key=f"jobs/train/{name}")["ETag"]
    return f"{name}.gpufleet-part-{hashlib.sha256(etag.encode()).hexdigest()[:8]}"


def test_connections_that_break_cost_no_byte(job: FakeAws, run: Any, tmp_path: Path) -> None:
    broken = iter([1_000_000, 500_000])
    job.cuts.append(lambda what: next(broken, None) if "checkpoint" in what else None)
    done = run("jobs", "outputs", "get", "dev", "train", str(tmp_path))
    assert done.exit_code == 0, done.output
    assert (tmp_path / "checkpoint.npz").read_bytes() == BIG
    # Nothing came twice.
    assert "checkpoint.npz: 3,072,000 bytes, 3,072,000 bytes fetched" in done.stdout
    assert len([each for each in fetched(job) if "checkpoint" in each]) == 3


def test_child_of_an_array_has_outputs_of_its_own(job: FakeAws, run: Any) -> None:
    job.client("s3").put_object(Bucket=BUCKET, Key="jobs/search/7/model", Body=b"m")
    assert run("jobs", "outputs", "list", "dev", "search:7").stdout.endswith("  model\n")


def test_keys_that_lead_elsewhere_are_refused(job: FakeAws, run: Any, tmp_path: Path) -> None:
    job.client("s3").put_object(Bucket=BUCKET, Key="jobs/evil/../../x", Body=b"x")
    done = run("jobs", "outputs", "get", "dev", "evil", str(tmp_path / "a" / "b"))
    assert (done.exit_code, done.stderr) == (
        1,
        "Error: ../../x: is not a valid local path; copy it with `aws s3 cp`\n",
    )
    assert not (tmp_path / "x").exists()


def test_mistakes_are_one_line(job: FakeAws, run: Any, tmp_path: Path) -> None:
    assert run("jobs", "outputs", "get", "dev", "none", str(tmp_path)).stderr == (
        f"Error: none: there is nothing at s3://{BUCKET}/jobs/none/; a job writes its outputs to $GPUFLEET_OUTPUTS, "
        "and `gpufleet jobs list dev` knows the jobs of the last days\n"
    )
    (tmp_path / "file").write_text("")
    assert run("jobs", "outputs", "get", "dev", "train", str(tmp_path / "file")).stderr.startswith(
        f"Error: {tmp_path}/file: "
    )
    given = outputs()
    given["jobs"]["bucket"] = "gone"
    assert run("jobs", "outputs", "list", "dev", "train", given=given).stderr == (
        "Error: dev: bucket=gone: bucket not found; `pulumi up` makes it\n"
    )
    del given["jobs"]["bucket"]
    assert run("jobs", "outputs", "list", "dev", "train", given=given).stderr.startswith(
        "Error: dev: the stack's outputs have no bucket (jobs.bucket)"
    )
    given = {"kubeconfig": "{}", "jobs": {}}
    assert run("jobs", "outputs", "list", "dev", "train", given=given).stderr == (
        "Error: dev: its jobs run on Kubernetes, and write to the shared volume; use `gpufleet data get`\n"
    )


def test_files_are_fetched_several_at_a_time(here: FakeAws, run: Any, tmp_path: Path) -> None:
    """Of 2,000 children one after another, with 50 ms for each, it would be minutes; each file is one call."""
    s3, count = here.client("s3"), 3 * AT_ONCE
    for number in range(count):
        s3.put_object(Bucket=BUCKET, Key=f"jobs/search/{number}/result.json", Body=b"{}")
    here.asked.clear()
    # The first are answered when as many are asked for; one after another, none would be.
    together, lock, order = threading.Barrier(AT_ONCE), threading.Lock(), itertools.count()

    def first_together(service: str, what: str, body: bytes) -> None:
        if "result.json" in what:
            with lock:
                number = next(order)
            if number < AT_ONCE:
                together.wait(120)

    here.refusals.append(first_together)
    done = run("jobs", "outputs", "get", "dev", "search", str(tmp_path))
    assert done.exit_code == 0, done.output
    lines = [f"{number}/result.json: 2 bytes, 2 bytes fetched" for number in sorted(map(str, range(count)))]
    assert done.stdout.splitlines()[: count + 1] == [
        *lines,
        f"{count} files in {tmp_path}, {2 * count} bytes fetched, sizes right",
    ]
    assert len(fetched(here)) == count
    assert len([what for service, what, _ in here.asked if service == "s3" and "list-type" in what]) == 1


def test_error_of_one_file_ends_the_copy(here: FakeAws, run: Any, tmp_path: Path) -> None:
    s3 = here.client("s3")
    for name in ("a", "b/c"):
        s3.put_object(Bucket=BUCKET, Key=f"jobs/train/{name}", Body=b"1")
    (tmp_path / "b").write_text("")
    done = run("jobs", "outputs", "get", "dev", "train", str(tmp_path))
    assert (done.exit_code, done.stdout) == (1, "a: 1 bytes, 1 bytes fetched\n")
    assert done.stderr == f"Error: {tmp_path / 'b'}: File exists; give another directory\n"


def test_what_is_under_way_ends_with_the_copy(
    here: FakeAws, settings: JobSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After Ctrl-C or an error nobody waits for large files; what has come of them stays for the next time."""
    for key, body in (("a/b", b"1"), ("checkpoint.npz", BIG)):
        here.client("s3").put_object(Bucket=BUCKET, Key=f"jobs/train/{key}", Body=body)
    (tmp_path / "a").write_text("")
    ending = threading.Event()

    class Workers(ThreadPoolExecutor):
        def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
            ending.set()
            super().shutdown(wait, cancel_futures=cancel_futures)

    monkeypatch.setattr(outputs_module, "ThreadPoolExecutor", Workers)
    assert settings.batch
    client = AwsBatchClient(settings.batch.region)
    copy = AwsBatchOutputs(client, settings.batch, "dev", lambda path, done, size: ending.wait(120) and None)
    with pytest.raises(UserError, match="File exists"):
        list(copy.get("train", tmp_path))
    assert not (tmp_path / "checkpoint.npz").exists()
    part = tmp_path / part_of(here, "checkpoint.npz")
    assert not part.exists() or part.stat().st_size < len(BIG)
