"""The script of a job over plain hosts, and what is said against a job before any host is asked."""

import shutil
import subprocess
from typing import Any

import pytest

from gpufleet.errors import UserError
from gpufleet.jobs.hosts.settings import HostsSettings, hosts_settings
from gpufleet.jobs.hosts.submission import build_submission
from gpufleet.jobs.request import parse_request

TOLD = {
    "directory": "/nfs/lab",
    "interface": "eno1",
    "hosts": [{"name": "gpu1", "slots": 4.0}, {"name": "gpu2", "slots": 4}, {"name": "old", "slots": 1}, "spare"],
}


def settings(**changed: Any) -> HostsSettings:
    return hosts_settings({"hosts": {**TOLD, **changed}}, "lab")


def script(mpirun: str = "host", **request: Any) -> str:
    job = parse_request({"command": ["python3", "train.py"], "name": "run", **request}, "job", "hosts")
    return build_submission(settings(mpirun=mpirun), "lab", job).script


def run_line(text: str) -> str:
    (line,) = [line.strip() for line in text.splitlines() if "mpirun " in line]
    return line


@pytest.mark.parametrize(
    ("request_", "candidates", "ranks"),
    [
        ({}, "gpu1 gpu2", "-np 4 --map-by ppr:4:node"),
        ({"nodes": 2}, "gpu1 gpu2", "-np 8 --map-by ppr:4:node"),
        ({"nodes": 3}, "gpu1 gpu2 old spare", "-np 3 --map-by ppr:1:node"),
        ({"nodes": 2, "gpus": 2}, "gpu1 gpu2", "-np 4 --map-by ppr:2:node"),
    ],
)
def test_as_many_ranks_on_each_host(request_: dict[str, Any], candidates: str, ranks: str) -> None:
    text = script(**request_)
    assert f"candidates=({candidates})\n" in text
    assert run_line(text).startswith(f'mpirun --host "$over" {ranks} --bind-to none ')


def test_job_after_another_finds_its_outputs() -> None:
    assert "export GPUFLEET_AFTER_OUTPUTS=/nfs/lab/jobs/first/outputs\n" in script(after="first")
    assert "AFTER_OUTPUTS" not in script()


def test_a_container_and_a_limit() -> None:
    line = run_line(script(image="train.sif", time_limit_minutes=5))
    assert line.startswith("timeout --foreground --kill-after=30s 5m mpirun ")
    container = '"$container" exec --nv --bind /nfs/lab --pwd /nfs/lab /nfs/lab/train.sif'
    assert f" {container} python3 train.py </dev/null" in line


def test_mpirun_of_the_image() -> None:
    text = script(mpirun="image", image="train.sif", time_limit_minutes=5)
    words = "exec --nv --bind /nfs/lab --pwd /nfs/lab /nfs/lab/train.sif"
    line = run_line(text)
    assert line.startswith(
        f'timeout --foreground --kill-after=30s 5m "$container" {words} mpirun --host "$over" -np 4 '
    )
    daemon = f"""--mca orte_leave_session_attached 1 --mca orte_launch_agent "$container"' {words} orted'"""
    assert line.endswith(f" {daemon} python3 train.py </dev/null && end 0")
    assert "command -v orted" not in text


def test_mpirun_of_the_image_is_for_jobs_with_one() -> None:
    assert script(mpirun="image") == script()


@pytest.mark.parametrize(
    "request_",
    [
        {},
        {"image": "docker://nvcr.io/x:1"},
        {"mpirun": "image", "image": "/a's.sif"},
        {"env": {"A": "$(id) `id` \"'\n"}},
    ],
)
def test_bash_reads_it(request_: dict[str, Any]) -> None:
    bash = shutil.which("bash")
    assert bash
    done = subprocess.run(
        [bash, "-n"], input=script(**request_), capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("request_", "line"),
    [
        ({"nodes": 5}, "run: nodes=5: there are 4 hosts in jobs.hosts; use fewer --nodes"),
        ({"nodes": 3, "gpus": 2}, "run: nodes=3: there are 2 hosts of 2 slots or more in "
         "jobs.hosts; use fewer --nodes"),
        ({"gpus": 8}, "run: gpus=8: no host has so many slots; use 4 or fewer"),
        ({"image": "torch"}, "run: image=torch: no such image; use none, a path that ends with "
         ".sif, or a URI such as docker://nvcr.io/nvidia/pytorch:24.10-py3"),
        ({"queue": "q"}, "job: queue=q: is for clusters with a scheduler; hosts are taken when they are free"),
    ],
)  # fmt: skip
def test_what_is_said_before_hosts_are_asked(request_: dict[str, Any], line: str) -> None:
    with pytest.raises(UserError) as error:
        script(**request_)
    assert str(error.value) == line


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({"hosts": []}, "lab: jobs.hosts.hosts: must be a list of servers; write [{name: gpu1, slots: 4}]"),
        ({"hosts": ["-x"]}, "lab: jobs.hosts.hosts=-x: is not a server; write {name: gpu1, slots: 4}"),
        ({"hosts": ["a", "a"]}, "lab: jobs.hosts.hosts=a: is listed twice; list it once, with all of its slots"),
        ({"hosts": [{"name": "a", "slots": 0}]}, "lab: jobs.hosts.hosts.a.slots=0: use a whole number, 1 or more"),
        ({"interface": "eth0; id"}, "lab: jobs.hosts.interface=eth0; id: is not a network interface; use for instance"),
        ({"mpirun": "hosts"}, "lab: jobs.hosts.mpirun=hosts: did you mean host? (use host or image)"),
        ({"ssh": "-o 'x"}, "lab: jobs.hosts.ssh=-o 'x: No closing quotation; write arguments as a shell takes them"),
    ],
)
def test_outputs_that_will_not_do(changed: dict[str, Any], line: str) -> None:
    with pytest.raises(UserError) as error:
        settings(**changed)
    assert str(error.value).startswith(line)


def test_torchrun_on_each_host() -> None:
    text = script(launcher="torchrun", nodes=2, time_limit_minutes=5, image="train.sif", env={"A": "it's"})
    assert "mpirun" not in text
    assert "orted" not in text
    words = (
        'timeout --foreground --kill-after=60s 5m "$container" exec --nv --bind /nfs/lab --pwd /nfs/lab '
        '/nfs/lab/train.sif python3 -m torch.distributed.run --nnodes 2 --nproc_per_node 4 --node_rank "$node" '
        '--master_addr "$MASTER_ADDR" --master_port "$MASTER_PORT" --rdzv_conf timeout=1800 --monitor_interval 1 '
        "--no_python python3 train.py </dev/null"
    )
    assert words in text
    assert " A GPUFLEET_JOB " in next(line for line in text.splitlines() if line.startswith("passed_on=("))
    assert "    run_nodes </dev/null && end 0\n" in text
    bash = shutil.which("bash")
    assert bash
    done = subprocess.run([bash, "-n"], input=text, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("request_", "line"),
    [
        ({"launcher": "horovod"}, "job: launcher=horovod: use mpi or torchrun"),
        ({"launcher": "deepspeed"}, "job: launcher=deepspeed: use mpi or torchrun; DeepSpeed programs run under "
         "torchrun"),
        ({"launcher": "torchrun", "command": ["torchrun", "t.py"]}, "job: command=torchrun: leave torchrun out; "
         "launcher=torchrun starts it on each node"),
        ({"launcher": "torchrun", "command": ["mpirun", "a"]}, "job: command=mpirun: is for launcher=mpi; name the "
         "program alone"),
    ],
)  # fmt: skip
def test_launchers_that_are_none(request_: dict[str, Any], line: str) -> None:
    with pytest.raises(UserError) as error:
        script(**request_)
    assert str(error.value) == line
