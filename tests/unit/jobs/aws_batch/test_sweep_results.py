"""A sweep from its table of parameters to its table of results: children run for real, with Python 3.8 if it is here.

AWS is moto behind a loopback address. What a child writes to its outputs is put into the bucket by the test.
"""

import csv
import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.tools.fake_aws import BUCKET, IMAGE, FakeAws, container_role, ended
from tests.tools.oldest_python import path_with_oldest_python
from tests.unit.jobs.aws_batch.test_array_jobs import children

WRITE = (
    'place=${GPUFLEET_OUTPUTS#s3://}; mkdir -p "$place"; '
    'echo "{\\"loss\\": $1, \\"seed\\": \\"$2\\"}" > "$place/result.json"'
)
"""A training program: its result is its own rate."""


def seed(number: int) -> str:
    return f"a long word that no grid makes {number}"


def table(rows: int) -> str:
    return "rate,seed\n" + "".join(f"{number / 100},{seed(number)}\n" for number in range(rows))


def run_children(here: FakeAws, indices: Iterable[int], folder: Path) -> None:
    """As AWS Batch runs them; what they write is put into the bucket."""
    [sent] = here.bodies("submitjob")
    overrides = sent["containerOverrides"]
    variables = {each["name"]: each["value"] for each in overrides["environment"]}
    path = path_with_oldest_python(folder / "bin")
    with container_role() as keys:
        role = {"AWS_CONTAINER_CREDENTIALS_FULL_URI": keys, "AWS_ENDPOINT_URL_S3": here.url}
        for index in indices:
            own = {"PATH": path, **variables, **role, "AWS_BATCH_JOB_ARRAY_INDEX": str(index)}
            done = subprocess.run(
                overrides["command"], env=own, cwd=folder, capture_output=True, text=True, timeout=300, check=False
            )
            assert done.returncode == 0, done.stderr
    s3 = here.client("s3")
    for file in (folder / BUCKET).rglob("*.json"):
        s3.put_object(Bucket=BUCKET, Key=file.relative_to(folder / BUCKET).as_posix(), Body=file.read_bytes())


def submitted(here: FakeAws, run: Any, folder: Path, rows: int) -> list[Any]:
    """The children of a sweep of so many rows."""
    (folder / "p.csv").write_text(table(rows))
    options = ("--name", "search", "--image", IMAGE, "--params", str(folder / "p.csv"))
    done = run("jobs", "submit", "dev", *options, "--", "sh", "-c", WRITE, "sh", "{rate}", "{seed}")
    assert done.exit_code == 0, done.output
    return children(here.wait_for_job("search"))


def read(file: Path) -> list[list[str]]:
    with file.open(newline="") as source:
        return list(csv.reader(source))


def test_sweep_of_300_rows(here: FakeAws, run: Any, tmp_path: Path) -> None:
    found = submitted(here, run, tmp_path, 300)
    well = [index for index in range(300) if index not in (3, 7)]
    run_children(here, well[::10], tmp_path)
    for index in set(well) - set(well[::10]):
        put(here, **{f"{index}/result.json": json.dumps({"loss": index / 100, "seed": seed(index)})})
    for index, child in enumerate(found):
        ended(child, 1 if index == 3 else 0)
    # One of them ends without a word.
    done = run("jobs", "outputs", "get", "dev", "search", str(tmp_path / "to"))
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[-1] == f"{tmp_path}/to/results.csv: 300 children, 298 with a result"
    header, *rows = read(tmp_path / "to/results.csv")
    assert header == ["child", "state", "rate", "seed", "loss", "result.seed"]
    assert len(rows) == 300
    for index in well:
        rate = str(index / 100)
        assert rows[index] == [str(index), "SUCCEEDED", rate, seed(index), rate, seed(index)]
    assert rows[3] == ["3", "FAILED", "0.03", seed(3), "", ""]
    assert rows[7][:2] == ["7", "SUCCEEDED"]
    assert rows[7][4:] == ["", ""]


def test_sweep_of_2000_rows_reads_its_table_from_the_bucket(here: FakeAws, run: Any, tmp_path: Path) -> None:
    submitted(here, run, tmp_path, 2000)
    some = [0, 149, 151, 499, 501, 1999]
    run_children(here, some, tmp_path)
    done = run("jobs", "outputs", "get", "dev", "search", str(tmp_path / "to"))
    assert done.stdout.splitlines()[-1] == f"{tmp_path}/to/results.csv: 2,000 children, 6 with a result"
    _, *rows = read(tmp_path / "to/results.csv")
    assert [row[0] for row in rows if row[4]] == [str(index) for index in some]
    assert rows[1999] == ["1999", "SUBMITTED", "19.99", seed(1999), "19.99", seed(1999)]


def put(here: FakeAws, **content: str) -> None:
    for path, text in content.items():
        here.client("s3").put_object(Bucket=BUCKET, Key=f"jobs/search/{path}", Body=text.encode())


def test_job_that_batch_has_forgotten(here: FakeAws, run: Any, tmp_path: Path) -> None:
    put(here, **{"parameters.csv": "rate\n1\n2\n", "0/result.json": '{"loss": 0.5, "note": "a, b", "all": [1, 2]}'})
    done = run("jobs", "outputs", "get", "dev", "search", str(tmp_path))
    assert done.stdout.splitlines()[-2:] == [
        "search: the states of its children are not known: search: job not found in queue dev-queue of us-east-1; AWS "
        "Batch forgets jobs some 7 days after their end; see `gpufleet jobs list dev`",
        f"{tmp_path}/results.csv: 2 children, 1 with a result",
    ]
    assert (tmp_path / "results.csv").read_text() == (
        'child,state,rate,loss,note,all\n0,UNKNOWN,1,0.5,"a, b","[1, 2]"\n1,UNKNOWN,2,,,\n'
    )


@pytest.mark.parametrize(
    ("text", "fault"), [("[1]", "must be an object, not a list"), ("{", "line 1: is not JSON: it ends too early")]
)
def test_result_that_is_no_object(here: FakeAws, run: Any, tmp_path: Path, text: str, fault: str) -> None:
    put(here, **{"parameters.csv": "rate\n1\n2\n", "0/result.json": "{}", "1/result.json": text})
    done = run("jobs", "outputs", "get", "dev", "search", str(tmp_path))
    assert done.stdout.splitlines()[-2:] == [
        f"search:1: result.json {fault}; its row has no result",
        f"{tmp_path}/results.csv: 2 children, 1 with a result",
    ]


def test_job_of_one_has_no_table(here: FakeAws, run: Any, tmp_path: Path) -> None:
    put(here, **{"result.json": "{}"})
    assert run("jobs", "outputs", "get", "dev", "search", str(tmp_path)).exit_code == 0
    assert not (tmp_path / "results.csv").exists()
