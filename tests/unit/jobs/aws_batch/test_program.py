"""`--script` on AWS Batch: no image is built; every container unpacks the program that was submitted."""

import hashlib
import io
import json
import os
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest

from gpufleet.jobs.aws_batch import container_start
from gpufleet.jobs.aws_batch.entrypoint import OVERRIDES_LIMIT, overrides_length
from tests.tools.fake_aws import BUCKET, IMAGE, FakeAws, container_role, outputs
from tests.tools.oldest_python import path_with_oldest_python

TRAIN = """import json, os, sys
from model import WORD
print(json.dumps([WORD, sys.argv[1:], os.getcwd(), os.environ.get("GPUFLEET_OUTPUTS")]))
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    folder = tmp_path / "program"
    (folder / "tools").mkdir(parents=True)
    (folder / "train.py").write_text(TRAIN)
    (folder / "model.py").write_text("WORD = 'edited'\n")
    (folder / "tools" / "go.sh").write_text('#!/bin/sh\nexec python3 train.py "$@"\n')
    (folder / "tools" / "go.sh").chmod(0o755)
    return folder


@pytest.fixture
def unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Instead of a path in a container's own /tmp."""
    folder = tmp_path / "unpacked"
    monkeypatch.setattr(container_start, "PROGRAM_FOLDER", str(folder))
    return folder


def submit(run: Any, program: Path, *options: str, command: tuple[str, ...] = ("python3", "train.py")) -> Any:
    given = ("--name", "train", "--image", IMAGE, "--script", str(program), *options)
    return run("jobs", "submit", "dev", *given, "--", *command)


def overrides(here: FakeAws) -> dict[str, Any]:
    sent = here.bodies("submitjob")[-1]
    if "nodeOverrides" in sent:
        [every] = sent["nodeOverrides"]["nodePropertyOverrides"]
        return dict(every["containerOverrides"])
    return dict(sent["containerOverrides"])


def start(here: FakeAws, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """A container, with Python 3.8 if it is here."""
    sent = overrides(here)
    told = {each["name"]: each["value"] for each in sent["environment"]}
    with container_role() as keys:
        role = {"AWS_CONTAINER_CREDENTIALS_FULL_URI": keys, "AWS_ENDPOINT_URL_S3": here.url}
        own = {"PATH": path_with_oldest_python(folder / "bin"), **told, **role, **variables}
        return subprocess.run(
            sent["command"], env=own, capture_output=True, text=True, timeout=300, check=False, cwd=folder
        )


def test_edited_program_runs_without_an_image_build(
    here: FakeAws, run: Any, program: Path, unpacked: Path, tmp_path: Path
) -> None:
    done = submit(run, program, command=("tools/go.sh", "--steps", "3"))
    assert done.exit_code == 0, done.output
    assert f"note: train: 3 files sent to s3://{BUCKET}/jobs/train\n" in done.stderr
    ended = start(here, tmp_path)
    assert json.loads(ended.stdout) == ["edited", ["--steps", "3"], str(unpacked), f"s3://{BUCKET}/jobs/train"]
    assert "registerjobdefinition" not in json.dumps(here.bodies("registerjobdefinition"))


def test_same_program_is_the_same_archive(here: FakeAws, run: Any, program: Path) -> None:
    found = set()
    for name in ("one", "two"):
        run("jobs", "submit", "dev", "--name", name, "--image", IMAGE, "--script", str(program), "--", "python3", "t")
        os.utime(program / "train.py", (0, 0))
        content = here.client("s3").get_object(Bucket=BUCKET, Key=f"jobs/{name}/program.zip")["Body"].read()
        assert zipfile.ZipFile(io.BytesIO(content)).namelist() == ["model.py", "tools/go.sh", "train.py"]
        found.add(hashlib.sha256(content).hexdigest())
    assert len(found) == 1


def test_children_have_program_and_parameters(
    here: FakeAws, run: Any, program: Path, unpacked: Path, tmp_path: Path
) -> None:
    command = ("python3", "train.py", "--rate", "{rate}")
    assert submit(run, program, "--grid", "rate=1,2,3", command=command).exit_code == 0
    ended = start(here, tmp_path, AWS_BATCH_JOB_ARRAY_INDEX="2")
    outputs = f"s3://{BUCKET}/jobs/train/2"
    assert json.loads(ended.stdout) == ["edited", ["--rate", "3"], str(unpacked), outputs], ended.stderr
    assert ended.stderr == "gpufleet: rate=3\n"


def test_array_without_parameters(here: FakeAws, run: Any, program: Path, unpacked: Path, tmp_path: Path) -> None:
    assert submit(run, program, "--array", "4").exit_code == 0
    ended = start(here, tmp_path, AWS_BATCH_JOB_ARRAY_INDEX="0")
    assert json.loads(ended.stdout) == ["edited", [], str(unpacked), f"s3://{BUCKET}/jobs/train/0"], ended.stderr


@pytest.mark.parametrize("options", [["--nodes", "2", "--gpus", "8"], ["--gpus", "8", "--params", "{table}"]])
def test_what_starts_ranks_travels_with_the_program(
    here: FakeAws, run: Any, program: Path, tmp_path: Path, options: list[str]
) -> None:
    """With both in the command, it would be too long."""
    (tmp_path / "p.csv").write_text("rate\n" + "".join(f"{number * 7919 % 104729:x}\n" for number in range(3000)))
    words = [each.format(table=tmp_path / "p.csv") for each in options]
    done = submit(run, program, *words)
    assert done.exit_code == 0, done.output
    sent = overrides(here)
    assert sent["command"][4:] == ["python3", "-I", "/tmp/gpufleet-program/.gpufleet.py", "python3", "train.py"]
    variables = {each["name"]: each["value"] for each in sent["environment"]}
    assert overrides_length(sent["command"], variables) < OVERRIDES_LIMIT - 1024
    content = here.client("s3").get_object(Bucket=BUCKET, Key="jobs/train/program.zip")["Body"].read()
    assert "zlib.decompress" in zipfile.ZipFile(io.BytesIO(content)).read(".gpufleet.py").decode()


def test_archive_that_somebody_changed_is_not_run(
    here: FakeAws, run: Any, program: Path, unpacked: Path, tmp_path: Path
) -> None:
    assert submit(run, program).exit_code == 0
    here.client("s3").put_object(Bucket=BUCKET, Key="jobs/train/program.zip", Body=b"other")
    ended = start(here, tmp_path)
    said = f"gpufleet: s3://{BUCKET}/jobs/train/program.zip is not what was submitted\n"
    assert (ended.returncode, ended.stderr) == (1, said)


def test_dry_run_names_the_files(here: FakeAws, run: Any, program: Path) -> None:
    done = submit(run, program, "--dry-run", "--json")
    assert json.loads(done.stdout)["program"] == ["model.py", "tools/go.sh", "train.py"]
    assert not [what for service, what, _ in here.asked if service == "s3"]


def test_environment_without_a_bucket(here: FakeAws, run: Any, program: Path) -> None:
    given = outputs()
    del given["jobs"]["bucket"]
    words = ("--name", "train", "--image", IMAGE, "--script", str(program), "--", "python3", "train.py")
    done = run("jobs", "submit", "dev", *words, given=given)
    assert done.stderr == (
        "Error: train: script: the environment has no bucket to send it by (jobs.bucket); run `pulumi up` with an "
        "outputs bucket, or build an image with it\n"
    )
