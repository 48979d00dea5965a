"""The guides' commands on AWS Batch, word for word in a rehearsal, and a sweep from its program to its results."""

import re
import subprocess
import sys
from pathlib import Path
from shlex import quote

import pytest

from tests.e2e.rehearsed_project import REPOSITORY, Project, copy_of_ours
from tests.tools.guide_commands import guide_commands

ENVIRONMENT = "aws-batch-dev"
JOB = re.compile(r"\bJOB\b")
BUILD = "gpufleet images build aws-batch-dev examples/train"
IMAGE = r"000000000000\.dkr\.ecr\.us-east-1\.rehearsal\.invalid/aws-batch-dev/training@sha256:\w{64}"
SPOT, ON_DEMAND = r"aws-batch-dev-spot-environment-\w+", r"aws-batch-dev-ondemand-environment-\w+"
ON_SPOT = [rf"rehearsed: no container ran; {IMAGE} on 1 node of {SPOT}", "JOB: succeeded after 1 min"]
ON_TWO_NODES = [rf"rehearsed: no container ran; {IMAGE} on 2 nodes of {ON_DEMAND}", "JOB: succeeded after 1 min"]
TRAIN = '''
import json, os, sys, urllib.request


def at_bucket(place, content=None):
    """Reads an object, or writes one. The played S3 does not judge signatures."""
    scope = "AWS4-HMAC-SHA256 Credential=A/20261101/us-east-1/s3/aws4_request"
    url = os.environ["AWS_ENDPOINT_URL_S3"] + "/" + place[len("s3://"):]
    asked = urllib.request.Request(url, content, {"Authorization": scope}, method="PUT" if content else "GET")
    with urllib.request.urlopen(asked) as answer:
        return answer.read()


rate, batch = (float(word) for word in sys.argv[1:])
before = os.environ.get("GPUFLEET_AFTER_OUTPUTS")
result = {"loss": rate * batch, "python": sys.version_info[0]}
if before:
    result["before"] = json.loads(at_bucket(before + "/1/result.json"))["loss"]
at_bucket(os.environ["GPUFLEET_OUTPUTS"] + "/result.json", json.dumps(result).encode())
'''


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The environment is up, and its folder has what the guides' commands name."""
    folder = tmp_path_factory.mktemp("guide") / "project"
    folder.mkdir()
    found = copy_of_ours(folder)
    up = found.rehearse(environment=ENVIRONMENT)
    assert up.returncode == 0, up.stdout + up.stderr
    (folder / "examples").symlink_to(REPOSITORY / "examples")
    (folder / "search.csv").write_text("lr\n0.1\n0.01\n0.001\n")
    inside(found, BUILD)
    return found


def inside(project: Project, script: str) -> subprocess.CompletedProcess[str]:
    """What a user types in the rehearsal."""
    done = project.rehearse("--", "bash", "-ec", f"exec 2>&1\n{script}", environment=ENVIRONMENT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def run_and_expect(project: Project, page: str, expected: dict[str, list[str]]) -> None:
    """Run the page's commands, in order; of each, what its last lines match. JOB is the last job's name."""
    commands = [each for each in guide_commands(page) if f" {ENVIRONMENT}" in each]
    assert commands == list(expected)
    said: dict[str, list[str]] = {}
    job = "JOB"
    # In two shells: the name of a job is known when it is submitted.
    for named in (False, True):
        now = [each for each in commands if bool(JOB.search(each)) == named]
        shell = "\n".join(f"echo @{quote(each)}\n{JOB.sub(job, each)}" for each in now)
        for part in inside(project, shell).stdout.split("@gpufleet ")[1:] if now else []:
            command, *lines = f"gpufleet {part}".splitlines()
            said[command] = lines
            job = next((line.partition(": submitted")[0] for line in lines if ": submitted" in line), job)
            for wanted, shown in zip(expected[command], lines[-len(expected[command]) :], strict=True):
                assert re.fullmatch(JOB.sub(job, wanted), shown), (command, wanted, lines)
    assert said.keys() == expected.keys()


def test_guide_of_aws_batch(project: Project) -> None:
    submit = "gpufleet jobs submit aws-batch-dev"
    run_and_expect(
        project,
        "aws-batch",
        {
            BUILD: ["aws-batch-dev/training: jobs run it from now on"],
            f"{submit} --follow -- python3 train.py --synthetic": ON_SPOT,
            f"{submit} --grid lr=0.1,0.01 --wait -- python3 train.py --synthetic --learning-rate {{lr}}": [
                "JOB: 2 SUCCEEDED of 2",
                "JOB: succeeded after 1 min: all 2 children",
            ],
            f"{submit} --nodes 2 --follow -- python3 train.py --synthetic": ON_TWO_NODES,
            f"{submit} --script examples/train --follow -- python3 train.py --synthetic": ON_SPOT,
            "gpufleet jobs outputs get aws-batch-dev JOB ./results": [
                r"program\.zip: ([\d,]+) bytes, \1 bytes fetched",
                r"rehearsed\.txt: (\d+) bytes, \1 bytes fetched",
                r"2 files in results, [\d,]+ bytes fetched, sizes right",
            ],
        },
    )


def test_guide_of_jobs(project: Project) -> None:
    submit, train = "gpufleet jobs submit aws-batch-dev", "python3 train.py --synthetic"
    run_and_expect(
        project,
        "jobs",
        {
            f"{submit} --follow -- {train}": ON_SPOT,
            f"{submit} --params search.csv --wait -- {train} --learning-rate {{lr}}": [
                "JOB: 3 SUCCEEDED of 3",
                "JOB: succeeded after 1 min: all 3 children",
            ],
            f"{submit} --grid lr=0.1,0.01 --grid batch=32,64 -- {train} --learning-rate {{lr}} --batch {{batch}}": [
                "JOB: submitted; follow it with `gpufleet jobs logs aws-batch-dev JOB --follow`"
            ],
            f"{submit} --nodes 2 --follow -- {train}": ON_TWO_NODES,
            f"{submit} --script examples/train --follow -- {train}": ON_SPOT,
        },
    )


def test_sweep_from_program_to_results(project: Project, tmp_path: Path) -> None:
    """Children run for real, with Python 3.8 if it is here; a later job reads what one of them has written."""
    (project.folder / "search").mkdir()
    (project.folder / "search" / "fit.py").write_text(TRAIN)
    run = f'"{sys.executable}" -m tests.e2e.batch_containers'
    script = "--script search --image training"
    said = inside(
        project,
        f"""
        export PYTHONPATH="{REPOSITORY}"
        gpufleet jobs submit aws-batch-dev --name search {script} --grid lr=0.5,0.25 --grid batch=32,64 --wait \
            -- python3 fit.py {{lr}} {{batch}}
        {run} search "{tmp_path}"
        gpufleet jobs outputs get aws-batch-dev search there
        gpufleet jobs submit aws-batch-dev --name more --after search {script} --wait -- python3 fit.py 1 2
        {run} more "{tmp_path}"
        gpufleet jobs outputs get aws-batch-dev more after
        """,
    ).stdout
    assert "there/results.csv: 4 children, 4 with a result\n" in said
    for line in (
        "gpufleet: lr=0.5 batch=32",
        "gpufleet: lr=0.25 batch=64",
        "search: succeeded after 1 min: all 4 children",
    ):
        assert f"{line}\n" in said
    assert (project.folder / "there" / "results.csv").read_text() == (
        "child,state,lr,batch,loss,python\n"
        "0,SUCCEEDED,0.5,32,16.0,3\n"
        "1,SUCCEEDED,0.5,64,32.0,3\n"
        "2,SUCCEEDED,0.25,32,8.0,3\n"
        "3,SUCCEEDED,0.25,64,16.0,3\n"
    )
    assert (project.folder / "after" / "result.json").read_text() == '{"loss": 2.0, "python": 3, "before": 32.0}'
