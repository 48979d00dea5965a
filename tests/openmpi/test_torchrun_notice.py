"""Notice that a node will be taken, to a torchrun job's worker, as a kubelet gives it: its ranks hear it, and save."""

import shutil
from pathlib import Path

import pytest

from gpufleet.jobs.kubernetes.job_kind import JOB_SET, part_of
from gpufleet.jobs.kubernetes.jobset_job import jobset_job
from tests.openmpi.digits_job import JOB
from tests.openmpi.job_run import DIRECTORY
from tests.openmpi.pod import IMAGE_PATH, Pod, PodPlan, running_pod
from tests.openmpi.pod_network import pod_network

pytestmark = pytest.mark.cluster

SECONDS = 600
RANK = """import os, signal, sys, time
told = []
signal.signal(signal.SIGUSR1, lambda number, frame: told.append(number))
print("listens", flush=True)
while not told:
    time.sleep(0.1)
# What a signal to torchrun would end.
time.sleep(2)
print("saved", os.environ["RANK"], told, flush=True)
"""
NODE, NAME = "digits-worker-0-0", "digits-worker-0-0.digits"


def worker(folder: Path, python: Path, *command: str) -> PodPlan:
    """The only worker of a job with two ranks, as the kubelet would start it."""
    # Debian's torchrun does not start on Python 3.11 without these: tests/openmpi/test_torchrun.py.
    env = {"OMP_NUM_THREADS": "1", "PET_REDIRECTS": "9:1", "PET_TEE": "9:1"}
    job = jobset_job("digits", {**JOB, "workers": 1, "command": list(command), "grace_seconds": 60, "env": env})
    spec = part_of(job, JOB_SET.worker_pod)
    (container,) = spec["containers"]
    programs = folder / "programs"
    programs.mkdir()
    (programs / "rank.py").write_text(RANK)
    shutil.chown(programs, 1000, 1000)
    image = {"PATH": f"{python.parent}:{IMAGE_PATH}", "LD_LIBRARY_PATH": "", "PYTHONUNBUFFERED": "1"}
    return PodPlan(
        name=NODE,
        command=[word.replace("$(JOB_COMPLETION_INDEX)", "0").replace(NAME, NODE) for word in container["command"]],
        environment={**image, **{one["name"]: one["value"] for one in container["env"]}},
        mounts={DIRECTORY: programs},
        uid=spec["securityContext"]["runAsUser"],
        gid=spec["securityContext"]["runAsGroup"],
        directory=DIRECTORY,
    )


def taken(tmp_path: Path, python: Path, *command: str) -> Pod:
    """The worker, after its node was drained when both of its ranks were at work."""
    plan = worker(tmp_path, python, *command)
    with pod_network([NODE]) as network, running_pod(plan, network, tmp_path / "pod") as pod:
        pod.wait_for("listens\n" * 2, SECONDS)
        pod.take()
        assert pod.wait(SECONDS) == 143, pod.text()
    return pod


def test_ranks_that_listen_are_told_and_end_by_themselves(tmp_path: Path, python: Path) -> None:
    """In a shell that catches nothing, which a signal would end."""
    said = taken(tmp_path, python, "sh", "-c", "python3 rank.py; echo shell $?").text()
    assert sorted(line for line in said.splitlines() if line.startswith("saved")) == ["saved 0 [10]", "saved 1 [10]"]
    assert said.count("shell 0\n") == 2
    assert "Sending process" not in said, "torchrun had the signal"


def test_ranks_that_do_not_listen_are_ended_by_torchrun(tmp_path: Path, python: Path) -> None:
    said = taken(tmp_path, python, "sh", "-c", "echo listens; exec sleep 300").text()
    assert "Sending process" in said
    assert "still run" not in said
