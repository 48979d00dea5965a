"""A Slurm cluster for all tests here, and `gpufleet jobs` as its user types it. They need root and no GPU."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from gpufleet.cli import main
from gpufleet.jobs.ssh import follow
from tests.slurm.slurm_cluster import GPUS, SlurmCluster, missing, slurm_cluster

Run = Callable[..., Result]
AS_ROOT = ("--env", "OMPI_ALLOW_RUN_AS_ROOT=1", "--env", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
"""mpirun runs for root only when it is told twice."""


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SlurmCluster]:
    if lacking := missing():
        pytest.exit(f"missing: {' '.join(lacking)}; run: python -m tools.slurm.install", returncode=1)
    with slurm_cluster(tmp_path_factory.mktemp("slurm")) as made:
        shutil.copy(Path(__file__).parents[1] / "openmpi" / "allreduce.py", made.shared)
        yield made


@pytest.fixture
def slurm(cluster: SlurmCluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[SlurmCluster]:
    """The cluster without jobs, as this shell's own."""
    for name, value in cluster.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(follow.SshJobFollower, "shortest", 0.2)
    monkeypatch.setattr(follow.SshJobFollower, "longest", 0.5)
    cluster.free()
    yield cluster
    cluster.free()


@pytest.fixture
def told(slurm: SlurmCluster) -> dict[str, Any]:
    """The environment's outputs at `jobs.slurm`; a test may change them."""
    pool = {"partition": "train", "gpus": GPUS, "gpu": "v100", "interface": "lo"}
    return {"directory": str(slurm.shared), "pools": {"train": pool, "small": {**pool, "qos": "one-node"}}}


@pytest.fixture
def run(told: dict[str, Any], tmp_path: Path) -> Run:
    def invoke(verb: str, *words: str, command: Sequence[str] = ()) -> Result:
        file = tmp_path / "lab.yaml"
        file.write_text(yaml.safe_dump({"jobs": {"on": "slurm", "slurm": told}}))
        pool = ("--pool", "train") if verb == "submit" and "--pool" not in words else ()
        root = AS_ROOT if verb == "submit" else ()
        end = ("--", *command) if command else ()
        return CliRunner().invoke(main, ["jobs", verb, "--outputs", str(file), "lab", *words, *pool, *root, *end])

    return invoke
