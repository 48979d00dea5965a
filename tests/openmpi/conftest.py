"""What the runs of real OpenMPI share. They need root, Debian's packages (tools/openmpi/install.py) and no GPU."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpufleet.jobs.kubernetes.mpi_job import mpi_job
from tests.openmpi.digits_job import JOB, command
from tests.openmpi.job_run import JobRun, job_run


@pytest.fixture(scope="session")
def python() -> Path:
    """The interpreter with PyTorch, mpi4py and NumPy: Debian's, or GPUFLEET_TRAINING_PYTHON."""
    chosen = Path(os.environ.get("GPUFLEET_TRAINING_PYTHON", "/usr/bin/python3"))
    check = [str(chosen), "-c", "import torch, mpi4py, numpy; print(torch.__version__)"]
    done = subprocess.run(check, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        told = (done.stderr.strip().splitlines() or ["no output"])[-1]
        pytest.exit(f"{chosen}: {told}; run: python -m tools.openmpi.install", returncode=1)
    return chosen


@pytest.fixture
def run(tmp_path: Path, python: Path) -> Iterator[JobRun]:
    """The job `digits` of two workers with two ranks each, ready for a launcher."""
    with job_run(mpi_job("digits", JOB), tmp_path, python) as made:
        yield made


@pytest.fixture
def root_run(tmp_path: Path, python: Path) -> Iterator[JobRun]:
    """The same job of an image that knows no other user than root."""
    with job_run(mpi_job("digits", {**JOB, "uid": 0, "gid": 0}), tmp_path, python) as made:
        yield made


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the first test that needs the data set leaves a copy for the others."""
    return tmp_path_factory.mktemp("pictures") / "data"


@pytest.fixture
def data(run: JobRun, pictures: Path) -> JobRun:
    """The job, with a data set of 1024 pictures, made by the job itself, on the volume."""
    if pictures.exists():
        shutil.copytree(pictures, run.volume / "data")
        return run
    with run.launcher(command("python3", "make_data.py", "--images", "1024")) as launcher:
        assert launcher.wait(60) == 0, launcher.text()
    made = list((run.volume / "data").iterdir())
    assert sorted(path.name for path in made) == ["test.npz", "train.npz"]
    assert {(path.stat().st_uid, path.stat().st_gid) for path in made} == {(1000, 1000)}, "of the job's user"
    shutil.copytree(run.volume / "data", pictures)
    return run
