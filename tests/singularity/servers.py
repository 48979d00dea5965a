"""Own servers with the real SingularityCE, as an administrator installs it without setuid. They need root."""

import shutil
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.openmpi.own_hosts import UID, OwnHosts, own_hosts

ROOT = Path(__file__).parents[2]
PROGRAM, REPOSITORY, PACKAGES = Path("/opt/singularity"), Path("/srv/gpufleet"), Path("/srv/packages")
"""Where servers have them: the user cannot reach this checkout everywhere."""
SQUASHFUSE = """#!/bin/sh
exec /usr/bin/squashfuse_ll "$1" "$(echo "$2" | sed 's/uid=[0-9]*,gid=[0-9]*,//')" "$3" "$4"
"""
"""Debian 12's squashfuse, 0.1.105, knows no `-o uid=,gid=`, which SingularityCE 4 gives it, and refuses to mount."""


@contextmanager
def singularity_hosts(folder: Path, program: Path, sif: Path) -> Iterator[OwnHosts]:
    """Two servers with the program, and the image at `images/mpi.sif` of the shared files."""
    mounts = {str(PROGRAM): program, str(REPOSITORY): ROOT, str(PACKAGES): Path(sysconfig.get_path("purelib"))}
    with own_hosts(folder, mounts=mounts) as made:
        images = made.shared / "images"
        images.mkdir()
        shutil.copy(sif, images)
        shutil.chown(images, UID, UID)
        for host in made.pods:
            file(made, host, "/usr/local/bin/singularity").symlink_to(PROGRAM / "bin/singularity")
            # OpenMPI puts /usr/bin first, so that it cannot be elsewhere.
            squashfuse = file(made, host, "/usr/bin/squashfuse_ll")
            squashfuse.rename(squashfuse.with_name("squashfuse_ll.debian"))
            squashfuse.write_text(SQUASHFUSE.replace("/usr/bin/squashfuse_ll", "/usr/bin/squashfuse_ll.debian"))
            squashfuse.chmod(0o755)
        yield made


def file(hosts: OwnHosts, host: str, path: str) -> Path:
    """A file in a server's own tree: what is changed there stays as it is on this machine."""
    return Path(f"/proc/{hosts.pods[host].first_process()}/root{path}")
