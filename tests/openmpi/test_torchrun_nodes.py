"""What each node of AWS Batch and Azure Batch runs for `launcher: torchrun`: real torchrun on two nodes with two ranks.

A node has the variables that its service documents, Python with PyTorch, and a PATH without mpirun and ssh.
"""

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gpufleet.jobs.aws_batch.entrypoint import multinode_command
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
def both(nodes: BatchNodes, command: list[str]) -> Iterator[tuple[Pod, Pod]]:
    """Main and child, as Batch starts them."""
    words = ["env", "PATH=/mnt/bin", *multinode_command(command, 2, launcher="torchrun")]
    with nodes.node(0, words, **DEBIAN) as main, nodes.node(1, words, **DEBIAN) as child:
        yield main, child


def test_ranks_on_aws_save_at_the_notice_and_the_next_attempt_goes_on(nodes: BatchNodes) -> None:
    """SIGTERM reaches the first process of one node, as Batch sends it. In the next attempt a rank there is killed."""
    with both(nodes, training("/mnt/checkpoints", 5000)) as (main, child):
        main.wait_for("step=10 ", SECONDS)
        child.take()
        assert (main.wait(28), child.wait(SECONDS)) == (143, 143), main.text() + child.text()
    (step,) = re.findall(r"^reclaimed step=(\d+)", main.text(), re.MULTILINE)
    assert (nodes.volume / "checkpoints" / f"step-{int(step):09d}.pt").exists()
    for pod in (main, child):
        assert len([line for line in own_lines(pod) if "notice to process" in line]) == 2
    with both(nodes, training("/mnt/checkpoints", 5000)) as (main, child):
        main.wait_for("saved ", SECONDS)
        send(rank(child, 3), signal.SIGKILL)
        assert (main.wait(SECONDS), child.wait(SECONDS)) == (1, 1), main.text() + child.text()
    assert f"resumed step={step}\n" in main.text()
    assert "ranks=4 device=cpu" in main.text()
