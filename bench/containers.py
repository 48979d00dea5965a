"""`python -m bench.containers`: an MPI job over two hosts from an image, beside the same job without one.

It needs root, `make singularity` and OpenMPI (`python -m tools.openmpi.install`). See bench/README.md.
"""

import json
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

import yaml
from click.testing import CliRunner

from bench.measure import machine
from gpufleet.cli import main as gpufleet
from tests.openmpi.own_hosts import OwnHosts
from tests.singularity.mpi_image import mpi_sif
from tests.singularity.servers import singularity_hosts
from tools.singularity.build import installed

ROUNDS = 5
IMAGE = ["--image", "images/mpi.sif"]
VARIABLES = ("OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "OMPI_MCA_mpi_yield_when_idle=1")
"""A rank takes one processor, and gives way while it waits for the other."""
JOBS = {
    "no image": ("host", []),
    "mpirun of the host, a container for each rank": ("host", IMAGE),
    "mpirun of the image, a container for each host": ("image", IMAGE),
}
"""Whose mpirun, and options, of each way to run the job."""
PROGRAM = """import json, time
import numpy
from mpi4py import MPI
world = MPI.COMM_WORLD
weights = numpy.random.default_rng(world.rank).random((512, 512))
total = numpy.empty_like(weights)
world.Barrier()
began = time.perf_counter()
for step in range(100):
    weights = weights @ weights
    weights /= weights.max()
    world.Allreduce(weights, total, op=MPI.SUM)
world.Barrier()
if world.rank == 0:
    print(json.dumps({"ranks": world.size, "steps": time.perf_counter() - began}), flush=True)
"""
"""100 steps of two ranks: a product of matrices, and an all-reduce of its 2 MiB."""


@dataclass(frozen=True)
class Times:
    """whole: seconds from the moment that the hosts are taken to the exit code. steps: those of the 100 steps alone."""

    whole: float
    steps: float


def measure(hosts: OwnHosts, folder: Path, job: str, name: str) -> Times:
    """Run the job once. Errors: RuntimeError with its output when it fails."""
    mpirun, options = JOBS[job]
    outputs = folder / "lab.yaml"
    outputs.write_text(yaml.safe_dump({"jobs": {"on": "hosts", "hosts": {**hosts.told(), "mpirun": mpirun}}}))
    words = [
        "jobs",
        "submit",
        "lab",
        "--outputs",
        str(outputs),
        "--name",
        name,
        "--nodes",
        "2",
        "--gpus",
        "1",
        *options,
    ]
    variables = [word for each in VARIABLES for word in ("--env", each)]
    done = CliRunner().invoke(gpufleet, [*words, *variables, "--follow", "--", "/usr/bin/python3", "train.py"])
    told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.exit_code or [each["ranks"] for each in told] != [2]:
        raise RuntimeError(f"{job}: {done.output}")
    files = hosts.shared / "jobs" / name
    return Times((files / "exit.txt").stat().st_mtime - (files / "state").stat().st_mtime, told[0]["steps"])


def main() -> None:
    """Measure the jobs in turn, and print medians and ratios to the one without an image."""
    runs: dict[str, list[Times]] = {job: [] for job in JOBS}
    program = installed()
    sif = mpi_sif(program)
    with (
        tempfile.TemporaryDirectory(prefix="gpufleet-bench-") as name,
        singularity_hosts(Path(name), program, sif) as hosts,
    ):
        (hosts.shared / "train.py").write_text(PROGRAM)
        for number in range(ROUNDS + 1):
            for place, job in enumerate(JOBS):
                measured = measure(hosts, Path(name), job, f"run-{number}-{place}")
                if number > 0:
                    runs[job].append(measured)
    print(f"{machine()}, {ROUNDS} rounds after one that does not count")
    for key in ("whole", "steps"):
        seconds = {job: [getattr(each, key) for each in found] for job, found in runs.items()}
        alone = statistics.median(seconds["no image"])
        for job, each in seconds.items():
            median = statistics.median(each)
            print(f"{key}: {job}: {median:.2f} s ({min(each):.2f} to {max(each):.2f}), ratio {median / alone:.3f}")


if __name__ == "__main__":
    main()
