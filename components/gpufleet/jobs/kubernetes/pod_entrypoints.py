"""First processes of a job's pods: shell scripts that pass on notice and wait for workers to come back."""

from functools import cache
from importlib.resources import files

HOME = "home"
"""What all of them begin with."""
LAUNCHER = "launcher"
WORKER = "worker"
TORCHRUN_WORKER = "torchrun_worker"
NOTICE = "notice"
"""What both workers have in common."""

_MPI_RANK, _TORCHRUN_RANK = "OMPI_COMM_WORLD_RANK=", "TORCHELASTIC_RUN_ID="
"""Variables that only ranks have. Source of torchrun's: torch/distributed/elastic/agent/server/local_elastic_agent.py
(_start_workers), PyTorch 1.13 and 2."""

PATIENCE_SECONDS = 1800
"""How long a launcher waits for all workers. Half an hour: most GPU nodes come in a quarter of it; the other workers'
GPUs are paid for and idle meanwhile. Then the launcher fails, and a retry waits again."""


def launcher_process(key: str, grace: int, ssh: str, command: list[str]) -> list[str]:
    """The container's command that runs ``command`` (mpirun) when every worker of the hostfile is ready.

    ``key``: file of the public half of the job's key. ``ssh``: arguments of ssh. ``grace``: seconds from the pod's
    SIGTERM to its SIGKILL.
    The operator waits for workers before it makes the launcher's Job, but not if the job was made suspended (mpi_job),
    and not before that Job's retries: after a Spot reclaim these would fail one after the other while the new node
    boots. Source: kubeflow/mpi-operator v0.7.0,
    pkg/controller/mpi_job_controller.go (syncHandler: countReadyWorkerPods only while there is no launcher).
    """
    return ["/bin/sh", "-c", _script(HOME, LAUNCHER), LAUNCHER, key, str(PATIENCE_SECONDS), str(grace), ssh, *command]


def worker_process(key: str, grace: int, sshd: list[str]) -> list[str]:
    """The container's command that runs ``sshd`` and, at SIGTERM, ends when the ranks that were told have ended."""
    return ["/bin/sh", "-c", _script(HOME, NOTICE, WORKER), WORKER, key, str(grace), *sshd]


def torchrun_process(grace: int, torchrun: list[str]) -> list[str]:
    """The container's command that runs ``torchrun`` and, at SIGTERM, ends when the ranks that were told have ended."""
    text = _script(HOME, NOTICE, TORCHRUN_WORKER).replace(_MPI_RANK, _TORCHRUN_RANK)
    return ["/bin/sh", "-c", text, TORCHRUN_WORKER, str(grace), *torchrun]


@cache
def _script(*names: str) -> str:
    """These files one after the other, without their comments, which say to us what nobody needs in a manifest."""
    here = files("gpufleet.jobs.kubernetes")
    lines = [line for each in names for line in (here / f"{each}.sh").read_text(encoding="utf-8").splitlines()]
    return "".join(f"{line}\n" for line in lines if line.strip() and not line.lstrip().startswith("#"))
