"""First processes of an MPI job's pods: shell scripts that pass on notice and wait for workers to come back."""

from functools import cache
from importlib.resources import files

HOME = "home"
"""What launcher and worker begin with."""
LAUNCHER = "launcher"
WORKER = "worker"

PATIENCE_SECONDS = 1800
"""How long a launcher waits for all workers. Half an hour: most GPU nodes come in a quarter of it; the other workers'
GPUs are paid for and idle meanwhile. Then the launcher fails, and a retry waits again."""


def launcher_process(key: str, grace: int, ssh: str, command: list[str]) -> list[str]:
    """The container's command that runs ``command`` (mpirun) when every worker of the hostfile is ready.

    ``key``: file of the public half of the job's key. ``ssh``: arguments of ssh. ``grace``: seconds from the pod's
    SIGTERM to its SIGKILL.
    The operator waits for workers before it makes the launcher's Job, and not again before that Job's retries: after a
    Spot reclaim these would fail one after the other while the new node boots. Source: kubeflow/mpi-operator v0.7.0,
    pkg/controller/mpi_job_controller.go (syncHandler: countReadyWorkerPods only while there is no launcher).
    """
    return ["/bin/sh", "-c", _script(LAUNCHER), LAUNCHER, key, str(PATIENCE_SECONDS), str(grace), ssh, *command]


def worker_process(key: str, grace: int, sshd: list[str]) -> list[str]:
    """The container's command that runs ``sshd`` and, at SIGTERM, ends when the ranks that were told have ended."""
    return ["/bin/sh", "-c", _script(WORKER), WORKER, key, str(grace), *sshd]


@cache
def _script(name: str) -> str:
    """With what both begin with; without its comments, which say to us what nobody needs in a manifest."""
    here = files("gpufleet.jobs.kubernetes")
    lines = [line for each in (HOME, name) for line in (here / f"{each}.sh").read_text(encoding="utf-8").splitlines()]
    return "".join(f"{line}\n" for line in lines if line.strip() and not line.lstrip().startswith("#"))
