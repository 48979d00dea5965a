"""mpirun of the job's launcher starts ranks on both workers, over ssh with the job's key pair."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from gpufleet.jobs.kubernetes.mpi_job import launcher_command, rank_environment
from gpufleet.jobs.mpi_ssh import SSH_PORT
from tests.openmpi import operator_objects as operator
from tests.openmpi.digits_job import JOB, command
from tests.openmpi.job_run import JobRun, listens_here
from tests.openmpi.pod import send
from tests.openmpi.pod_network import pod_network

SECONDS = 600


pytestmark = pytest.mark.cluster


def test_sum_over_two_hosts(run: JobRun):
    sent = run.network.sent_bytes("digits-worker-1")
    with run.launcher(command("python3", "allreduce.py")) as launcher:
        assert launcher.wait(SECONDS) == 0, launcher.text()
    said = [json.loads(line) for line in launcher.text().splitlines() if line.startswith("{")]
    by_rank = {one["rank"]: one for one in said}
    assert sorted(by_rank) == [0, 1, 2, 3]
    assert all((one["size"], one["least"], one["most"]) == (4, 10, 10) for one in said)
    hosts = [by_rank[rank]["host"] for rank in range(4)]
    assert hosts == ["digits-worker-0", "digits-worker-0", "digits-worker-1", "digits-worker-1"]
    # 1 MiB at least has to leave each host for the sum to be right on the other.
    assert run.network.sent_bytes("digits-worker-1") - sent > 1 << 20


def test_hostfile_is_the_operators(run: JobRun):
    lines = ["digits-worker-0.digits.research.svc slots=2\n", "digits-worker-1.digits.research.svc slots=2\n"]
    assert operator.hostfile(run.job) == "".join(lines)


def test_nothing_listens_on_this_machine(run: JobRun):
    assert not listens_here(SSH_PORT)


def test_exit_code_of_a_rank_comes_through(run: JobRun):
    with run.launcher(command("sh", "-c", "[ $OMPI_COMM_WORLD_RANK != 3 ] || exit 7")) as launcher:
        assert launcher.wait(SECONDS) == 7, launcher.text()


def test_a_program_that_is_not_there(run: JobRun):
    with run.launcher(command("python4", "train.py")) as launcher:
        assert launcher.wait(SECONDS) not in (0, None)
    assert "python4" in launcher.text()


def test_without_the_secret_the_workers_refuse(run: JobRun, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    # By it the launcher knows the workers; it lets nobody in.
    shutil.copy(run.secret / "id_rsa.pub", empty)
    with run.launcher(command("true"), secret=empty) as launcher:
        assert launcher.wait(SECONDS) != 0
    assert "Permission denied (publickey)" in launcher.text()


def test_another_jobs_secret_is_refused(run: JobRun, tmp_path):
    other = operator.write_ssh_secret(run.job, tmp_path / "other")
    shutil.copy(run.secret / "id_rsa.pub", other)
    with run.launcher(command("true"), secret=other) as launcher:
        assert launcher.wait(SECONDS) != 0
    assert "Permission denied (publickey)" in launcher.text()


def test_who_answers_in_a_workers_place_gets_no_ranks(run: JobRun, tmp_path):
    """It lets the launcher in, but has not the job's key: it is told neither the command nor the environment."""
    secret = operator.write_ssh_secret(run.job, tmp_path / "impostor")
    shutil.copy(run.secret / "authorized_keys", secret / "authorized_keys")
    run.workers[1].end()
    with ExitStack() as pods:
        run.start_worker(1, pods, secret)
        run.workers[1].wait_for("Server listening on", SECONDS)
        with run.launcher(command("python3", "allreduce.py")) as launcher:
            assert launcher.wait(SECONDS) == 1, launcher.text()
        host = "digits-worker-1.digits.research.svc"
        told = f"1 workers answer with another host key than the job's: {host} Host key verification failed."
        assert f"gpufleet: {told}\n" in launcher.text()
        assert "Accepted" not in run.workers[1].text()


def test_a_worker_that_goes_away_ends_the_job(run: JobRun):
    with run.launcher(command("sh", "-c", "echo up; exec sleep 300")) as launcher:
        launcher.wait_for("up\nup\nup\nup\n", SECONDS)
        send(run.workers[1].first_process(), signal.SIGKILL)
        assert launcher.wait(SECONDS) != 0


def test_sum_of_a_job_of_root(root_run: JobRun):
    as_root = {**JOB, "uid": 0, "gid": 0, "command": ["python3", "allreduce.py"]}
    with root_run.launcher(launcher_command(as_root, rank_environment("digits", as_root))) as launcher:
        assert launcher.wait(SECONDS) == 0, launcher.text()
    assert launcher.text().count('"least": 10.0, "most": 10.0') == 4


PODS = """
import sys, time
from pathlib import Path
from tests.openmpi.digits_job import JOB
from gpufleet.jobs.kubernetes.mpi_job import mpi_job
from tests.openmpi.job_run import job_run
with job_run(mpi_job("digits", JOB), Path(sys.argv[1]), Path("/usr/bin/python3")) as run:
    print(*[pod.first_process() for pod in run.workers], flush=True)
    if sys.argv[2] == "stay":
        time.sleep(3600)
"""


@pytest.mark.parametrize("ending", ["go", "stay"])
def test_nothing_is_left_behind(tmp_path: Path, ending: str):
    """Neither after a run's end nor when its process is killed."""
    paths = os.pathsep.join(path for path in sys.path if path)
    program = [sys.executable, "-c", PODS, str(tmp_path), ending]
    started = subprocess.Popen(program, env={**os.environ, "PYTHONPATH": paths}, stdout=subprocess.PIPE, text=True)
    assert started.stdout
    pids = started.stdout.readline().split()
    assert len(pids) == 2
    if ending == "stay":
        assert all(Path("/proc", pid).exists() for pid in pids)
        started.kill()
    started.wait(timeout=600)
    end = time.monotonic() + SECONDS
    while any(Path("/proc", pid).exists() for pid in pids) and time.monotonic() < end:
        time.sleep(0.05)
    assert not [pid for pid in pids if Path("/proc", pid).exists()]
    # Namespaces of a killed run go with the next one's start.
    with pod_network([]):
        pass
    assert not list(Path("/run/netns").glob(f"gpufleet-pods-{started.pid}-*"))
