"""Nodes of an Azure Batch multi-instance task on this machine: Azure's variables, its two commands, and a network."""

import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from gpufleet.jobs.azure_batch.entrypoint import application_command
from tests.openmpi.job_run import DIRECTORY, ROOT
from tests.openmpi.pod import IMAGE_PATH, Pod, PodPlan, running_pod
from tests.openmpi.pod_network import PodNetwork, pod_network

SECONDS = 600
TASKS = "/mnt/batch/tasks"
MOUNTS = f"{TASKS}/fsmounts"
TRAIN = ["python3", "train.py", "--data", "$AZ_BATCH_NODE_MOUNTS_DIR/data", "--batch", "16", "--log-every", "10"]


def container_user(options: str) -> int:
    """Who a task's container runs as: --user of its run options, else USER of the image of examples/train.

    The elevation level of the task's user changes the owner of its directories on the node, and no image's USER.
    Source: github.com/microsoft/haste/pull/35
    """
    dockerfile = (ROOT / "examples" / "train" / "Dockerfile").read_text()
    told = re.search(r"--user (\d+)", options) or re.search(r"^USER (\d+)$", dockerfile, re.MULTILINE)
    return int(told[1]) if told else 0


def azure_environment(index: int, addresses: list[str]) -> dict[str, str]:
    """The variables that Azure Batch gives node ``index``; the master node, here 0, stands last in the lists.

    In which order it lists them is not documented. A task directory is another one on each node; only the shared one
    is the same on all. Source: learn.microsoft.com/azure/batch/batch-compute-node-environment-variables.
    """
    listed = [*addresses[1:], addresses[0]]
    directory = f"{TASKS}/workitems/train/job-1/digits{f'-{index}' if index else ''}"
    return {
        "AZ_BATCH_ACCOUNT_NAME": "trainers",
        "AZ_BATCH_ACCOUNT_URL": "https://trainers.westeurope.batch.azure.com/",
        "AZ_BATCH_HOST_LIST": ",".join(listed),
        "AZ_BATCH_IS_CURRENT_NODE_MASTER": "false" if index else "true",
        "AZ_BATCH_JOB_ID": "train",
        "AZ_BATCH_MASTER_NODE": f"{addresses[0]}:6000",
        "AZ_BATCH_NODE_ID": f"tvmps_{index}",
        "AZ_BATCH_NODE_IS_DEDICATED": "false",
        "AZ_BATCH_NODE_LIST": ";".join(listed),
        "AZ_BATCH_NODE_MOUNTS_DIR": MOUNTS,
        "AZ_BATCH_POOL_ID": "spot",
        "AZ_BATCH_TASK_DIR": directory,
        "AZ_BATCH_TASK_ID": "digits",
        "AZ_BATCH_TASK_SHARED_DIR": f"{TASKS}/workitems/train/job-1/digits",
        "AZ_BATCH_TASK_WORKING_DIR": f"{directory}/wd",
        "CCP_NODES": f"{len(listed)} " + " ".join(f"{address} 4" for address in listed),
    }


@dataclass
class AzureNodes:
    """A pool whose nodes have a mount at `MOUNTS` in common; each try of a task gets nodes without local files.

    uid: who containers run as. The directories of tasks and the mount belong to root, as the tasks' user is an
    administrator; others may not even enter a task's: github.com/Azure/batch-shipyard/issues/245.
    """

    network: PodNetwork
    folder: Path
    python: Path
    uid: int
    tries: Iterator[int]

    @property
    def volume(self) -> Path:
        return self.folder / "volume"

    @contextmanager
    def node(
        self,
        index: int,
        coordination: str,
        application: str,
        go: str = "go",
        directory: str = DIRECTORY,
        **environment: str,
    ) -> Iterator[Pod]:
        """Node ``index`` and the agent's stand-in; ``environment`` is the task's, and Azure's where it differs.

        directory: where containers start, "" for the task's working directory. Default: the image's WORKDIR.
        """
        image = {"PATH": f"{self.python.parent}:{IMAGE_PATH}", "OMP_NUM_THREADS": "1"}
        azure = azure_environment(index, list(self.network.addresses.values()))
        own = self.folder / f"node-{index}-{next(self.tries)}"
        for variable in ("AZ_BATCH_TASK_WORKING_DIR", "AZ_BATCH_TASK_SHARED_DIR"):
            made = own / "tasks" / Path(azure[variable]).relative_to(TASKS)
            made.mkdir(parents=True, exist_ok=True)
            made.chmod(0o750)
        plan = PodPlan(
            name=f"node-{index}",
            command=[
                *("python3", f"{DIRECTORY}/azure_agent.py"),
                *(coordination, application, f"{MOUNTS}/{go}", str(self.uid)),
            ],
            environment={**image, **azure, **environment},
            mounts={DIRECTORY: self.folder / "programs", TASKS: own / "tasks", MOUNTS: self.volume},
            uid=0,
            gid=0,
            directory=directory or azure["AZ_BATCH_TASK_WORKING_DIR"],
        )
        with running_pod(plan, self.network, own / "pod") as pod:
            yield pod

    @contextmanager
    def task(
        self, coordination: str, application: str, directory: str = DIRECTORY, **environment: str
    ) -> Iterator[list[Pod]]:
        """One try of the task: all nodes, the coordination command returned on each, the application command begun."""
        go = f"go-{next(self.tries)}"
        with ExitStack() as stack:
            pods = [
                stack.enter_context(self.node(index, coordination, application, go, directory, **environment))
                for index in range(len(self.network.addresses))
            ]
            for pod in pods:
                pod.wait_for("coordinated 0\n", SECONDS)
            (self.volume / go).touch()
            yield pods


@contextmanager
def azure_nodes(folder: Path, python: Path, nodes: int = 2, uid: int = 0) -> Iterator[AzureNodes]:
    """An image with examples/train and the programs beside this file in its WORKDIR, a mount, and a network."""
    programs = folder / "programs"
    shutil.copytree(ROOT / "examples" / "train", programs)
    for program in ("allreduce.py", "azure_agent.py"):
        shutil.copy(Path(__file__).with_name(program), programs)
    (folder / "volume").mkdir()
    with pod_network([f"node-{index}" for index in range(nodes)]) as network:
        yield AzureNodes(network, folder, python, uid, count())


def make_data(nodes: AzureNodes, pictures: Path) -> None:
    """A data set of 1024 pictures on the mount, made by a task of one process on one node."""
    if not pictures.exists():
        make = application_command(["python3", "make_data.py", f"{MOUNTS}/data", "--images", "1024"], 1)
        (nodes.volume / "go").touch()
        with nodes.node(0, "true", make, AZ_BATCH_HOST_LIST="", AZ_BATCH_MASTER_NODE="") as maker:
            assert maker.wait(SECONDS) == 0, maker.text()
        shutil.copytree(nodes.volume / "data", pictures)
    elif not (nodes.volume / "data").exists():
        shutil.copytree(pictures, nodes.volume / "data")
