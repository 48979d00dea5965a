"""A controller that goes away for a while, of a cluster of this file's own: its nodes may stay `mixed` afterwards."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.slurm.job_states import wait_for_line
from tests.slurm.slurm_cluster import SlurmCluster, slurm_cluster

pytestmark = pytest.mark.cluster


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SlurmCluster]:
    assert shutil.which("slurmctld", path="/usr/sbin:/usr/bin"), "run: python -m tools.slurm.install"
    folder = tmp_path / "own"
    folder.mkdir()
    with slurm_cluster(folder) as made:
        for name, value in made.environment.items():
            monkeypatch.setenv(name, value)
        yield made


def test_following_outlives_the_controller(run: Any, slurm: SlurmCluster) -> None:
    command = ["sh", "-c", "echo up; sleep 4; echo through"]
    assert run("submit", "--name", "patient", "--gpus", "1", command=command).exit_code == 0
    wait_for_line(run, "patient", "up")
    slurm.end("slurmctld")
    missed = run("status", "patient")
    assert missed.exit_code == 1
    assert missed.stderr.startswith("Error: squeue on this machine: Unable to contact slurm controller")
    slurm.start_controller()
    done = run("logs", "patient", "--follow")
    assert done.exit_code == 0, done.output
    assert "through\n" in done.stdout
