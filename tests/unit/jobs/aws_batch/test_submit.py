"""`gpufleet jobs submit` on AWS Batch: what is sent. AWS is moto behind a loopback address."""

import re
from typing import Any

import pytest
from click.testing import Result

from tests.tools.fake_aws import BUCKET, DEFINITIONS, HOST, IMAGE, QUEUE, FakeAws, outputs

MANIFEST = (
    '{"schemaVersion": 2, "mediaType": "application/vnd.docker.distribution.manifest.v2+json", '
    '"config": {"mediaType": "x", "digest": "sha256:1", "size": 1}, "layers": []}'
)
TRAIN = ("--", "python3", "train.py")


def submit(run: Any, *options: str, given: dict[str, Any] | None = None) -> Result:
    return run("jobs", "submit", "dev", "--name", "train", "--image", IMAGE, *options, *TRAIN, given=given)


def sent(here: FakeAws) -> dict[str, Any]:
    [found] = here.bodies("submitjob")
    return found


def test_what_the_outputs_know_nobody_types(here: FakeAws, run: Any) -> None:
    done = submit(run)
    assert (done.exit_code, done.stdout) == (
        0,
        "train: submitted; follow it with `gpufleet jobs logs dev train --follow`\n",
    ), done.output
    assert sent(here) == {
        "jobName": "train",
        "jobQueue": QUEUE,
        "jobDefinition": f"{DEFINITIONS}/dev-train:1",
        "containerOverrides": {
            "command": ["python3", "train.py"],
            "environment": [
                {"name": "GPUFLEET_JOB", "value": "train"},
                {"name": "GPUFLEET_OUTPUTS", "value": f"s3://{BUCKET}/jobs/train"},
            ],
        },
        "propagateTags": True,
        "tags": {"environment": "dev", "project": "llm", "user": "LAB-ana"},
    }


def test_every_option_has_its_place(here: FakeAws, run: Any) -> None:
    numbers = ["--gpus", "4", "--memory", "64", "--retries", "2", "--time-limit", "90"]
    words = ["--env", "A=b", "--tag", "owner=ada", "--share", "vision", "--queue", QUEUE]
    done = submit(run, *numbers, *words)
    assert done.exit_code == 0, done.output
    job = sent(here)
    overrides = job["containerOverrides"]
    # vCPUs grow with the definition's one GPU.
    assert {each["type"]: each["value"] for each in overrides["resourceRequirements"]} == {
        "GPU": "4",
        "VCPU": "32",
        "MEMORY": "65536",
    }
    assert overrides["command"][:2] == ["python3", "-I"]
    assert overrides["command"][-2:] == ["python3", "train.py"]
    assert {"name": "A", "value": "b"} in overrides["environment"]
    assert job["retryStrategy"] == {
        "attempts": 3,
        "evaluateOnExit": [{"onStatusReason": "Host EC2*", "action": "retry"}],
    }
    assert job["timeout"] == {"attemptDurationSeconds": 5400}
    assert job["shareIdentifier"] == "vision"
    assert job["tags"]["owner"] == "ada"


def test_pushed_image_becomes_a_revision_made_once(here: FakeAws, run: Any) -> None:
    pushed = here.client("ecr").put_image(repositoryName="training", imageManifest=MANIFEST, imageTag="new")["image"]
    for name in ("one", "two"):
        done = run("jobs", "submit", "dev", "--name", name, "--json", *TRAIN)
        assert done.exit_code == 0, done.output
        assert "note: " + name + ": uses dev-train:2, the stack's definition with another image" in done.stderr
    [registered] = here.bodies("registerjobdefinition")
    wanted = f"{HOST}/training@{pushed['imageId']['imageDigest']}"
    assert registered["containerProperties"]["image"] == wanted
    # All else is the stack's: memory, variables, when to try again.
    assert registered["containerProperties"]["environment"] == [{"name": "DATA", "value": "/mnt/data"}]
    assert registered["retryStrategy"]["attempts"] == 3
    assert registered["tags"] == {
        "gpufleet:revision-of": "arn:aws:batch:us-east-1:123456789012:job-definition/dev-train:1"
    }
    assert run("images", "list", "dev").stdout == f"training: new  {wanted}\n"
    assert {body["jobDefinition"] for body in here.bodies("submitjob")} == {f"{DEFINITIONS}/dev-train:2"}


def test_dry_run_sends_nothing(here: FakeAws, run: Any) -> None:
    done = run("jobs", "submit", "dev", "--name", "train", "--image", "training:v2", "--dry-run", *TRAIN)
    assert done.exit_code == 0, done.output
    assert "image: 123456789012.dkr.ecr.us-east-1.amazonaws.com/training:v2" in done.stdout
    assert "jobDefinition: dev-train\n" in done.stdout
    assert not here.bodies("submitjob")
    assert not here.bodies("registerjobdefinition")


def test_nodes_are_an_override_of_the_multi_node_definition(here: FakeAws, run: Any) -> None:
    done = submit(run, "--nodes", "3", "--gpus", "8")
    assert done.exit_code == 0, done.output
    job = sent(here)
    assert job["jobDefinition"].endswith("job-definition/dev-nodes:1")
    assert job["nodeOverrides"]["numNodes"] == 3
    [all_nodes] = job["nodeOverrides"]["nodePropertyOverrides"]
    assert all_nodes["targetNodes"] == "0:"
    overrides = all_nodes["containerOverrides"]
    assert overrides["resourceRequirements"][0] == {"type": "GPU", "value": "8"}
    assert overrides["command"][0] == "python3"
    assert overrides["command"][-2:] == ["python3", "train.py"]
    # Of p4d.24xlarge on EFA.
    assert {"name": "GPUFLEET_NETWORK_GBPS", "value": "400"} in overrides["environment"]
    assert "containerOverrides" not in job


def test_nodes_know_each_other_by_a_key_of_the_submission(here: FakeAws, run: Any) -> None:
    keys = []
    for name in ("one", "two"):
        done = run("jobs", "submit", "dev", "--name", name, "--image", IMAGE, "--nodes", "3", *TRAIN)
        assert done.exit_code == 0, done.output
        [all_nodes] = here.bodies("submitjob")[-1]["nodeOverrides"]["nodePropertyOverrides"]
        variables = {each["name"]: each["value"] for each in all_nodes["containerOverrides"]["environment"]}
        keys.append(variables["GPUFLEET_JOB_KEY"])
    assert all(re.fullmatch("[0-9a-f]{32}", key) for key in keys)
    assert keys[0] != keys[1]


def test_workers_of_a_job_file_for_kubernetes_are_nodes(here: FakeAws, run: Any) -> None:
    assert submit(run, "--workers", "2").exit_code == 0
    assert sent(here)["nodeOverrides"]["numNodes"] == 2


def test_after_is_a_dependency_that_batch_waits_for(here: FakeAws, run: Any) -> None:
    assert submit(run).exit_code == 0
    first = here.wait_for_job("train").job_id
    done = run("jobs", "submit", "dev", "--name", "predict", "--image", IMAGE, "--after", "train", *TRAIN)
    assert done.exit_code == 0, done.output
    job = here.bodies("submitjob")[-1]
    assert job["dependsOn"] == [{"jobId": first}]
    # It is told where the first one's outputs are.
    outputs = {"name": "GPUFLEET_AFTER_OUTPUTS", "value": f"s3://{BUCKET}/jobs/train"}
    assert outputs in job["containerOverrides"]["environment"]
    assert "predict: starts when train has succeeded; AWS Batch waits for it, nothing has to run here" in done.stderr


def test_after_a_job_that_failed_is_refused(here: FakeAws, run: Any) -> None:
    assert submit(run).exit_code == 0
    here.wait_for_job("train")._mark_stopped(success=False)
    done = run("jobs", "submit", "dev", "--name", "predict", "--image", IMAGE, "--after", "train", *TRAIN)
    assert (done.exit_code, done.stderr) == (
        1,
        "Error: after=train: that job has FAILED, and AWS Batch would fail one that comes after it, too\n",
    )


MISTAKES = [
    (["--array", "1"], "train: array=1: an array has 2 to 10,000 children; leave it out for one job"),
    (["--array", "10001"], "train: array=10001: an array has 2 to 10,000 children; leave it out for one job"),
    (["--grid", "lr=0.1,0.2", "--array", "3"], "train: array=3: there are 2 rows of parameters; leave out --array"),
    (["--grid", "lr"], "grid=lr: must be a list of values; write --grid lr=0.1,0.01"),
    (["--grid", "PATH=a,b"], "grid: name=PATH: the container itself needs this variable; use another name"),
    (
        ["--grid", "lr=1", "--params", "x.csv"],
        "train: params and grid: give one of them",
    ),
    (["--params", "/no/such.csv"], "/no/such.csv: No such file or directory; give a CSV file: a line of names, then"),
    (["--nodes", "2", "--array", "2"], "train: nodes=2: AWS Batch has no arrays of multi-node jobs; submit each"),
    (["--nodes", "5"], "train: nodes=5: multi-node jobs have at most 4 nodes; use 4 or fewer, or raise the pool's"),
    (["--nodes", "0"], "train: nodes=0: use 1 or more"),
    (["--nodes", "2", "--workers", "3"], "train: workers=3: conflicts with nodes=2; give only one of them"),
    (["--gpus", "0"], "train: gpus=0: use 1 or more"),
    (["--gpus", "9"], "train: gpus=9: no node has more than 8 (p4d.24xlarge); use 8 or fewer"),
    (["--retries", "10"], "train: retries=10: AWS Batch makes at most 10 attempts; use 0 to 9"),
    (["--time-limit", "0"], "train: time_limit_minutes=0: use 1 or more"),
    (["--memory", "0"], "train: memory_gib=0: use 1 or more"),
    (
        ["--env", "AWS_BATCH_X=1"],
        "train: env=AWS_BATCH_X: AWS Batch sets variables of this beginning itself; use another",
    ),
    (["--env", f"LONG={'x' * 9000}"], "train: the command and its variables are "),
    (["--name", "a b"], "a b: name=a b: use letters, digits, - and _, a letter or digit first, at most 128"),
    (
        ["--pool", "trainers"],
        "job: pool=trainers: is for Kubernetes; on AWS Batch the queue finds the nodes, use --queue",
    ),
    (["--volume-claim", "x"], "job: volume_claim=x: is for Kubernetes; on AWS Batch the job definition mounts the"),
    (["--queue", "no-such"], "train: AWS Batch rejects the job: Job queue no-such does not exist"),
    (["--after", "none"], "none: job not found in queue dev-queue of us-east-1; AWS Batch forgets jobs some 7"),
    (
        ["--on", "kubernetes", "--workers", "1"],
        "dev: the stack's outputs have no kubeconfig",
    ),
]


@pytest.mark.parametrize(("options", "line"), MISTAKES, ids=lambda each: str(each)[:40])
def test_mistake_is_one_line(here: FakeAws, run: Any, options: list[str], line: str) -> None:
    done = submit(run, *options)
    assert done.exit_code == 1
    assert done.stderr.startswith(f"Error: {line}"), done.stderr
    assert done.stderr.count("\n") == 1
    assert not here.jobs


def test_name_that_is_taken_is_refused(here: FakeAws, run: Any) -> None:
    assert submit(run).exit_code == 0
    done = submit(run)
    assert (
        "train: the name is already used by a job that is SUBMITTED, and its outputs; give another --name"
        in done.stderr
    )
    assert len(here.jobs) == 1


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("queue", "dev: the stack's outputs have no AWS Batch (jobs.queue); run `pulumi up -s dev` first"),
        ("region", "dev: the stack's outputs have no AWS Batch (jobs.region)"),
        ("definition", "dev: the stack's outputs have no definition of jobs of one node (jobs.definition)"),
    ],
)
def test_outputs_that_lack_something(here: FakeAws, run: Any, key: str, line: str) -> None:
    given = outputs()
    del given["jobs"][key]
    assert line in submit(run, given=given).stderr


def test_environment_without_multi_node_jobs(here: FakeAws, run: Any) -> None:
    given = outputs()
    del given["jobs"]["multinode"]
    assert "dev: the stack's outputs have no definition of multi-node jobs (jobs.multinode)" in (
        submit(run, "--nodes", "2", given=given).stderr
    )


def test_definition_that_is_gone(here: FakeAws, run: Any) -> None:
    given = outputs()
    given["jobs"]["definition"] = "dev-gone"
    assert "dev: definition=dev-gone: no active job definition with this name in us-east-1 of the account in use" in (
        submit(run, given=given).stderr
    )


def test_repository_without_an_image(here: FakeAws, run: Any) -> None:
    done = run("jobs", "submit", "dev", *TRAIN)
    assert done.stderr == (
        "Error: dev: image=training: no image of it is recorded; build one with `gpufleet images build dev DIR`, or "
        "give --image training:TAG\n"
    )
    assert run("images", "list", "dev").stdout == "training: none built yet\n"
