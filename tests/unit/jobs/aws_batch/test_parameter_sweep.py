"""How a child of an array gets its row: the generated command, run for real by this machine's python3."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from gpufleet.errors import UserError
from gpufleet.jobs.aws_batch.container_start import BucketFile, start_command
from gpufleet.jobs.aws_batch.entrypoint import OVERRIDES_LIMIT, overrides_length
from gpufleet.jobs.aws_batch.node_side.s3 import signed_headers
from gpufleet.jobs.aws_batch.parameter_sweep import (
    ParameterTable,
    expand_grid,
    indexed_command,
    read_csv,
)
from gpufleet.jobs.aws_batch.submission import build_submission
from gpufleet.jobs.request import JobRequest
from gpufleet.jobs.settings import JobSettings
from tests.tools.fake_aws import BUCKET, FakeAws, container_role
from tests.tools.oldest_python import path_with_oldest_python
from tests.unit.jobs.embedded import text_of

TELL = (
    "import json, os, sys; print(json.dumps([sys.argv[1:], os.environ.get('lr'), os.environ.get('GPUFLEET_OUTPUTS')]))"
)


@pytest.fixture(autouse=True, params=["oldest", "newest"])
def python(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs on nodes runs with Python 3.8, too."""
    if request.param == "oldest":
        monkeypatch.setenv("PATH", path_with_oldest_python(tmp_path / "bin"))


def child_command(table: ParameterTable, words: list[str], own: int, at: tuple[str, str, str] | None) -> list[str]:
    """at: bucket, key and region of the table's file."""
    return start_command(words, own, table=table, table_file=BucketFile(*at, b"") if at else None)


def command(*words: str) -> list[str]:
    return [sys.executable, "-c", TELL, *words]


def child(words: list[str], index: int | None, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run it as Batch runs a child of an array."""
    index_of = {} if index is None else {"AWS_BATCH_JOB_ARRAY_INDEX": str(index)}
    own = {"PATH": os.environ["PATH"], "GPUFLEET_OUTPUTS": "s3://b/jobs/a", **index_of, **variables}
    return subprocess.run(words, env=own, capture_output=True, text=True, timeout=300, check=False)


GRID = expand_grid({"lr": [0.1, 0.01], "batch": [32, 64, 128]})


def test_grid_gives_each_child_its_combination() -> None:
    words = command("--lr={lr}", "{batch}", "{other}")
    sent = child_command(GRID, words, 5, None)
    for index, (lr, batch) in enumerate(GRID.rows):
        done = child(sent, index)
        assert json.loads(done.stdout) == [[f"--lr={lr}", batch, "{other}"], lr, f"s3://b/jobs/a/{index}"], done.stderr
        assert done.stderr == f"gpufleet: lr={lr} batch={batch}\n"


def test_values_may_hold_anything() -> None:
    table = ParameterTable(("lr", "x"), [("{x}", 'a"b\\ \n é'), ("1", "")])
    done = child(child_command(table, command("{lr}", "{x}"), 2, None), 0)
    assert json.loads(done.stdout)[0] == ["{x}", 'a"b\\ \n é'], done.stderr


def test_only_the_users_words_take_values() -> None:
    """Words before them are a program of ours, with braces of its own."""
    done = child(child_command(GRID, command("{lr}", "{lr}"), 1, None), 0)
    assert json.loads(done.stdout)[0] == ["{lr}", "0.1"]


def test_single_row_needs_no_index() -> None:
    done = child(child_command(expand_grid({"lr": [7]}), command("{lr}"), 1, None), None)
    assert json.loads(done.stdout) == [["7"], "7", "s3://b/jobs/a"]


def test_array_without_parameters_has_outputs_of_its_own() -> None:
    done = child(indexed_command(command("a b", "*")), 7)
    assert json.loads(done.stdout) == [["a b", "*"], None, "s3://b/jobs/a/7"]


def test_exit_code_of_the_command_is_the_childs() -> None:
    assert child(child_command(GRID, [sys.executable, "-c", "raise SystemExit(9)"], 1, None), 0).returncode == 9
    done = child(child_command(GRID, ["no-such-program"], 1, None), 0)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (127, "gpufleet: the image has no no-such-program")


def test_child_without_a_row_says_so() -> None:
    done = child(child_command(ParameterTable(("a",), [("1",)]), command(), 0, None), 5)
    assert (done.returncode, done.stderr) == (1, "gpufleet: there are 1 rows of parameters, and this is child 5\n")


def long_table() -> ParameterTable:
    rows = [(str(number), f"{number * 7919 % 104729:x}-{number**5:x}, twice") for number in range(3000)]
    return ParameterTable(("lr", "note"), rows)


def test_long_table_is_read_from_the_bucket(here: FakeAws) -> None:
    table = long_table()
    here.client("s3").put_object(Bucket=BUCKET, Key="jobs/a b/parameters.csv", Body=table.csv().encode())
    sent = child_command(table, command("{lr}", "{note}"), 2, (BUCKET, "jobs/a b/parameters.csv", "us-east-1"))
    with container_role() as keys:
        done = child(sent, 2999, AWS_CONTAINER_CREDENTIALS_FULL_URI=keys, AWS_ENDPOINT_URL_S3=here.url)
    assert json.loads(done.stdout)[0] == list(table.rows[2999]), done.stderr


def test_bucket_that_refuses_is_one_line(here: FakeAws) -> None:
    sent = child_command(GRID_FAR, command(), 0, (BUCKET, "none.csv", "us-east-1"))
    with container_role() as keys:
        done = child(sent, 0, AWS_CONTAINER_CREDENTIALS_FULL_URI=keys, AWS_ENDPOINT_URL=here.url)
    assert done.returncode == 1
    assert done.stderr == f"gpufleet: s3://{BUCKET}/none.csv cannot be read: HTTP Error 404: Not Found\n"
    done = child(sent, 0, AWS_ENDPOINT_URL=here.url)
    assert done.stderr.startswith(
        "gpufleet: the job definition gives its containers no role, and S3 has what they need; give it a job role"
    )


GRID_FAR = ParameterTable(("a",), [("1",)])


@pytest.mark.parametrize("token", ["", "TOKEN"])
def test_signature_is_that_of_botocore(token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    url, now = "https://s3.eu-west-1.amazonaws.com/bucket/a%20b/c.csv", datetime(2026, 11, 21, 12, 0, 5, tzinfo=UTC)
    monkeypatch.setattr("botocore.auth.get_current_datetime", lambda remove_tzinfo=True: now.replace(tzinfo=None))
    ours = signed_headers(url, "eu-west-1", ["A", "S", token], now)
    request = AWSRequest("GET", url, headers={"x-amz-content-sha256": ours["x-amz-content-sha256"]})
    S3SigV4Auth(Credentials("A", "S", token or None), "s3", "eu-west-1").add_auth(request)
    assert ours["authorization"] == request.headers["Authorization"]


def definition() -> dict[str, object]:
    needs = [{"type": "GPU", "value": "1"}, {"type": "VCPU", "value": "8"}]
    properties = {"image": "i:1", "resourceRequirements": needs}
    return {
        "type": "container",
        "jobDefinitionArn": "arn:d:1",
        "jobDefinitionName": "d",
        "containerProperties": properties,
    }


def sent_command(settings: JobSettings, **request: object) -> list[str]:
    job = JobRequest(command=["python3", "train.py", "{lr}"], name="a", **request)  # type: ignore[typeddict-item]
    overrides = build_submission(settings, job, definition(), "i:1").arguments["containerOverrides"]
    variables = {each["name"]: each["value"] for each in overrides["environment"]}
    assert overrides_length(overrides["command"], variables) < OVERRIDES_LIMIT - 1000
    return list(overrides["command"])


def test_what_is_sent_fits_whatever_the_tables_size(settings: JobSettings, tmp_path: Path) -> None:
    """10,000 combinations are as short as ten; 200 rows travel along, for one GPU; 3000 lie in the bucket."""
    large = {"lr": [str(number) for number in range(100)], "seed": [str(number) for number in range(100)]}
    assert "parameters.csv" not in text_of(sent_command(settings, grid=large)[3])
    for size, far in ((200, False), (3000, True)):
        file = tmp_path / f"{size}.csv"
        table = long_table()
        file.write_text(ParameterTable(table.names, table.rows[:size]).csv())
        program = text_of(sent_command(settings, params=str(file))[3])
        assert ("parameters.csv" in program) is far
    assert sent_command(settings, params=str(file), gpus=8)[-3:] == ["python3", "train.py", "{lr}"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("lr\n", "has no rows; write a line of names, then a line for each child"),
        ("lr,b\n1\n", "row 2 has 1 values, and the first line names 2"),
        ("lr,lr\n1,2\n", "names=[lr, lr]: duplicate name; use each once"),
        ("learning-rate\n1\n", "name=learning-rate: is not a valid variable name; use letters, digits and _"),
        ("AWS_REGION\n1\n", "name=AWS_REGION: the container itself needs this variable; use another name"),
    ],
)
def test_table_with_a_fault(text: str, line: str, tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text(text)
    with pytest.raises(UserError) as error:
        read_csv(file)
    assert str(error.value) == f"{file}: {line}"


def test_table_as_a_spreadsheet_writes_it(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_bytes('\ufefflr,note\r\n0.1,"a, b"\r\n\r\n0.2,"two\r\nlines"\r\n'.encode())
    assert read_csv(file).rows == (("0.1", "a, b"), ("0.2", "two\r\nlines"))
    with pytest.raises(UserError, match="must be a list of values"):
        expand_grid({"lr": "0.1"})
