"""What each node of AWS Batch and Azure Batch runs for `launcher: torchrun`: real torchrun on two nodes.

A node has the variables that its service documents, Python with PyTorch, and a PATH without mpirun and ssh.
"""

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gpufleet.jobs.aws_batch.entrypoint import multinode_command
from gpufleet.jobs.azure_batch.entrypoint import EVICTED, torchrun_commands
from tests.openmpi.azure_nodes import MOUNTS, AzureNodes, azure_nodes
from tests.openmpi.batch_nodes import BatchNodes, batch_nodes
from tests.openmpi.pod import Pod, send

pytestmark = pytest.mark.cluster

SECONDS = 600
DEBIAN = {"PET_REDIRECTS": "9:1", "PET_TEE": "9:1"}
"""See tests/openmpi/test_torchrun.py."""
SIZES = ["--synthetic", "--batch", "16", "--log-every", "10", "--checkpoint-every", "20", "--notice-every", "1"]


def training(checkpoints: str, steps: int) -> list[str]:
    return ["python3", "train.py", *SIZES, "--checkpoints", checkpoints, "--steps", str(steps)]


def own_lines(pod: Pod) -> list[str]:
    return [line for line in pod.text().splitlines() if line.startswith("gpufleet: ")]


def rank(pod: Pod, number: int) -> int:
    """The pid of a rank, by torchrun's variable."""
    for pid in pod.running(f"\0RANK={number}\0".encode(), "environ"):
        if Path(f"/proc/{pid}/exe").readlink().name.startswith("python"):
            return pid
    raise AssertionError(f"{pod.name} has no rank {number}:\n{pod.text()}")


def put_python(volume: Path, python: Path) -> None:
    (volume / "bin").mkdir()
    (volume / "bin" / "python3").symlink_to(python)


@pytest.fixture
def nodes(tmp_path: Path, python: Path) -> Iterator[BatchNodes]:
    with batch_nodes(tmp_path, python) as made:
        put_python(made.volume, python)
        yield made


@contextmanager
def both(nodes: BatchNodes, command: list[str], ranks: int) -> Iterator[tuple[Pod, Pod]]:
    """Main and child, as Batch starts them, with so many ranks each."""
    words = ["env", "PATH=/mnt/bin", *multinode_command(command, ranks, launcher="torchrun")]
    with nodes.node(0, words, **DEBIAN) as main, nodes.node(1, words, **DEBIAN) as child:
        yield main, child


def test_ranks_on_aws_save_at_the_notice_and_the_next_attempt_goes_on(nodes: BatchNodes) -> None:
    """SIGTERM reaches the first process of one node, as Batch sends it. In the next attempt a rank there is killed."""
    with both(nodes, training("/mnt/checkpoints", 5000), 2) as (main, child):
        main.wait_for("step=10 ", SECONDS)
        child.take()
        assert (main.wait(28), child.wait(SECONDS)) == (143, 143), main.text() + child.text()
    assert "ranks=4 device=cpu" in main.text()
    (step,) = re.findall(r"^reclaimed step=(\d+)", main.text(), re.MULTILINE)
    assert (nodes.volume / "checkpoints" / f"step-{int(step):09d}.pt").exists()
    for pod in (main, child):
        assert len([line for line in own_lines(pod) if "notice to process" in line]) == 2
    with both(nodes, training("/mnt/checkpoints", 5000), 1) as (main, child):
        main.wait_for("saved ", SECONDS)
        send(rank(child, 1), signal.SIGKILL)
        assert (main.wait(SECONDS), child.wait(SECONDS)) == (1, 1), main.text() + child.text()
    assert f"resumed step={step}\n" in main.text()
    assert "ranks=2 device=cpu" in main.text()


@pytest.fixture
def pool(tmp_path: Path, python: Path) -> Iterator[AzureNodes]:
    with azure_nodes(tmp_path, python) as made:
        put_python(made.volume, python)
        yield made


@contextmanager
def tried(pool: AzureNodes, steps: int) -> Iterator[list[Pod]]:
    """A try of a task with one rank on each node, which says who it is and trains."""
    say = "echo rank $RANK of $WORLD_SIZE at $AZ_BATCH_NODE_ID, outputs $GPUFLEET_OUTPUTS"
    train = " ".join(training("$GPUFLEET_OUTPUTS/checkpoints", steps))
    folders = {"GPUFLEET_OUTPUTS": "$AZ_BATCH_NODE_MOUNTS_DIR/result/jobs/train"}
    lines = torchrun_commands(["/bin/sh", "-c", f"{say}; exec {train}"], 1, folders=folders)
    with pool.task(*(f"env PATH={MOUNTS}/bin {line}" for line in lines), **DEBIAN) as pods:
        yield pods


def test_a_spot_node_on_azure_goes_away_and_the_next_try_goes_on(pool: AzureNodes) -> None:
    outputs = pool.volume / "result" / "jobs" / "train"
    with tried(pool, 5000) as (primary, other):
        primary.wait_for("saved ", SECONDS)
        other.end()
        assert primary.wait(SECONDS) == EVICTED, primary.text()
    assert own_lines(primary)[-1] == (
        f"gpufleet: node 1 ({pool.network.addresses['node-1']}) is gone, as a Spot node that is evicted: this try of "
        "the task ends with code 75; the next one continues from the newest checkpoint"
    )
    newest = max(int(path.stem[5:]) for path in (outputs / "checkpoints").glob("step-*.pt"))
    with tried(pool, newest + 20) as (primary, other):
        assert primary.wait(SECONDS) == 0, primary.text() + other.text()
    text = primary.text()
    assert f"resumed step={newest}\n" in text
    assert f"done step={newest + 20} " in text
    # Azure Batch shows the primary's output alone.
    told = f"outputs {MOUNTS}/result/jobs/train"
    assert sorted(re.findall(r"^rank .*$", text, re.MULTILINE)) == [
        f"rank {n} of 2 at tvmps_{n}, {told}" for n in (0, 1)
    ]
