"""A job with an image where no node has Apptainer or SingularityCE; how one runs is in tests/singularity."""

import shutil
from typing import Any

import pytest

from tests.slurm.slurm_cluster import SlurmCluster

pytestmark = pytest.mark.cluster


def test_without_a_container_program_the_job_says_so(run: Any, slurm: SlurmCluster) -> None:
    if shutil.which("apptainer") or shutil.which("singularity"):
        words, line = ("--image", "gone.sif"), f"gpufleet: image {slurm.shared}/gone.sif is not there"
    else:
        words, line = ("--image", "any.sif"), "gpufleet: neither apptainer nor singularity is on "
    done = run("submit", "--name", "unboxed", "--gpus", "1", *words, "--follow", command=["true"])
    assert done.exit_code == 127, done.output
    assert line in done.stdout
