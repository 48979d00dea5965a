"""The two commands of an Azure Batch multi-instance task, on two nodes with two ranks each, over OpenMPI and sshd."""

import json
import re
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpufleet.jobs.azure_batch.entrypoint import EVICTED, application_command, coordination_command
from tests.openmpi.azure_nodes import MOUNTS, SECONDS, TRAIN, AzureNodes, azure_nodes, make_data
from tests.openmpi.pod import Pod, send

pytestmark = pytest.mark.cluster

COORDINATION = coordination_command(2)


@pytest.fixture
def nodes(tmp_path: Path, python: Path) -> Iterator[AzureNodes]:
    with azure_nodes(tmp_path, python) as made:
        yield made


def run(nodes: AzureNodes, *command: str, code: int = 0, **environment: str) -> str:
    """The primary's output of a task that ends with ``code``."""
    folders = {"GPUFLEET_OUTPUTS": "$AZ_BATCH_NODE_MOUNTS_DIR/result/jobs/train"}
    with nodes.task(COORDINATION, application_command(command, 2, folders=folders), **environment) as pods:
        assert pods[0].wait(SECONDS) == code, pods[0].text()
    return pods[0].text()


def said(text: str) -> list[dict]:
    return sorted((json.loads(line) for line in text.splitlines() if line.startswith("{")), key=lambda one: one["rank"])


def own_lines(pod: Pod) -> list[str]:
    return [line for line in pod.text().splitlines() if line.startswith("gpufleet: ")]


def evicted_line(nodes: AzureNodes) -> str:
    return (
        f"gpufleet: node 1 ({nodes.network.addresses['node-1']}) is gone, as a Spot node that is evicted: this try of "
        "the task ends with code 75; the next one continues from the newest checkpoint"
    )


def test_sum_over_two_nodes(nodes: AzureNodes):
    sent = nodes.network.sent_bytes("node-1")
    ranks = said(run(nodes, "python3", "allreduce.py"))
    # 1 MiB at least has to leave each host for the sum to be right on the other.
    assert nodes.network.sent_bytes("node-1") - sent > 1 << 20
    assert [(one["rank"], one["size"], one["least"], one["most"]) for one in ranks] == [
        (n, 4, 10, 10) for n in range(4)
    ]
    assert [one["host"] for one in ranks] == ["node-0", "node-0", "node-1", "node-1"]


def test_what_ranks_find_in_their_environment(nodes: AzureNodes):
    """Each node's own variables, the task's, and the network; a path of the node's in the command's words."""
    chosen = "(MASTER|NCCL_SOCKET|AZ_BATCH_NODE_ID|NOTE|GPUFLEET_OUTPUTS)"
    show = f"import json, os, re, sys; v = {{n: t for n, t in os.environ.items() if re.match('{chosen}', n)}};"
    show += "v |= {'rank': int(os.environ['OMPI_COMM_WORLD_RANK']), 'words': sys.argv[1:]};"
    show += "v |= {'made': os.path.isdir(v['GPUFLEET_OUTPUTS'])};"
    show += "print(json.dumps(v) + '\\n', end='', flush=True)"
    note = 'it\'s "$HOME"\nand more'
    words = ["${AZ_BATCH_NODE_MOUNTS_DIR}/a", "$HOME", "it's", "$GPUFLEET_OUTPUTS/model"]
    ranks = said(run(nodes, "python3", "-c", show, *words, NOTE=note))
    assert len(ranks) == 4
    for one in ranks:
        assert (one["MASTER_ADDR"], one["MASTER_PORT"]) == (nodes.network.addresses["node-0"], "29500")
        assert one["NCCL_SOCKET_IFNAME"] == "=eth0"
        assert one["AZ_BATCH_NODE_ID"] == f"tvmps_{one['rank'] // 2}"
        assert (one["GPUFLEET_OUTPUTS"], one["made"]) == (f"{MOUNTS}/result/jobs/train", True)
        assert one["words"] == [f"{MOUNTS}/a", "$HOME", "it's", f"{MOUNTS}/result/jobs/train/model"]
        assert one["NOTE"] == note


def test_a_command_with_its_own_mpirun(nodes: AzureNodes):
    text = run(nodes, "mpirun", "-np", "4", "--mca", "plm_rsh_no_tree_spawn", "1", "python3", "allreduce.py")
    assert [one["host"] for one in said(text)] == ["node-0", "node-0", "node-1", "node-1"]


@pytest.mark.parametrize("rank", [0, 3])
def test_exit_code_of_a_rank_comes_through(nodes: AzureNodes, rank: int):
    """Nothing is said of nodes: both are there."""
    text = run(nodes, "sh", "-c", f"[ $OMPI_COMM_WORLD_RANK != {rank} ] || exit 7", code=7)
    assert "gpufleet: " not in text


def test_a_killed_rank_is_no_evicted_node(nodes: AzureNodes):
    wait = ["python3", "-c", "import time; print('up', flush=True); time.sleep(300)"]
    with nodes.task(COORDINATION, application_command(wait, 2)) as (primary, other):
        primary.wait_for("up\n" * 4, SECONDS)
        send(other.rank(3), signal.SIGKILL)
        assert primary.wait(SECONDS) == 137
    assert own_lines(primary) == []


def test_an_address_that_is_not_the_nodes(nodes: AzureNodes):
    """A container with a network of its own."""
    with nodes.node(0, COORDINATION, "true", AZ_BATCH_HOST_LIST="192.0.2.1,192.0.2.2") as pod:
        assert pod.wait(SECONDS) == 1
    told = "none of AZ_BATCH_HOST_LIST=192.0.2.1,192.0.2.2 is here; run the container with --network host"
    assert own_lines(pod) == [f"gpufleet: {told}"]


def test_an_image_without_ssh(nodes: AzureNodes):
    """The coordination command fails, and with it the task, before any rank starts."""
    (nodes.volume / "bin").mkdir()
    (nodes.volume / "bin" / "python3").symlink_to(nodes.python)
    with nodes.node(1, f"env PATH={MOUNTS}/bin {COORDINATION}", "true") as pod:
        assert pod.wait(SECONDS) == 127
    assert own_lines(pod) == ["gpufleet: the image has no ssh-keygen; install openssh-client in it"]


def test_a_try_on_nodes_that_still_wait_for_an_earlier_one(nodes: AzureNodes):
    """The earlier try's coordination command has left a process on node 1, which belongs to the later one now."""
    twice = "sh -c " + shlex.quote(f"{COORDINATION} && {COORDINATION}")
    with nodes.task(twice, application_command(["python3", "allreduce.py"], 2)) as pods:
        assert pods[0].wait(SECONDS) == 0, pods[0].text()
    assert len(said(pods[0].text())) == 4


@pytest.mark.parametrize("how", ["ended", "silent"])
def test_a_node_that_goes_away_in_the_middle(nodes: AzureNodes, how: str, pictures: Path):
    """One line and code 75; the next try, on nodes without local files, continues from the checkpoint of the first.

    Ended: the node's connections are closed. Silent: nothing is heard of it any more.
    """
    make_data(nodes, pictures)
    words = [*TRAIN, "--checkpoints", f"{MOUNTS}/checkpoints", "--checkpoint-every", "20"]
    with nodes.task(COORDINATION, application_command([*words, "--steps", "5000"], 2)) as (primary, other):
        primary.wait_for("saved ", SECONDS)
        if how == "ended":
            other.end()
        else:
            space = nodes.network.namespace("node-1").name
            subprocess.run(["ip", "-n", space, "link", "set", "eth0", "down"], check=True, timeout=600)
        assert primary.wait(200) == EVICTED, primary.text()
    assert own_lines(primary) == [evicted_line(nodes)]
    if how == "silent":
        subprocess.run(["ip", "-n", space, "link", "set", "eth0", "up"], check=True, timeout=600)
    newest = max(int(path.stem[5:]) for path in (nodes.volume / "checkpoints").glob("step-*.pt"))
    text = run(nodes, *words, "--steps", str(newest + 20))
    assert re.findall(r"^resumed step=(\d+)$", text, re.MULTILINE) == [str(newest)]
    assert f"done step={newest + 20} accuracy=" in text


def test_log_outlives_the_node(nodes: AzureNodes):
    """The primary's node is taken, with the log that Azure Batch would copy at the end of the try."""
    says = ["sh", "-c", "echo up; exec sleep 300"]
    application = application_command(
        says, 2, log_copies="$AZ_BATCH_NODE_MOUNTS_DIR/result/jobs/train/tries", log_seconds=0.1
    )
    tries = nodes.volume / "result" / "jobs" / "train" / "tries"
    with nodes.task(COORDINATION, application) as (primary, _):
        primary.wait_for("up\n" * 4, SECONDS)
        end = time.monotonic() + SECONDS
        while not any(each.stat().st_size == 12 for each in tries.glob("*/stdout.txt")):
            assert time.monotonic() < end, primary.text()
        primary.end()
    (log,) = tries.glob("*/stdout.txt")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d{6}Z", log.parent.name)
    assert log.read_text() == "up\n" * 4


def test_several_ranks_on_one_node(nodes: AzureNodes):
    """A task without multi-instance settings: Azure Batch sets nothing about other nodes."""
    (nodes.volume / "go").touch()
    application = application_command(["python3", "allreduce.py"], 3)
    with nodes.node(0, "true", application, AZ_BATCH_HOST_LIST="", AZ_BATCH_MASTER_NODE="") as pod:
        assert pod.wait(SECONDS) == 0, pod.text()
    assert [(one["size"], one["most"]) for one in said(pod.text())] == [(3, 6)] * 3
