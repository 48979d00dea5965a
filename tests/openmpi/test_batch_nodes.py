"""The command of an AWS Batch multi-node parallel job, on two hosts with two ranks each, over real OpenMPI and sshd."""

import json
import re
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gpufleet.jobs.aws_batch.entrypoint import container_command, multinode_command
from tests.openmpi.batch_nodes import BatchNodes, batch_environment, batch_nodes
from tests.openmpi.pod import IMAGE_PATH, Pod, send

pytestmark = pytest.mark.cluster

SECONDS = 600
TRAIN = ["python3", "train.py", "--batch", "16", "--log-every", "10"]
SLEEP = ["sh", "-c", "echo up; exec sleep 300"]


@pytest.fixture
def nodes(tmp_path: Path, python: Path) -> Iterator[BatchNodes]:
    with batch_nodes(tmp_path, python) as made:
        yield made


@contextmanager
def both(nodes: BatchNodes, command: list[str], **environment: str) -> Iterator[tuple[Pod, Pod]]:
    """Main and child. The child comes when the main node's container runs, as on Batch."""
    with nodes.node(0, command, **environment) as main, nodes.node(1, command, **environment) as child:
        yield main, child


def finished(nodes: BatchNodes, command: list[str], **environment: str) -> str:
    """The main node's log of a job that succeeds on both nodes."""
    with both(nodes, command, **environment) as (main, child):
        assert main.wait(SECONDS) == 0, main.text() + child.text()
        assert child.wait(SECONDS) == 0, child.text()
    return main.text()


def sums(text: str) -> list[dict]:
    return sorted((json.loads(line) for line in text.splitlines() if line.startswith("{")), key=lambda one: one["rank"])


NETWORK = "gpufleet: NCCL_NET=Socket"
"""The first line of a main node."""


def own_lines(pod: Pod) -> list[str]:
    return [line for line in pod.text().splitlines() if line.startswith("gpufleet: ")]


def test_sum_over_two_nodes(nodes: BatchNodes):
    sent = nodes.network.sent_bytes("node-1")
    said = sums(finished(nodes, multinode_command(["python3", "allreduce.py"], 2)))
    assert [(one["rank"], one["size"], one["least"], one["most"]) for one in said] == [(n, 4, 10, 10) for n in range(4)]
    assert [one["host"] for one in said] == ["node-0", "node-0", "node-1", "node-1"]
    # 1 MiB at least has to leave each host for the sum to be right on the other.
    assert nodes.network.sent_bytes("node-1") - sent > 1 << 20


def test_sum_as_root(tmp_path: Path, python: Path):
    with batch_nodes(tmp_path, python, uid=0) as nodes:
        said = sums(finished(nodes, multinode_command(["python3", "allreduce.py"], 2)))
    assert [one["most"] for one in said] == [10] * 4


def test_a_command_with_its_own_mpirun(nodes: BatchNodes):
    mpirun = ["mpirun", "-np", "4", "--mca", "plm_rsh_no_tree_spawn", "1", "python3", "allreduce.py"]
    said = sums(finished(nodes, multinode_command(mpirun, 2)))
    assert [one["host"] for one in said] == ["node-0", "node-0", "node-1", "node-1"]


def test_what_ranks_find_in_their_environment(nodes: BatchNodes):
    """The network as on Kubernetes; each node's own variables, among them quotes; the job definition's win."""
    # A few of them: longer lines than 4096 characters are not written as one.
    chosen = "(MASTER|NCCL|GLOO|OMPI_MCA_(btl|oob)|NOTE|AWS)"
    show = f"import json, os, re; v = {{n: t for n, t in os.environ.items() if re.match('{chosen}', n)}};"
    show += "print(json.dumps({'rank': int(os.environ['OMPI_COMM_WORLD_RANK']), **v}) + '\\n', end='', flush=True)"
    given = {"NCCL_NET": "IB", "NOTE": 'it\'s "$HOME"\nand more'}
    command = multinode_command(["python3", "-c", show], 2, environment=given)
    said = sums(finished(nodes, command, **given))
    for one in said:
        assert one["MASTER_ADDR"] == nodes.network.addresses["node-0"]
        assert (one["MASTER_PORT"], one["NCCL_SOCKET_IFNAME"], one["GLOO_SOCKET_IFNAME"]) == ("29500", "=eth0", "eth0")
        assert (one["OMPI_MCA_btl"], one["OMPI_MCA_oob_tcp_if_include"]) == ("tcp,self", "eth0")
        assert {name: one[name] for name in given} == given
    assert [one["AWS_BATCH_JOB_NODE_INDEX"] for one in said] == ["0", "0", "1", "1"]


def test_files_of_ranks_are_as_the_images(nodes: BatchNodes):
    finished(nodes, multinode_command(["sh", "-c", "touch /mnt/$OMPI_COMM_WORLD_RANK"], 2))
    assert {path.stat().st_mode & 0o777 for path in nodes.volume.iterdir()} == {0o644}


@pytest.mark.parametrize("rank", [0, 3])
def test_exit_code_of_a_rank_comes_through(nodes: BatchNodes, rank: int):
    command = multinode_command(["sh", "-c", f"[ $OMPI_COMM_WORLD_RANK != {rank} ] || exit 7"], 2)
    with both(nodes, command) as (main, child):
        assert main.wait(SECONDS) == 7, main.text()
        assert child.wait(SECONDS) == 7, child.text()


def test_a_program_that_is_not_there(nodes: BatchNodes):
    with both(nodes, multinode_command(["python4", "train.py"], 2)) as (main, child):
        assert main.wait(SECONDS) not in (0, None)
        assert child.wait(SECONDS) == main.wait(1)
    assert "python4" in main.text()


def test_a_child_that_comes_late(nodes: BatchNodes):
    command = multinode_command(["python3", "allreduce.py"], 2)
    with nodes.node(0, command) as main:
        time.sleep(10)
        assert main.process.poll() is None, main.text()
        with nodes.node(1, command) as child:
            assert main.wait(SECONDS) == 0, main.text()
            assert child.wait(SECONDS) == 0, child.text()
    assert len(sums(main.text())) == 4


def test_a_main_node_that_comes_late(nodes: BatchNodes):
    command = multinode_command(["true"], 2)
    with nodes.node(1, command) as child:
        time.sleep(3)
        with nodes.node(0, command) as main:
            assert (main.wait(SECONDS), child.wait(SECONDS)) == (0, 0), main.text() + child.text()


def test_a_child_that_never_comes(tmp_path: Path, python: Path):
    command = multinode_command(["true"], 2, rendezvous_timeout_seconds=12)
    with (
        batch_nodes(tmp_path, python, nodes=4) as nodes,
        nodes.node(0, command) as main,
        nodes.node(2, command) as child,
    ):
        assert main.wait(SECONDS) == 1
        assert child.wait(SECONDS) == 1
    assert main.text().splitlines() == [
        NETWORK,
        "gpufleet: nodes that did not come within 12 s: 1, 3; see their state and log",
    ]


def test_a_main_node_that_never_comes(nodes: BatchNodes):
    with nodes.node(1, multinode_command(["true"], 2, rendezvous_timeout_seconds=2)) as child:
        assert child.wait(SECONDS) == 1
    address = nodes.network.addresses["node-0"]
    (line,) = child.text().splitlines()
    assert re.fullmatch(rf"gpufleet: the main node {address}:2223 did not answer within 2 s: .+", line)


def test_a_child_ends_when_the_main_node_is_gone(nodes: BatchNodes):
    with both(nodes, multinode_command(SLEEP, 2)) as (main, child):
        main.wait_for("up\n" * 4, SECONDS)
        main.end()
        assert child.wait(SECONDS) == 1
    assert own_lines(child) == [f"gpufleet: the main node {nodes.network.addresses['node-0']} is gone; look at its log"]


def test_the_job_ends_when_a_child_is_gone(nodes: BatchNodes):
    with both(nodes, multinode_command(SLEEP, 2)) as (main, child):
        main.wait_for("up\n" * 4, SECONDS)
        child.end()
        assert main.wait(SECONDS) not in (0, 143)
    assert own_lines(main)[-1] == f"gpufleet: node 1 ({nodes.network.addresses['node-1']}) is gone; look at its log"


def test_an_image_without_ssh(nodes: BatchNodes):
    """The main node says what is wrong with a child, whose own log is another one."""
    command = multinode_command(["true"], 2)
    (nodes.volume / "bin").mkdir()
    (nodes.volume / "bin" / "python3").symlink_to(nodes.python)
    with nodes.node(0, command) as main, nodes.node(1, ["env", "PATH=/mnt/bin", *command]) as child:
        assert (main.wait(SECONDS), child.wait(SECONDS)) == (1, 127)
    address = nodes.network.addresses["node-1"]
    told = "the image has no ssh-keygen; install openssh-client in it"
    assert own_lines(main) == [NETWORK, f"gpufleet: node 1 ({address}): {told}"]
    assert own_lines(child) == [f"gpufleet: {told}"]


def test_another_jobs_node_is_refused(nodes: BatchNodes):
    command = multinode_command(["true"], 2)
    with nodes.node(0, command) as main:
        with nodes.node(1, command, AWS_BATCH_JOB_ID="other#1") as stranger:
            assert stranger.wait(SECONDS) == 1
        assert own_lines(stranger) == [rejected(nodes)]
        with nodes.node(1, command) as child:
            assert (main.wait(SECONDS), child.wait(SECONDS)) == (0, 0), main.text()


def rejected(nodes: BatchNodes) -> str:
    address = nodes.network.addresses["node-0"]
    why = "it is of another job or of other settings, or its place is taken"
    return f"gpufleet: the main node {address} rejected this node: {why}"


def test_a_node_that_knows_the_jobs_id_alone_is_refused(nodes: BatchNodes):
    """The key of a submission, which its own nodes get from Batch, is not guessed."""
    command = multinode_command(["python3", "allreduce.py"], 2)
    with nodes.node(0, command, GPUFLEET_JOB_KEY="ab" * 16) as main:
        for guess in ("", "ab" * 15 + "ac"):
            with nodes.node(1, command, GPUFLEET_JOB_KEY=guess) as stranger:
                assert stranger.wait(SECONDS) == 1
            assert own_lines(stranger) == [rejected(nodes)]
        with nodes.node(1, command, GPUFLEET_JOB_KEY="ab" * 16) as child:
            assert (main.wait(SECONDS), child.wait(SECONDS)) == (0, 0), main.text()
    assert len(sums(main.text())) == 4


_OTHER_HOST_KEY = """#!/bin/sh
/usr/bin/ssh-keygen "$@" || exit
for file; do :; done
case $file in */host) /usr/bin/ssh-keygen -q -t ed25519 -N "" -f /tmp/other && cp /tmp/other.pub "$file.pub" ;; esac
"""
"""A child tells the main node another host key than its sshd has."""


def test_ssh_goes_to_an_sshd_with_a_nodes_own_key_only(nodes: BatchNodes):
    command = multinode_command(["python3", "allreduce.py"], 2)
    (nodes.volume / "bin").mkdir()
    keygen = nodes.volume / "bin" / "ssh-keygen"
    keygen.write_text(_OTHER_HOST_KEY)
    keygen.chmod(0o755)
    path = f"PATH=/mnt/bin:{nodes.python.parent}:{IMAGE_PATH}"
    with nodes.node(0, command) as main, nodes.node(1, ["env", path, *command]) as child:
        assert main.wait(SECONDS) not in (0, None)
        assert child.wait(SECONDS) == main.wait(1)
    assert "Host key verification failed." in main.text()
    assert sums(main.text()) == []


@pytest.fixture
def data(nodes: BatchNodes, pictures: Path) -> BatchNodes:
    """A data set of 1024 pictures on the volume, made by a job of one container."""
    if not pictures.exists():
        make = container_command(["python3", "make_data.py", "--images", "1024"], 1)
        with nodes.node(0, make) as maker:
            assert maker.wait(SECONDS) == 0, maker.text()
        shutil.copytree(nodes.volume / "data", pictures)
    elif not (nodes.volume / "data").exists():
        shutil.copytree(pictures, nodes.volume / "data")
    return nodes


def test_training_saves_and_goes_on(data: BatchNodes):
    text = finished(data, multinode_command([*TRAIN, "--steps", "40", "--checkpoint-every", "20"], 2))
    assert "ranks=4 device=cpu" in text
    assert "done step=40 accuracy=" in text
    assert sorted(path.name for path in (data.volume / "checkpoints").iterdir()) == [
        "step-000000020.pt",
        "step-000000040.pt",
    ]
    assert "resumed step=40\n" in finished(data, multinode_command([*TRAIN, "--steps", "50"], 2))


@pytest.mark.parametrize("taken", ["both", "main", "child"])
def test_ranks_save_when_batch_ends_the_job(data: BatchNodes, taken: str):
    """SIGTERM as Batch sends it: each rank hears it once, and the job ends long before Batch's SIGKILL."""
    words = [*TRAIN, "--steps", "5000", "--checkpoint-every", "5000", "--notice-every", "5"]
    with both(data, multinode_command(words, 2)) as (main, child):
        main.wait_for("step=20 ", SECONDS)
        for pod in (main, child):
            if taken in ("both", pod.name.replace("node-0", "main").replace("node-1", "child")):
                pod.take()
        assert (main.wait(20), child.wait(10)) == (143, 143), main.text() + child.text()
    (step,) = re.findall(r"^reclaimed step=(\d+)", main.text(), re.MULTILINE)
    assert [path.name for path in (data.volume / "checkpoints").iterdir()] == [f"step-{int(step):09d}.pt"]
    for pod in (main, child):
        assert len([line for line in own_lines(pod) if "notice to process" in line]) == 2


def test_ranks_that_do_not_listen_end_within_the_grace(nodes: BatchNodes):
    with both(nodes, multinode_command(SLEEP, 2, grace_seconds=9)) as (main, child):
        main.wait_for("up\n" * 4, SECONDS)
        main.take()
        assert main.wait(9) != 0
        assert child.wait(SECONDS) == main.wait(1)


@pytest.mark.parametrize("index", [0, 1])
def test_a_node_that_still_waits_ends_at_once(nodes: BatchNodes, index: int):
    with nodes.node(index, multinode_command(["true"], 2)) as pod:
        time.sleep(1)
        pod.take()
        assert pod.wait(8) == 143
    *before, _ = own_lines(pod)
    assert before == ([NETWORK] if index == 0 else [])


def test_a_killed_rank_ends_the_job(nodes: BatchNodes):
    wait = ["python3", "-c", "import time; print('up', flush=True); time.sleep(300)"]
    with both(nodes, multinode_command(wait, 2)) as (main, child):
        main.wait_for("up\n" * 4, SECONDS)
        send(child.rank(3), signal.SIGKILL)
        assert main.wait(SECONDS) == 137, main.text()
        assert child.wait(SECONDS) == 137


def test_several_ranks_in_one_container(nodes: BatchNodes):
    """A single job: Batch sets nothing about nodes. The loopback interface is enough."""
    about_nodes = [name for name in batch_environment(0, 1, "") if "NODE" in name]
    unset = [word for name in about_nodes for word in ("-u", name)]
    with nodes.node(0, ["env", *unset, *container_command(["python3", "allreduce.py"], 3)]) as pod:
        assert pod.wait(SECONDS) == 0, pod.text()
    assert [(one["size"], one["most"]) for one in sums(pod.text())] == [(3, 6)] * 3
