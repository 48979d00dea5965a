"""An MPI job from a SIF over two servers, as an ordinary user: mpirun outside, and mpirun inside."""

from pathlib import Path
from typing import Any

import pytest

from tests.openmpi.own_hosts import UID, OwnHosts
from tests.singularity.conftest import file
from tests.singularity.ranks import RANK, containers, ranks

pytestmark = pytest.mark.cluster

WORDS = ("--nodes", "2", "--image", "images/mpi.sif", "--env", "GREETING=hello", "--follow")
COMMAND = ["sh", "-ec", RANK]


ALL = [(0, "host-0"), (1, "host-0"), (2, "host-1"), (3, "host-1")]


def test_ranks_run_in_the_image(run: Any, hosts: OwnHosts) -> None:
    before = {name: len(pod.processes()) for name, pod in hosts.pods.items()}
    sent = hosts.network.sent_bytes("host-1")
    done = run("submit", "--name", "boxed", *WORDS, command=COMMAND)
    print(done.stdout)
    assert done.exit_code == 0, done.output
    assert ranks(done.stdout) == ALL
    assert hosts.network.sent_bytes("host-1") - sent > 1 << 20
    assert done.stdout.count(f"uid={UID}(trainer) gid={UID}") == 4
    assert all(": of the image, hello, user:[" in line for line in containers(done.stdout))
    assert len(set(containers(done.stdout))) == 4, "one for each rank"
    outputs = hosts.shared / "jobs" / "boxed" / "outputs"
    assert {(each.name, each.stat().st_uid) for each in outputs.iterdir()} == {(f"rank-{at}", UID) for at in range(4)}
    assert "Converting SIF file to temporary sandbox" not in done.stdout, "mounted, not unpacked"
    # No daemon, and nothing mounted, is left.
    assert {name: len(pod.processes()) for name, pod in hosts.pods.items()} == before
    for host in hosts.pods:
        assert "squashfuse" not in Path(f"/proc/{hosts.pods[host].first_process()}/mounts").read_text()


def test_a_host_that_cannot_mount_it_unpacks_it(run: Any, hosts: OwnHosts) -> None:
    for host in hosts.pods:
        file(hosts, host, "/usr/bin/squashfuse").unlink()
        file(hosts, host, "/usr/bin/squashfuse_ll").unlink()
    (hosts.shared / "tmp").mkdir(mode=0o777)
    (hosts.shared / "tmp").chmod(0o777)
    room = ("--env", f"SINGULARITY_TMPDIR={hosts.shared}/tmp")
    done = run("submit", "--name", "unpacked", *room, *WORDS, command=COMMAND)
    assert done.exit_code == 0, done.output
    assert ranks(done.stdout) == ALL
    assert done.stdout.count("Converting SIF file to temporary sandbox") == 4


def test_a_host_without_the_program(run: Any, hosts: OwnHosts) -> None:
    file(hosts, "host-1", "/usr/local/bin/singularity").unlink()
    done = run("submit", "--name", "half", *WORDS, command=COMMAND)
    assert done.exit_code == 1
    assert "gpufleet: host host-1: singularity is not there; install it, or submit without an image\n" in done.stdout


def test_a_host_that_cannot_read_the_image(run: Any) -> None:
    done = run("submit", "--name", "gone", "--image", "images/none.sif", "--follow", command=["true"])
    assert done.exit_code == 127
    assert "/images/none.sif is not there; give another --image\n" in done.stdout
