"""An image on Slurm: mpirun outside, Apptainer inside, once for each rank.

Where no Apptainer is installed a stand-in takes its place, which only notes how it was called. What such a run shows is
that the step is where it belongs and called with these words; that a container starts, it does not show. So the test
ends as an expected failure there, `UNVERIFIED`, and never as passed.
"""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.slurm.slurm_cluster import SlurmCluster

pytestmark = pytest.mark.cluster

STAND_IN = """#!/bin/sh
echo "stand-in $*"
while [ "$1" != "$IMAGE" ]; do shift; done
shift
exec "$@"
"""


def test_ranks_run_in_the_image(run: Any, told: dict[str, Any], slurm: SlurmCluster) -> None:
    image = slurm.shared / "rank.sif"
    real = shutil.which("apptainer")
    if real:
        image = Path(os.environ.get("GPUFLEET_APPTAINER_IMAGE", ""))
        assert image.is_file(), "Apptainer is here: name an image with sh as GPUFLEET_APPTAINER_IMAGE"
    else:
        image.write_text("no image\n")
        folder = slurm.shared / "bin"
        folder.mkdir()
        (folder / "apptainer").write_text(STAND_IN)
        (folder / "apptainer").chmod(0o755)
        told["setup"] = [f"export PATH={folder}:$PATH IMAGE={image}"]
    words = ("--name", "boxed", "--nodes", "2", "--image", str(image), "--follow")
    done = run("submit", *words, command=["sh", "-c", "echo rank $OMPI_COMM_WORLD_RANK"])
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert sorted(line for line in lines if line.startswith("rank")) == [f"rank {rank}" for rank in range(4)]
    if not real:
        called = f"stand-in exec --nv --bind {slurm.shared} --pwd {slurm.shared} {image} sh -c echo rank"
        assert sum(line.startswith(called) for line in lines) == 4
        pytest.xfail("UNVERIFIED: no Apptainer on this machine; a stand-in was called in its place")


def test_without_apptainer_the_job_says_so(run: Any, slurm: SlurmCluster) -> None:
    if shutil.which("apptainer"):
        words, line = ("--image", "gone.sif"), f"gpufleet: image {slurm.shared}/gone.sif is not there"
    else:
        words, line = ("--image", "any.sif"), "gpufleet: apptainer is not on "
    done = run("submit", "--name", "unboxed", "--gpus", "1", *words, "--follow", command=["true"])
    assert done.exit_code == 127, done.output
    assert line in done.stdout
