"""An MPI job from a SIF over two servers, as an ordinary user: mpirun outside, and mpirun inside."""

import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from gpufleet.cli import main
from tests.openmpi.own_hosts import UID, OwnHosts
from tests.openmpi.test_own_hosts import SLEEP, wait_for
from tests.singularity.ranks import RANK, containers, ranks
from tests.singularity.servers import file
from tests.tools.guide_commands import guide_commands

pytestmark = pytest.mark.cluster

WORDS = ("--nodes", "2", "--image", "images/mpi.sif", "--env", "GREETING=hello", "--follow")
COMMAND = ["sh", "-ec", RANK]
ALL = [(0, "host-0"), (1, "host-0"), (2, "host-1"), (3, "host-1")]


@pytest.mark.parametrize("mpirun", ["host", "image"])
def test_ranks_run_in_the_image(run: Any, hosts: OwnHosts, mpirun: str) -> None:
    if mpirun == "image":
        for pod in hosts.pods:
            for program in ("mpirun", "orted"):
                file(hosts, pod, f"/usr/bin/{program}").unlink()
    before = {name: len(pod.processes()) for name, pod in hosts.pods.items()}
    sent = hosts.network.sent_bytes("host-1")
    done = run("submit", "--name", "boxed", *WORDS, command=COMMAND, mpirun=mpirun)
    print(done.stdout)
    assert done.exit_code == 0, done.output
    assert ranks(done.stdout) == ALL
    assert hosts.network.sent_bytes("host-1") - sent > 1 << 20
    assert done.stdout.count(f"uid={UID}(trainer) gid={UID}") == 4
    assert all(": of the image, hello, user:[" in line for line in containers(done.stdout))
    # mpirun outside starts a container for each rank, mpirun inside one for each host.
    assert len(set(containers(done.stdout))) == {"host": 4, "image": 2}[mpirun]
    outputs = hosts.shared / "jobs" / "boxed" / "outputs"
    assert {(each.name, each.stat().st_uid) for each in outputs.iterdir()} == {(f"rank-{at}", UID) for at in range(4)}
    assert "Converting SIF file to temporary sandbox" not in done.stdout, "mounted, not unpacked"
    # No daemon, and nothing mounted, is left.
    wait_for(lambda: {name: len(pod.processes()) for name, pod in hosts.pods.items()} == before, "no daemon")
    for host in hosts.pods:
        assert "squashfuse" not in Path(f"/proc/{hosts.pods[host].first_process()}/mounts").read_text()


@pytest.mark.parametrize("mpirun", ["host", "image"])
def test_a_cancelled_job_leaves_no_container(run: Any, hosts: OwnHosts, mpirun: str) -> None:
    before = {name: len(pod.processes()) for name, pod in hosts.pods.items()}
    words = ("--name", "long", "--nodes", "2", "--image", "images/mpi.sif")
    assert run("submit", *words, command=SLEEP, mpirun=mpirun).exit_code == 0
    wait_for(lambda: run("logs", "long").stdout.count("up\n") == 4, "ranks of long")
    assert run("cancel", "long").output.startswith("long: cancelled; ")
    wait_for(lambda: {name: len(pod.processes()) for name, pod in hosts.pods.items()} == before, "end of containers")


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


def test_guide_of_jobs(run: Any, hosts: OwnHosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (line,) = [each for each in guide_commands("jobs") if " lab " in each and "train.sif" in each]
    (hosts.shared / "images/mpi.sif").rename(hosts.shared / "train.sif")
    (hosts.shared / "allreduce.py").rename(hosts.shared / "train.py")
    run("list")
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, shlex.split(line)[1:])
    print(line, done.output, sep="\n")
    assert done.exit_code == 0, done.output
    assert ranks(done.stdout) == ALL
