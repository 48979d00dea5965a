"""The batch script of a job on Slurm, and what is said against a job before Slurm is asked."""

import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gpufleet.errors import UserError
from gpufleet.jobs.request import parse_request
from gpufleet.jobs.slurm.settings import SlurmSettings, slurm_settings
from gpufleet.jobs.slurm.submission import build_submission

TOLD = {
    "directory": "/shared/lab/",
    "setup": ["module load openmpi"],
    "images": {"torch": "docker://nvcr.io/nvidia/pytorch:24.10-py3"},
    "pools": {
        "a100": {"partition": "gpu", "gpus": 4.0, "gpu": "a100", "max": 8, "network": "infiniband", "account": "lab"},
        "v100": {"gpus": 2, "gpu": "v100", "options": ["--constraint=nvlink"]},
        "cpu": {"gpus": 0},
    },
}


def settings(**changed: Any) -> SlurmSettings:
    return slurm_settings({"slurm": {**TOLD, **changed}}, "lab")


def lines(start: str = "mpirun", **request: Any) -> list[str]:
    job = parse_request(
        {"command": ["python3", "train.py", "--note", "it's $1"], "name": "run", **request}, "job", "slurm"
    )
    return build_submission(settings(start=start), "lab", job).script.splitlines()


def options(found: list[str]) -> dict[str, str]:
    words = [line.removeprefix("#SBATCH --") for line in found if line.startswith("#SBATCH")]
    return dict(word.split("=", 1) for word in words if "=" in word)


def test_options_of_sbatch() -> None:
    found = options(lines(pool="a100", nodes=2, vcpus=32, memory_gib=64, time_limit_minutes=90, share="vision"))
    assert found == {
        "account": "vision",
        "cpus-per-task": "8",
        "export": "HOME,LANG,LOGNAME,MODULEPATH,PATH,SHELL,USER",
        "gres": "gpu:a100:4",
        "job-name": "run",
        "mem": "64G",
        "nodes": "2",
        "ntasks-per-node": "4",
        "open-mode": "append",
        "output": "/shared/lab/jobs/run/log.txt",
        "partition": "gpu",
        "time": "90",
    }


def test_job_after_another_finds_its_outputs() -> None:
    found = lines(pool="a100", after="first")
    assert "export GPUFLEET_OUTPUTS=/shared/lab/jobs/run/outputs" in found
    assert "export GPUFLEET_AFTER_OUTPUTS=/shared/lab/jobs/first/outputs" in found
    assert not [line for line in lines(pool="a100") if "AFTER_OUTPUTS" in line]


def test_a_pools_own_options_come_last() -> None:
    own = [line for line in lines(pool="v100") if line.startswith("#SBATCH")]
    assert own[-1] == "#SBATCH --constraint=nvlink"


def test_a_model_says_the_pool() -> None:
    assert options(lines(gpu="V100"))["gres"] == "gpu:v100:2"


def test_mpirun_over_all_nodes() -> None:
    found = lines(pool="a100", workers=2, gpus=3, env={"SEED": "a b"})
    (run,) = [line for line in found if "mpirun" in line]
    assert run.startswith("    mpirun -np 6 --map-by ppr:3:node --bind-to none -x ")
    assert run.endswith(" -x GPUFLEET_TRY python3 train.py --note 'it'\"'\"'s $1' </dev/null && end 0")
    assert " -x SEED " in run
    assert "export SEED='a b'" in found
    assert "export NCCL_NET=IB" in found


def test_srun_in_its_place() -> None:
    (run,) = [line for line in lines("srun", pool="a100", nodes=2, vcpus=8) if line.strip().startswith("srun")]
    assert run.startswith(
        "    srun --mpi=pmix --ntasks=8 --nodes=2 --ntasks-per-node=4 --cpus-per-task=2 --kill-on-bad-exit=1 "
    )


def test_torchrun_on_each_node(tmp_path: Path) -> None:
    """One task for each node, with the CPUs of its ranks; the node's number comes from Slurm."""
    found = lines(pool="a100", nodes=2, launcher="torchrun", vcpus=32)
    assert options(found)["ntasks-per-node"] == "1"
    assert options(found)["cpus-per-task"] == "32"
    assert options(lines(pool="a100", nodes=2, launcher="torchrun"))["cpus-per-task"] == "4"
    text = "\n".join(found)
    assert "mpirun" not in text
    begin = text.index("    srun ")
    command = text[begin : text.index(" </dev/null && end 0")]
    words = shlex.split(command.replace('"$MASTER_ADDR"', "node1").replace('"$MASTER_PORT"', "20007"))
    assert words[:6] == [
        "srun",
        "--ntasks=2",
        "--nodes=2",
        "--ntasks-per-node=1",
        "--cpus-per-task=32",
        "--cpu-bind=none",
    ]
    assert words[6] == "--kill-on-bad-exit=1"
    shown = tmp_path / "python3"
    shown.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    shown.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "SLURM_NODEID": "1"}
    done = subprocess.run(words[7:], capture_output=True, text=True, timeout=120, check=True, env=environment)
    expected = "-m torch.distributed.run --nnodes 2 --nproc_per_node 4 --node_rank 1 --master_addr node1"
    rest = "--master_port 20007 --rdzv_conf timeout=1800 --monitor_interval 1 --no_python python3 train.py --note"
    assert done.stdout.splitlines() == [*f"{expected} {rest}".split(), "it's $1"]


def test_srun_shows_a_container_the_files_of_pmix(tmp_path: Path) -> None:
    """Its own directory is the server's, on each node: the rank's shell knows it, not the job's."""
    run = "\n".join(lines("srun", pool="a100", image="/a.sif")).partition("    srun ")[2].partition(" </dev/null")[0]
    words = shlex.split(run.replace('"$container"', "apptainer"))
    rank = words[words.index("sh") :]
    (tmp_path / "apptainer").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    (tmp_path / "apptainer").chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "GPUFLEET_SLOTS": "4"}
    given = ["--nv", "--bind", "/shared/lab", "--pwd", "/shared/lab", "/a.sif"]
    given += ["python3", "train.py", "--note", "it's $1"]
    for place, bound in (({}, []), ({"PMIX_SERVER_TMPDIR": "/var/spool/a b"}, ["--bind", "/var/spool/a b"])):
        done = subprocess.run(
            rank, env={**environment, **place}, capture_output=True, text=True, timeout=600, check=True
        )
        assert done.stdout.splitlines() == ["exec", *bound, *given]


def test_no_interface_no_word_of_it() -> None:
    assert not [line for line in lines(pool="v100") if "SOCKET_IFNAME" in line or "_if_include" in line]


def test_an_image_is_pulled_once_and_then_a_file() -> None:
    found = "\n".join(lines(pool="a100", image="torch"))
    assert "container=$(command -v apptainer || command -v singularity) ||\n" in found
    assert '"$container" pull /shared/lab/images/' in found
    assert " docker://nvcr.io/nvidia/pytorch:24.10-py3 && mv -f " in found
    assert ' "$container" exec --nv --bind /shared/lab --pwd /shared/lab /shared/lab/images/' in found


def test_nodes_without_gpus() -> None:
    found = lines(pool="cpu", image="/images/x.sif")
    assert "gres" not in options(found)
    assert '"$container" exec --bind /shared/lab' in "\n".join(found)


@pytest.mark.parametrize("request_", [{}, {"image": "torch"}, {"retries": 3}, {"env": {"A": "$(id) `id` \"'\n"}}])
@pytest.mark.parametrize("start", ["mpirun", "srun"])
def test_bash_reads_it(start: str, request_: dict[str, Any]) -> None:
    script = "\n".join(lines(start, pool="a100", **request_))
    bash = shutil.which("bash")
    assert bash
    done = subprocess.run([bash, "-n"], input=script, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("request_", "line"),
    [
        ({}, "lab: which pool? use --pool a100, v100 or cpu"),
        ({"pool": "a10"}, "lab: pool=a10: no such pool; did you mean a100? (use a100, v100 or cpu)"),
        ({"gpu": "H100"}, "lab: gpu=H100: no pool has such GPUs; did you mean v100? (use a100 or v100)"),
        ({"pool": "v100", "gpu": "a100"}, "run: gpu=a100: pool v100 has v100; leave out --gpu or --pool"),
        ({"pool": "a100", "nodes": 9}, "run: nodes=9: pool a100 gives at most 8; use 8 or fewer"),
        ({"pool": "a100", "nodes": 0}, "run: nodes=0: use 1 or more"),
        ({"pool": "a100", "gpus": 5}, "run: gpus=5: a node of pool a100 has 4; use 4 or fewer"),
        ({"pool": "cpu", "gpus": 1}, "run: gpus=1: nodes of pool cpu have none; use another --pool"),
        ({"pool": "a100", "vcpus": 3}, "run: vcpus=3: each of 4 processes needs one; use 4 or more"),
        (
            {"pool": "a100", "share": "a b"},
            "run: share=a b: is not a valid account name; use letters, digits, -, . and _",
        ),
        ({"pool": "a100", "name": "a b"}, "a b: name=a b: use letters, digits, - and _, at most 64, not - first"),
        (
            {"pool": "a100", "env": {"A-B": "1"}},
            "run: env=A-B: is not a valid variable name; use letters, digits and _",
        ),
        (
            {"pool": "a100", "command": ["mpirun", "x"]},
            "run: command=mpirun: leave it out; a rank is started for each GPU anyway",
        ),
        ({"pool": "a100", "queue": "q"}, "job: queue=q: is for Kubernetes and AWS Batch; on Slurm a "
         "pool names the partition, use --pool"),
        ({"pool": "a100", "array": 3}, "job: array=3: is for AWS Batch (--on batch); submit each run"),
    ],
)  # fmt: skip
def test_what_is_said_before_slurm_is_asked(request_: dict[str, Any], line: str) -> None:
    with pytest.raises(UserError) as error:
        lines(**request_)
    assert str(error.value) == line


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({"directory": "shared"}, "lab: jobs.slurm.directory=shared: use an absolute path of letters, digits and"),
        ({"directory": "/a b"}, "lab: jobs.slurm.directory=/a b: use an absolute path of letters, digits and"),
        ({"directory": None}, "lab: jobs.slurm.directory: is missing; name a directory on the files that all"),
        ({"login": "-oProxyCommand=id"}, "lab: jobs.slurm.login=-oProxyCommand=id: is not a host name; use HOST,"),
        ({"pools": {}}, "lab: jobs.slurm.pools: is missing; name at least one, for instance {train: {gpus: 4}}"),
        ({"pools": {"a": {"gpus": 1.5}}}, "lab: jobs.slurm.pools.a.gpus=1.5: use a whole number, 0 or more"),
        ({"pools": {"a": {"partition": "a b"}}}, "lab: jobs.slurm.pools.a.partition=a b: use a name without blanks"),
        ({"pools": {"a": {"options": ["x\ny"]}}}, "lab: jobs.slurm.pools.a.options='x\\ny': is not an sbatch option"),
        ({"start": "mpiexec"}, "lab: jobs.slurm.start=mpiexec: use mpirun or srun"),
        ({"setup": "x"}, "lab: jobs.slurm.setup=x: must be a list; write [x]"),
    ],
)
def test_outputs_that_will_not_do(changed: dict[str, Any], line: str) -> None:
    with pytest.raises(UserError) as error:
        settings(**changed)
    assert str(error.value).startswith(line)
