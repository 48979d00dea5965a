"""`gpufleet jobs` on Debian's Slurm: ranks over several nodes, exit codes, why a job waits, what is forgotten."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.slurm.job_states import status, wait_for_line, wait_for_reason, wait_for_state
from tests.slurm.slurm_cluster import GPUS, SlurmCluster

pytestmark = pytest.mark.cluster

SLEEP = ["sh", "-c", "echo up; exec sleep 120"]


def until_it_waits(job: str) -> str:
    """Words of a shell that go on once another job waits in the queue, and whoever follows that has seen it wait."""
    return f"until squeue --noheader --name={job} --format=%r | grep -q Dependency; do sleep 0.5; done; sleep 5"


@pytest.mark.parametrize("start", ["mpirun", "srun"])
def test_sum_over_two_nodes(run: Any, told: dict[str, Any], start: str) -> None:
    told["start"] = start
    name = f"sum-{start}"
    # Long enough to be seen running: the sum itself takes no longer than a look at the queue.
    command = ["sh", "-c", "/usr/bin/python3 allreduce.py && sleep 5"]
    done = run("submit", "--name", name, "--nodes", "2", "--follow", command=command)
    assert done.exit_code == 0, done.output
    ranks = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert sorted(each["rank"] for each in ranks) == [0, 1, 2, 3]
    assert all((each["size"], each["least"], each["most"]) == (4, 10, 10) for each in ranks)
    assert re.search(rf"{name}: RUNNING on node\[\d-\d\]\n", done.stderr)
    assert re.search(rf"{name}: succeeded after \d+ s\n$", done.stderr)


@pytest.mark.parametrize("start", ["mpirun", "srun"])
def test_ranks_are_on_both_nodes_and_know_where(
    run: Any, told: dict[str, Any], slurm: SlurmCluster, start: str
) -> None:
    told["start"] = start
    say = (
        'echo "$SLURMD_NODENAME $OMPI_COMM_WORLD_RANK/$OMPI_COMM_WORLD_SIZE local $OMPI_COMM_WORLD_LOCAL_RANK '
        'gpus $SLURM_GPUS_ON_NODE $NCCL_SOCKET_IFNAME $GREETING $GPUFLEET_TRY ${MASTER_ADDR:+met}"'
    )
    done = run(
        *("submit", "--name", f"where-{start}", "--nodes", "2", "--env", "GREETING=it's", "--follow"),
        command=["sh", "-c", say],
    )
    assert done.exit_code == 0, done.output
    lines = [line.partition(" ") for line in done.stdout.splitlines() if line.startswith("node")]
    assert len({node for node, _, _ in lines}) == 2
    assert sorted(rest for _, _, rest in lines) == [
        f"{rank}/4 local {rank % 2} gpus {GPUS} =lo it's 1 met" for rank in range(4)
    ]


def test_torchrun_on_two_nodes(run: Any) -> None:
    """Without OpenMPI; torchrun's own exit code is 1, whatever a rank's is."""
    say = 'echo "$SLURMD_NODENAME $RANK/$WORLD_SIZE local $LOCAL_RANK $GREETING ${MASTER_ADDR:+met}"; exit 7'
    # torchrun of PyTorch 1.13 on Python 3.11: see tests/openmpi/test_torchrun.py.
    variables = ("--env", "PET_REDIRECTS=9:1", "--env", "PET_TEE=9:1", "--env", "GREETING=it's")
    done = run(
        *("submit", "--name", "torchrun", "--launcher", "torchrun", "--nodes", "2", *variables, "--follow"),
        command=["sh", "-c", say.replace("; exit 7", "; sleep 3")],
    )
    assert done.exit_code == 0, done.output
    lines = [line.partition(" ") for line in done.stdout.splitlines() if line.startswith("node")]
    assert len({node for node, _, _ in lines}) == 2
    assert sorted(rest for _, _, rest in lines) == [f"{rank}/4 local {rank % 2} it's met" for rank in range(4)]
    failed = run(
        "submit", "--name", "seven-t", "--launcher", "torchrun", *variables, "--follow", command=["sh", "-c", say]
    )
    assert failed.exit_code == 1, failed.output


def test_exit_code_after_all_tries(run: Any) -> None:
    command = ["sh", "-c", "echo try $GPUFLEET_TRY; exit 7"]
    done = run("submit", "--name", "seven", "--gpus", "1", "--retries", "1", "--follow", command=command)
    assert done.exit_code == 7, done.output
    assert re.findall(r"^try \d$", done.stdout, re.MULTILINE) == ["try 1", "try 2"]
    assert "gpufleet: seven: try 1 of 2 ended with code 7\n" in done.stdout
    assert done.stderr.splitlines()[-1].startswith("seven: failed after")
    assert done.stderr.splitlines()[-1].endswith("the job's exit code is 7")


def test_a_name_is_given_once(run: Any, slurm: SlurmCluster) -> None:
    assert run("submit", "--name", "once", "--gpus", "1", command=["true"]).exit_code == 0
    again = run("submit", "--name", "once", "--gpus", "1", command=["true"])
    assert again.exit_code == 1
    where = f"{slurm.shared}/jobs on this machine"
    assert again.stderr == (
        f"Error: once: the name is already used by a job in {where}, and its outputs; give another --name\n"
    )


def test_why_jobs_wait(run: Any, slurm: SlurmCluster) -> None:
    assert run("submit", "--name", "first", "--nodes", "3", command=SLEEP).exit_code == 0
    wait_for_state(run, "first", "RUNNING")
    for name in ("second", "third"):
        assert run("submit", "--name", name, "--nodes", "2", command=SLEEP).exit_code == 0
    second = wait_for_reason(run, "second", "Resources")
    assert second[0] == "Resources: nodes or GPUs that it needs are in use"
    assert wait_for_reason(run, "third", "Priority")[0] == "Priority: jobs of higher priority come first"
    assert run("cancel", "first").output.startswith("first: cancelled; ")
    assert wait_for_state(run, "second", "RUNNING")["waiting"] == []


def test_a_limit_of_its_quality_of_service(run: Any) -> None:
    assert run("submit", "--name", "within", "--pool", "small", command=SLEEP).exit_code == 0
    wait_for_state(run, "within", "RUNNING")
    assert run("submit", "--name", "beyond", "--pool", "small", command=SLEEP).exit_code == 0
    assert wait_for_reason(run, "beyond", "QOSGrpGRES") == [
        "QOSGrpGRES: all GPUs that its quality of service may use are in use"
    ]


def test_a_node_that_is_down_is_named(run: Any, slurm: SlurmCluster) -> None:
    slurm.ask("scontrol", "update", "nodename=node1", "state=down", "reason=fan broken")
    assert run("submit", "--name", "three", "--nodes", "3", command=SLEEP).exit_code == 0
    lines = wait_for_reason(run, "three", "PartitionNodeLimit|ReqNodeNotAvail|Resources")
    assert "node node1 is down (fan broken)" in lines
    listed = json.loads(run("list", "--json").stdout)
    assert [each["state"] for each in listed if each["name"] == "three"] == ["PENDING"]


def test_after_another_job(run: Any) -> None:
    begin = run("submit", "--name", "begin", "--gpus", "1", command=["sh", "-c", until_it_waits("then")])
    assert begin.exit_code == 0, begin.output
    then = run("submit", "--name", "then", "--gpus", "1", "--after", "begin", "--follow", command=["echo", "second"])
    assert then.exit_code == 0, then.output
    assert "then: starts when begin has succeeded; Slurm waits for it, nothing has to run here\n" in then.stderr
    assert "then: waits: Dependency: the job that it comes after has not succeeded yet\n" in then.stderr
    assert "second\n" in then.stdout


def test_after_a_job_that_fails(run: Any) -> None:
    command = ["sh", "-c", f"{until_it_waits('never')}; exit 2"]
    assert run("submit", "--name", "bad", "--gpus", "1", command=command).exit_code == 0
    never = run("submit", "--name", "never", "--gpus", "1", "--after", "bad", "--wait", command=["true"])
    assert never.exit_code == 1
    assert never.stderr.splitlines()[-1].startswith("never: cancelled"), never.stderr
    late = run("submit", "--name", "late", "--gpus", "1", "--after", "bad", command=["true"])
    assert late.stderr.splitlines()[-1] == (
        "Error: late: not submitted: bad, which it comes after, has not succeeded: FAILED"
    )


def test_what_the_controller_has_forgotten_the_accounting_knows(run: Any, slurm: SlurmCluster) -> None:
    assert run("submit", "--name", "gone", "--gpus", "1", command=SLEEP).exit_code == 0
    wait_for_line(run, "gone", "up")
    assert run("cancel", "gone").exit_code == 0
    # Its script was ended, so that no exit code of its own says anything.
    slurm.until(lambda: not slurm.ask("squeue", "--noheader", "--states=all", "--name=gone").strip(), "forgotten job")
    found = status(run, "gone")
    assert (found["state"], found["exitCode"]) == ("CANCELLED", None)
    assert run("cancel", "gone").output == "gone: has already ended: CANCELLED\n"
    assert "up\n" in run("logs", "gone").stdout


def test_without_accounting_its_own_exit_code_says_it(
    run: Any, slurm: SlurmCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, command in (("done", ["true"]), ("undone", ["sh", "-c", "exit 9"]), ("killed", SLEEP)):
        assert run("submit", "--name", name, "--gpus", "1", command=command).exit_code == 0
    wait_for_state(run, "killed", "RUNNING")
    assert run("cancel", "killed").exit_code == 0
    slurm.until(lambda: not slurm.ask("squeue", "--noheader", "--states=all").strip(), "forgotten jobs")
    own = (slurm.folder / "slurm.conf").read_text()
    kept = [line for line in own.splitlines() if not line.startswith("Accounting")]
    (tmp_path / "slurm.conf").write_text("\n".join([*kept, "AccountingStorageType=accounting_storage/none"]))
    (tmp_path / "gres.conf").write_text((slurm.folder / "gres.conf").read_text())
    monkeypatch.setenv("SLURM_CONF", str(tmp_path / "slurm.conf"))
    states = {
        name: (status(run, name)["state"], status(run, name)["exitCode"]) for name in ("done", "undone", "killed")
    }
    assert states == {"done": ("COMPLETED", 0), "undone": ("FAILED", 9), "killed": ("UNKNOWN", None)}


def test_what_slurm_refuses_leaves_nothing(run: Any, told: dict[str, Any], slurm: SlurmCluster) -> None:
    told["pools"]["train"]["partition"] = "trian"
    done = run("submit", "--name", "refused", command=["true"])
    assert done.exit_code == 1
    assert done.stderr == (
        "Error: refused: not submitted: sbatch on this machine: Batch job submission failed: Invalid partition "
        "name specified\n"
    )
    assert not (slurm.shared / "jobs" / "refused").exists()


def test_secrets_of_the_shell_stay_there(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGISTRY_PASSWORD", "hush-hush")
    done = run("submit", "--name", "secret", "--gpus", "1", "--follow", command=["env"])
    assert done.exit_code == 0, done.output
    assert "GPUFLEET_JOB=secret\n" in done.stdout
    assert "hush-hush" not in done.output


def test_a_program_that_is_sent(run: Any, tmp_path: Path, slurm: SlurmCluster) -> None:
    program = tmp_path / "code"
    program.mkdir()
    (program / "say.py").write_text("import os\nopen(os.environ['GPUFLEET_OUTPUTS'] + '/said', 'w').write('here')\n")
    done = run(
        "submit", "--name", "sent", "--gpus", "1", "--script", str(program), "--wait", command=["python3", "say.py"]
    )
    assert done.exit_code == 0, done.output
    outputs = status(run, "sent")["outputs"]
    assert Path(outputs, "said").read_text() == "here"
    assert outputs == f"{slurm.shared}/jobs/sent/outputs"
