"""Install what tests/slurm needs from Debian: Slurm with its accounting, MariaDB for that, OpenMPI, ssh, mpi4py.

Looks only, in milliseconds, when all is there. Beside what tests/openmpi needs 20 MB to fetch; starts no service.
"""

import sys

from tools.debian import have

PACKAGES = (
    # Slurm's plugin for `srun --mpi=pmix` opens libpmix.so, a name that only this package brings.
    "libpmix-dev",
    "mariadb-server-core",
    "openmpi-bin",
    "openssh-client",
    "openssh-server",
    "python3-mpi4py",
    "slurm-client",
    "slurmctld",
    "slurmd",
    "slurmdbd",
)

if __name__ == "__main__":
    sys.exit(have(PACKAGES, "slurm"))
