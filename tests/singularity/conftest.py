"""Servers with the real SingularityCE, and an image that has OpenMPI. They need root and no GPU."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from gpufleet.cli import main
from gpufleet.jobs.ssh import follow
from tests.openmpi.own_hosts import OwnHosts
from tests.singularity.mpi_image import mpi_sif
from tests.singularity.servers import singularity_hosts
from tools.singularity.build import SingularityMissing, installed

Run = Callable[..., Result]


@pytest.fixture(scope="session")
def program() -> Path:
    try:
        return installed()
    except SingularityMissing as missing:
        pytest.exit(str(missing), returncode=1)


@pytest.fixture(scope="session")
def sif(program: Path) -> Path:
    return mpi_sif(program)


@pytest.fixture
def hosts(tmp_path: Path, program: Path, sif: Path) -> Iterator[OwnHosts]:
    with singularity_hosts(tmp_path, program, sif) as made:
        yield made


@pytest.fixture
def run(hosts: OwnHosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(follow.SshJobFollower, "shortest", 0.2)
    monkeypatch.setattr(follow.SshJobFollower, "longest", 0.5)

    def invoke(verb: str, *words: str, command: list[str] | None = None, **changed: object) -> Result:
        """changed: keys of the outputs that differ."""
        outputs = tmp_path / "lab.yaml"
        outputs.write_text(yaml.safe_dump({"jobs": {"on": "hosts", "hosts": {**hosts.told(), **changed}}}))
        end = ("--", *command) if command else ()
        return CliRunner().invoke(main, ["jobs", verb, "--outputs", str(outputs), "lab", *words, *end])

    return invoke
