"""Which rank this process is, and where the ranks meet: from the variables of mpirun or torchrun, and MASTER_ADDR."""

import socket
from collections.abc import Mapping
from dataclasses import dataclass


class TrainingError(Exception):
    """The training cannot go on; the text is one line for the user: what, where, how to fix it."""


@dataclass(frozen=True)
class Place:
    """A rank's place among all ranks (0 <= rank < size) and among those of its own host (local_*)."""

    rank: int
    size: int
    local_rank: int
    local_size: int

    @property
    def several_hosts(self) -> bool:
        return self.size > self.local_size


ALONE = Place(rank=0, size=1, local_rank=0, local_size=1)

_OPENMPI = {
    "rank": "OMPI_COMM_WORLD_RANK",
    "size": "OMPI_COMM_WORLD_SIZE",
    "local_rank": "OMPI_COMM_WORLD_LOCAL_RANK",
    "local_size": "OMPI_COMM_WORLD_LOCAL_SIZE",
}
"""Source: OpenMPI's FAQ, www.open-mpi.org/faq/?category=running#mpi-environmental-variables."""

_TORCHRUN = {"rank": "RANK", "size": "WORLD_SIZE", "local_rank": "LOCAL_RANK", "local_size": "LOCAL_WORLD_SIZE"}
"""Source: docs.pytorch.org/docs/stable/elastic/run.html#environment-variables."""

_RUN_ID = "TORCHELASTIC_RUN_ID"
"""Only torchrun sets it: RANK and the like alone may be from a shell, or from Slurm's srun."""


def started_by_torchrun(environment: Mapping[str, str]) -> bool:
    return _RUN_ID in environment


def place_in_job(environment: Mapping[str, str]) -> Place:
    """This process's place. Without mpirun and torchrun: the only rank.

    Raises:
        TrainingError: only some of the launcher's variables are set, or one is not a whole number.
    """
    variables = _TORCHRUN if started_by_torchrun(environment) else _OPENMPI
    given = {field: environment[name] for field, name in variables.items() if name in environment}
    if not given:
        return ALONE
    for field, name in variables.items():
        if not given.get(field, "").isdecimal():
            problem = f"{name}={given[field]}: must be a whole number" if field in given else f"{name} is missing"
            raise TrainingError(f"{problem}; start train.py with OpenMPI's mpirun, torchrun, or alone")
    return Place(**{field: int(value) for field, value in given.items()})


def meeting_point(environment: Mapping[str, str], place: Place) -> tuple[str, int]:
    """Host and port at which rank 0 listens for the others: MASTER_ADDR and MASTER_PORT, else agreed over MPI.

    The hostfile would tell too, but the MPI operator mounts it into the launcher only.

    Raises:
        TrainingError: MASTER_PORT is not a port; or neither is set and mpi4py is missing, or rank 0's host name
            leads nowhere or to a loopback address that other hosts cannot reach.
    """
    if "MASTER_ADDR" in environment:
        port = environment.get("MASTER_PORT", "29500")
        if not port.isdecimal() or not 0 < int(port) < 65536:
            raise TrainingError(f"MASTER_PORT={port}: must be a port from 1 to 65535")
        return environment["MASTER_ADDR"], int(port)
    return _agreed_over_mpi(place)


def _agreed_over_mpi(place: Place) -> tuple[str, int]:
    try:
        from mpi4py import MPI
    except ImportError as missing:
        fix = "set MASTER_ADDR to the host of rank 0, or install mpi4py"
        raise TrainingError(f"MASTER_ADDR is not set and mpi4py does not load ({missing}); {fix}") from None
    offer = _free_address() if place.rank == 0 else None
    address, port = MPI.COMM_WORLD.bcast(offer, root=0)
    # Done with MPI: a rank that fails later must not wait for the others in MPI's end.
    MPI.Finalize()
    if not address:
        raise TrainingError("rank 0's host name has no address; set MASTER_ADDR, or add the name to /etc/hosts")
    if place.several_hosts and address.startswith("127."):
        raise TrainingError(f"rank 0's host name leads to {address}, unreachable from other hosts; set MASTER_ADDR")
    return address, port


def _free_address() -> tuple[str, int]:
    """This host's address, "" where its name has none, and a free port. The others wait for it: it must not fail."""
    with socket.socket() as probe:
        probe.bind(("", 0))
        port = probe.getsockname()[1]
    try:
        return socket.gethostbyname(socket.gethostname()), port
    except OSError:
        return "", port
