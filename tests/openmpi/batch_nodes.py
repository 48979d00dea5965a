"""Nodes of an AWS Batch multi-node parallel job on this machine: Batch's variables, a network, and nothing else."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from tests.openmpi.job_run import DIRECTORY, ROOT
from tests.openmpi.pod import IMAGE_PATH, Pod, PodPlan, running_pod
from tests.openmpi.pod_network import PodNetwork, pod_network

JOB = "6d9eb2b6-9f1c-4b3e-8f8a-0c7c7a3a2d11"


def batch_environment(index: int, nodes: int, main_address: str) -> dict[str, str]:
    """The variables that Batch gives node ``index``; the main node, here 0, is not told its own address.

    Sources: docs.aws.amazon.com/batch/latest/userguide/{job_env_vars,mnp-env-vars}.html.
    """
    told = {
        "AWS_BATCH_CE_NAME": "trainers",
        "AWS_BATCH_JOB_ATTEMPT": "1",
        "AWS_BATCH_JOB_ID": f"{JOB}#{index}",
        "AWS_BATCH_JOB_MAIN_NODE_INDEX": "0",
        "AWS_BATCH_JOB_NODE_INDEX": str(index),
        "AWS_BATCH_JOB_NUM_NODES": str(nodes),
        "AWS_BATCH_JQ_NAME": "training",
    }
    return told | ({"AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS": main_address} if index else {})


@dataclass
class BatchNodes:
    """A place for the containers of ``nodes`` nodes, which all run the same command."""

    network: PodNetwork
    folder: Path
    python: Path
    nodes: int
    uid: int
    tries: Iterator[int]

    @property
    def volume(self) -> Path:
        return self.folder / "volume"

    @contextmanager
    def node(self, index: int, command: list[str], **environment: str) -> Iterator[Pod]:
        """The container of node ``index``; ``environment`` is the job definition's, and Batch's if it is to differ."""
        main = self.network.addresses["node-0"]
        image = {"PATH": f"{self.python.parent}:{IMAGE_PATH}", "OMP_NUM_THREADS": "1"}
        plan = PodPlan(
            name=f"node-{index}",
            command=command,
            environment={**image, **batch_environment(index, self.nodes, main), **environment},
            mounts={DIRECTORY: self.folder / "programs", "/mnt": self.volume},
            uid=self.uid,
            gid=self.uid,
            directory=DIRECTORY,
        )
        with running_pod(plan, self.network, self.folder / f"node-{index}-{next(self.tries)}") as pod:
            yield pod


@contextmanager
def batch_nodes(folder: Path, python: Path, nodes: int = 2, uid: int = 1000) -> Iterator[BatchNodes]:
    """An image with examples/train and the programs beside this file in its WORKDIR, a volume, and a network."""
    programs = folder / "programs"
    shutil.copytree(ROOT / "examples" / "train", programs)
    for program in ("allreduce.py", "notice.py"):
        shutil.copy(Path(__file__).with_name(program), programs)
    (folder / "volume").mkdir()
    shutil.chown(folder / "volume", uid, uid)
    with pod_network([f"node-{index}" for index in range(nodes)]) as network:
        yield BatchNodes(network, folder, python, nodes, uid, count())
