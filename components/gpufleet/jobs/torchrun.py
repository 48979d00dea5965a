"""torchrun's command line, wherever the nodes come from: Kubernetes, Batch, Slurm or hosts. No sshd, no OpenMPI.

Each node runs one torchrun, which starts its ranks. Nodes and their order are known before, so that the rendezvous is
the static one: rank 0 is on the first node, and its output in the log of that node. Kubeflow's Trainer does the same
(kubeflow/trainer v2.0.0, pkg/runtime/framework/plugins/torch/torch.go). A failed job starts again as a whole:
torchrun's own restarts cannot outlive the loss of the first node, and would multiply with the job's.
Source: docs.pytorch.org/docs/stable/elastic/run.html, torch/distributed/run.py of PyTorch 1.13 and 2.
"""

import re
from collections.abc import Sequence

LAUNCHERS = ("mpi", "torchrun")
"""What starts a job's ranks, as values of `launcher`."""

JOIN_SECONDS = 1800
"""How long a node waits for the others: as long as an MPI job's launcher, for nodes that still boot."""

_TORCHRUN = ("torchrun", "torch.distributed.run", "torch.distributed.launch")
_PYTHON = re.compile(r"(?:.*/)?python[\d.]*", re.ASCII)


def is_torchrun(command: Sequence[str]) -> bool:
    """Whether ``command`` starts torchrun itself."""
    return any(word.rpartition("/")[2] in _TORCHRUN for word in command[:3])


def torchrun_command(
    command: Sequence[str], *, nodes: int | str, ranks: int, node_rank: str, address: str, port: str
) -> list[str]:
    """torchrun on one node. ranks: on each node. node_rank, address, port: of this node, and where the first listens.

    The words may be quoted for a shell. Options are spelled as PyTorch 1.13 has them; 2 takes these too. Python is the
    one that the command names, so that a virtual environment's is.
    """
    python = command[0] if _PYTHON.fullmatch(command[0]) else "python3"
    options = {
        "nnodes": str(nodes),
        "nproc_per_node": str(ranks),
        "node_rank": node_rank,
        "master_addr": address,
        "master_port": port,
        "rdzv_conf": f"timeout={JOIN_SECONDS}",
        # Default of PyTorch 1.13: 5 s, for which each job would last longer.
        "monitor_interval": "1",
    }
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    return [python, "-m", "torch.distributed.run", *words, "--no_python", *command]


def torchrun_on_node(command: Sequence[str], ranks: int) -> list[str]:
    """torchrun's words before ``command``, with {nodes}, {node}, {address} and {port} for what a node of AWS Batch or
    Azure Batch finds out: see `gpufleet.jobs.node_runtime`."""
    words = torchrun_command(
        command, nodes="{nodes}", ranks=ranks, node_rank="{node}", address="{address}", port="{port}"
    )
    return words[: len(words) - len(command)]
