"""mpirun's command line, wherever the hosts come from: Kubernetes' MPI operator or AWS Batch."""

from collections.abc import Iterable, Sequence

MASTER_PORT = 29500
"""Port of rank 0 at which the ranks of PyTorch meet. Source: docs.pytorch.org/docs/stable/elastic/run.html."""

_MPIRUN = ("mpirun", "mpiexec", "orterun", "prterun")


def is_mpirun(command: Sequence[str]) -> bool:
    """Whether ``command`` starts the ranks itself."""
    return command[0].rpartition("/")[2] in _MPIRUN


def mpirun_options(ssh: str, environment: Iterable[str]) -> list[str]:
    """mpirun's options besides hosts and ranks. ``ssh``: arguments of ssh; ``environment``: names of variables.

    OpenMPI passes on its own OMPI_ variables; any other has to be named. Ranks are not bound to cores: a worker's
    cores are the container's, which OpenMPI does not know.
    """
    passed_on = [word for name in environment if not name.startswith("OMPI_") for word in ("-x", name)]
    return ["--map-by", "slot", "--bind-to", "none", "--mca", "plm_rsh_args", ssh, *passed_on]
