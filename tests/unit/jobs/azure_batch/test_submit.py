"""`gpufleet jobs submit` on Azure Batch, to a stand-in that takes what Batch takes and refuses all else."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpufleet.jobs.azure_batch.entrypoint import application_command, coordination_command, torchrun_commands
from tests.tools.batch_account import BatchRejection, FakeBatch
from tests.tools.fake_azure_batch import BLOBS, IDENTITY, IMAGE, REGISTRY, outputs

TRAIN = ("--", "python3", "train.py", "--epochs", "3")
TRIES = "$AZ_BATCH_NODE_MOUNTS_DIR/result/jobs/train/tries"
FOLDERS = {"GPUFLEET_OUTPUTS": "$AZ_BATCH_NODE_MOUNTS_DIR/result/jobs/train"}


def submit(run: Any, *options: str, given: dict[str, Any] | None = None) -> Any:
    name = () if "--name" in options else ("--name", "train")
    pool = () if "--pool" in options else ("--pool", "spot")
    return run("jobs", "submit", "dev", "--image", "training:base", *name, *pool, *options, *TRAIN, given=given)


def test_two_nodes_of_two_processes(here: FakeBatch, run: Any) -> None:
    done = submit(run, "--nodes", "2", "--gpus", "2", "--retries", "3", "--time-limit", "90", "--env", "LR=0.1")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == "train: submitted; follow it with `gpufleet jobs logs dev train --follow`\n"
    assert here.bodies("POST", "/jobs") == [
        {
            "id": "train",
            "poolInfo": {"poolId": "spot-1"},
            "onAllTasksComplete": "noaction",
            "metadata": [
                {"name": "environment", "value": "dev"},
                {"name": "project", "value": "llm"},
                {"name": "user", "value": "ana"},
            ],
        }
    ]
    own = {"LR": "0.1", "GPUFLEET_JOB": "train"}
    copy = {"containerUrl": f"{BLOBS}/result", "identityReference": {"resourceId": IDENTITY}}
    [task] = here.bodies("POST", "/tasks")
    # By which its nodes know each other: another one for each submission.
    key = task["environmentSettings"].pop()
    assert key["name"] == "GPUFLEET_JOB_KEY"
    assert re.fullmatch("[0-9a-f]{32}", key["value"])
    assert [task] == [
        {
            "id": "main",
            "commandLine": application_command(TRAIN[1:], 2, environment=own, folders=FOLDERS, log_copies=TRIES),
            "containerSettings": {
                "imageName": IMAGE,
                "containerRunOptions": "--user 0:0 --network host --ipc host --ulimit memlock=-1",
                "workingDirectory": "containerImageDefault",
                "registry": {"registryServer": REGISTRY, "identityReference": {"resourceId": IDENTITY}},
            },
            "outputFiles": [
                {
                    "filePattern": f"../{stream}",
                    "destination": {"container": {**copy, "path": f"jobs/train/{stream}"}},
                    "uploadOptions": {"uploadCondition": "taskcompletion"},
                }
                for stream in ("stdout.txt", "stderr.txt")
            ],
            "environmentSettings": [{"name": key, "value": value} for key, value in own.items()],
            "constraints": {"maxTaskRetryCount": 3, "maxWallClockTime": "PT90M"},
            "userIdentity": {"autoUser": {"scope": "pool", "elevationLevel": "admin"}},
            "multiInstanceSettings": {"numberOfInstances": 2, "coordinationCommandLine": coordination_command(2)},
        }
    ]
    assert here.bodies("PATCH", "/jobs/train") == [{"onAllTasksComplete": "terminatejob"}]
    assert here.jobs["train"]["state"] == "active"


@pytest.mark.parametrize(("options", "nodes"), [(("--nodes", "2", "--gpus", "2"), 2), (("--gpus", "2"), 1)])
def test_torchrun_is_another_command_of_the_same_task(
    here: FakeBatch, run: Any, options: tuple[str, ...], nodes: int
) -> None:
    for launcher in ("mpi", "torchrun"):
        done = submit(run, *options, "--retries", "3", "--name", launcher, "--launcher", launcher)
        assert (done.exit_code, done.stderr) == (0, "")
    mpi, task = (here.tasks[launcher] for launcher in ("mpi", "torchrun"))
    folders, tries = (json.loads(json.dumps(each).replace("jobs/train", "jobs/torchrun")) for each in (FOLDERS, TRIES))
    own = {"GPUFLEET_JOB": "torchrun"}
    lines = torchrun_commands(TRAIN[1:], 2, environment=own, folders=folders, log_copies=tries)
    assert task["commandLine"] == lines[1]
    if nodes > 1:
        assert task["multiInstanceSettings"] == {"numberOfInstances": 2, "coordinationCommandLine": lines[0]}
    else:
        assert "multiInstanceSettings" not in task
    same = ("containerSettings", "constraints", "userIdentity")
    assert {name: task[name] for name in same} == {name: mpi[name] for name in same}
    assert task.keys() == mpi.keys()


def test_one_node_has_a_process_for_each_gpu(here: FakeBatch, run: Any) -> None:
    assert submit(run).exit_code == 0
    task = here.tasks["train"]
    own = {"GPUFLEET_JOB": "train"}
    assert task["commandLine"] == application_command(TRAIN[1:], 4, environment=own, folders=FOLDERS, log_copies=TRIES)
    assert task["constraints"] == {"maxTaskRetryCount": 0}
    assert "multiInstanceSettings" not in task


def test_workers_of_a_file_are_nodes(here: FakeBatch, run: Any, tmp_path: Path) -> None:
    file = tmp_path / "train.yaml"
    file.write_text("workers: 2\nname: train\npool: spot\ncommand: python3 train.py\nretries: 1\ntags: {team: a}\n")
    assert run("jobs", "submit", "dev", "--image", "training:base", "--file", str(file)).exit_code == 0
    assert here.tasks["train"]["multiInstanceSettings"]["numberOfInstances"] == 2
    assert {"name": "team", "value": "a"} in here.jobs["train"]["metadata"]


def test_without_a_mount_outputs_are_copied_when_a_try_ends(here: FakeBatch, run: Any) -> None:
    assert submit(run, "--pool", "fixed").exit_code == 0
    task = here.tasks["train"]
    own = {"GPUFLEET_OUTPUTS": "$AZ_BATCH_TASK_WORKING_DIR/outputs"}
    assert task["commandLine"] == application_command(TRAIN[1:], 1, environment={"GPUFLEET_JOB": "train"}, folders=own)
    patterns = {each["filePattern"]: each["destination"]["container"]["path"] for each in task["outputFiles"]}
    assert patterns == {
        "../stdout.txt": "jobs/train/stdout.txt",
        "../stderr.txt": "jobs/train/stderr.txt",
        "outputs/**/*": "jobs/train",
    }


def test_infiniband_reaches_the_container(here: FakeBatch, run: Any) -> None:
    given = outputs()
    given["jobs"]["azure_batch"]["pools"]["spot"]["network"] = "infiniband"
    assert submit(run, given=given).exit_code == 0
    options = here.tasks["train"]["containerSettings"]["containerRunOptions"]
    assert options.endswith(" --device /dev/infiniband")


def test_public_image_is_pulled_without_the_identity(here: FakeBatch, run: Any) -> None:
    done = run("jobs", "submit", "dev", "--pool", "spot", "--name", "train", "--image", "docker.io/x/y:1", *TRAIN)
    assert done.exit_code == 0
    assert "registry" not in here.tasks["train"]["containerSettings"]


@pytest.mark.parametrize("nodes", [1, 2])
def test_script_goes_to_every_node(here: FakeBatch, run: Any, blobs: Any, tmp_path: Path, nodes: int) -> None:
    program = tmp_path / "program"
    for name in ("train.py", "model/net.py", "model/__pycache__/net.pyc", ".git/config"):
        (program / name).parent.mkdir(parents=True, exist_ok=True)
        (program / name).write_text(f"# {name}")
    done = submit(run, "--script", str(program), "--nodes", str(nodes), "--retries", "1")
    assert done.exit_code == 0, done.output
    assert "note: train: 2 files sent to container scripts" in done.stderr
    assert blobs.content == {
        ("scripts", "jobs/train/train.py"): b"# train.py",
        ("scripts", "jobs/train/model/net.py"): b"# model/net.py",
    }
    task = here.tasks["train"]
    wanted = [
        {
            "httpUrl": f"{BLOBS}/scripts/jobs/train/{name}",
            "filePath": name,
            "identityReference": {"resourceId": IDENTITY},
        }
        for name in ("model/net.py", "train.py")
    ]
    own = {"GPUFLEET_JOB": "train"}
    if nodes == 1:
        assert task["resourceFiles"] == wanted
        assert task["commandLine"] == application_command(
            TRAIN[1:], 4, environment=own, folders=FOLDERS, log_copies=TRIES
        )
    else:
        assert task["multiInstanceSettings"]["commonResourceFiles"] == wanted
        shared = "$AZ_BATCH_TASK_SHARED_DIR"
        line = application_command(TRAIN[1:], 4, environment=own, folders=FOLDERS, log_copies=TRIES, directory=shared)
        assert task["commandLine"] == line


def test_dry_run_sends_nothing(here: FakeBatch, run: Any, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("")
    done = submit(run, "--dry-run", "--nodes", "2", "--script", str(tmp_path / "train.py"))
    assert done.exit_code == 0
    assert set(yaml.safe_load(done.stdout)) == {"program", "job", "task"}
    assert yaml.safe_load(done.stdout)["program"] == ["train.py"]
    assert here.asked == []


def test_spot_nodes_want_retries_and_a_mount(here: FakeBatch, run: Any) -> None:
    given = outputs()
    given["jobs"]["azure_batch"]["pools"]["spot"]["mounts"] = []
    assert submit(run, "--nodes", "2", given=given).stderr == (
        "note: train: retries=0: pool spot is of Spot nodes; when one of several is taken, the try fails, and there is "
        "no other; give --retries 10\n"
        "note: train: pool spot does not mount result: what a try writes to $GPUFLEET_OUTPUTS is lost with its Spot "
        "node, checkpoints and log too; add the mount and run `pulumi up`\n"
    )


def test_name_that_is_taken_is_refused_and_its_program_left_alone(
    here: FakeBatch, run: Any, blobs: Any, tmp_path: Path
) -> None:
    assert submit(run).exit_code == 0
    (tmp_path / "train.py").write_text("")
    done = submit(run, "--script", str(tmp_path / "train.py"))
    assert done.stderr == (
        "Error: train: the name is already used by a job that is active, and its outputs; give another --name\n"
    )
    assert blobs.content == {}
    assert here.jobs["train"]["state"] == "active"


def refusing(here: FakeBatch, method: str, end: str, refused: BatchRejection) -> None:
    def refuse(how: str, path: str) -> None:
        if how == method and path.endswith(end):
            raise refused

    here.refusals.append(refuse)


def test_job_whose_task_is_refused_is_taken_back(here: FakeBatch, run: Any) -> None:
    refusing(here, "POST", "/tasks", BatchRejection(400, "InvalidPropertyValue", "Illegal.", ("PropertyName", "x")))
    done = submit(run)
    assert done.stderr == (
        "Error: train: Azure Batch rejects the job: InvalidPropertyValue: Illegal. (PropertyName: x)\n"
    )
    assert here.jobs == {}


def test_job_that_cannot_be_taken_back_is_told_of(here: FakeBatch, run: Any) -> None:
    refusing(here, "POST", "/tasks", BatchRejection(503, "ServerBusy"))
    refusing(here, "DELETE", "/jobs/train", BatchRejection(503, "ServerBusy"))
    line = submit(run).stderr
    assert "job train is left without its task: " in line
    assert "remove it with `az batch job delete --job-id train`" in line
    assert line.count("\n") == 1


def test_pool_that_is_gone(here: FakeBatch, run: Any) -> None:
    here.pools.pop("spot-1")
    line = submit(run).stderr
    assert line == "Error: Azure Batch: create_job: PoolNotFound: The specified pool does not exist.\n"


def test_which_pool(here: FakeBatch, run: Any) -> None:
    done = run("jobs", "submit", "dev", "--image", "training:base", *TRAIN)
    assert done.stderr == "Error: dev: which pool? use --pool spot or fixed\n"


@pytest.mark.parametrize(
    ("missing", "line"),
    [
        (
            "account_endpoint",
            "dev: the stack's outputs have no Azure Batch (jobs.azure_batch.account_endpoint); run",
        ),
        ("storage", "dev: the stack's outputs have no storage account beside Azure Batch (jobs.azure_batch.storage"),
        ("pools", "dev: the stack's outputs have no GPU pool (jobs.azure_batch.pools); add one to gpufleet:pools"),
    ],
)
def test_outputs_that_lack_something(here: FakeBatch, run: Any, missing: str, line: str) -> None:
    given = outputs()
    del given["jobs"]["azure_batch"][missing]
    assert line in submit(run, given=given).stderr


def test_rehearsal_of_another_cloud_plays_none_of_it(
    run: Any, here: FakeBatch, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("GPUFLEET_AZURE_BATCH_ENDPOINT")
    from gpufleet.cli import stack_options

    monkeypatch.setattr(stack_options, "_rehearsal", lambda program: object())
    assert submit(run).stderr == (
        "Error: dev: this rehearsal plays no Azure Batch; run `gpufleet rehearse dev -- gpufleet ...`\n"
    )
    assert here.asked == []


def test_second_back_end_of_one_stack(here: FakeBatch, run: Any) -> None:
    given = outputs()
    given["jobs"] |= {"on": "kubernetes", "pools": {"trainers": {"types": ["Standard_NC4as_T4_v3"]}}}
    done = submit(run, "--on", "azure-batch", given=given)
    assert done.stdout == (
        "train: submitted; follow it with `gpufleet jobs logs dev train --follow --on azure-batch`\n"
    )


def test_after_is_waited_for_here(here: FakeBatch, run: Any) -> None:
    assert submit(run, "--name", "first").exit_code == 0
    here.starts("first")
    here.ends("first", 3)
    done = submit(run, "--after", "first", "--json")
    assert done.exit_code == 1
    assert "train: not submitted: first, which it comes after, has not succeeded" in done.stderr
    assert "train" not in here.jobs
    here.tasks["first"]["executionInfo"]["result"] = "success"
    assert submit(run, "--after", "first").exit_code == 0
    # It is told where the first one's outputs are.
    places = {**FOLDERS, "GPUFLEET_AFTER_OUTPUTS": "$AZ_BATCH_NODE_MOUNTS_DIR/result/jobs/first"}
    own = {"GPUFLEET_JOB": "train"}
    assert here.tasks["train"]["commandLine"] == application_command(
        TRAIN[1:], 4, environment=own, folders=places, log_copies=TRIES
    )
    done = submit(run, "--after", "first", "--pool", "fixed", "--name", "other", "--dry-run", "--json")
    unmounted = {"GPUFLEET_OUTPUTS": "$AZ_BATCH_TASK_WORKING_DIR/outputs"}
    assert json.loads(done.stdout)["task"]["commandLine"] == application_command(
        TRAIN[1:], 1, environment={"GPUFLEET_JOB": "other"}, folders=unmounted
    )


def test_made_up_name_is_legal(here: FakeBatch, run: Any) -> None:
    done = run("jobs", "submit", "dev", "--pool", "spot", "--image", "training:base", "--json", *TRAIN)
    name = json.loads(done.stdout)["name"]
    assert re.fullmatch(r"train-\d{4}-\d{6}-[0-9a-f]{4}", name)
    assert json.loads(done.stdout) == {"event": "submitted", "name": name, "uid": name}
