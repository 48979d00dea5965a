"""Servers with the real SingularityCE, and an image that has OpenMPI. They need root and no GPU."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from gpufleet.cli import main
from gpufleet.jobs.ssh import follow
from tests.openmpi.own_hosts import OwnHosts, own_hosts
from tests.singularity.mpi_image import mpi_sif
from tools.singularity.build import SingularityMissing, installed

PROGRAM = Path("/opt/singularity")
SQUASHFUSE = """#!/bin/sh
exec /usr/bin/squashfuse_ll "$1" "$(echo "$2" | sed 's/uid=[0-9]*,gid=[0-9]*,//')" "$3" "$4"
"""
"""Debian 12's squashfuse, 0.1.105, knows no `-o uid=,gid=`, which SingularityCE 4 gives it, and refuses to mount."""

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
    """Two servers that have the program as an administrator installs it without setuid, and the image in `images`."""
    with own_hosts(tmp_path, mounts={str(PROGRAM): program, str(tmp_path / "shared/images"): sif.parent}) as made:
        for host in made.pods:
            file(made, host, "/usr/local/bin/singularity").symlink_to(PROGRAM / "bin/singularity")
            # OpenMPI puts /usr/bin first, so that it cannot be elsewhere.
            squashfuse = file(made, host, "/usr/bin/squashfuse_ll")
            squashfuse.rename(squashfuse.with_name("squashfuse_ll.debian"))
            squashfuse.write_text(SQUASHFUSE.replace("/usr/bin/squashfuse_ll", "/usr/bin/squashfuse_ll.debian"))
            squashfuse.chmod(0o755)
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


def file(hosts: OwnHosts, host: str, path: str) -> Path:
    """A file in a server's own tree: what is changed there stays as it is on this machine."""
    return Path(f"/proc/{hosts.pods[host].first_process()}/root{path}")
