"""Install what tests/openmpi needs from Debian: OpenMPI, sshd, mpi4py and PyTorch for the CPU.

Looks only, in milliseconds, when all is there. 190 MB to fetch and 850 MB on disk, two to three minutes.
PyTorch of PyPI runs the same tests (GPUFLEET_TRAINING_PYTHON=/path/to/python3), but its wheels for x86-64 come with
CUDA: 3.0 GB to fetch and 5.4 GB on disk for 2.15.0, seen in November 2026.
"""

import sys

from tools.debian import have

PACKAGES = ("iproute2", "openmpi-bin", "openssh-client", "openssh-server", "python3-mpi4py", "python3-torch")

if __name__ == "__main__":
    sys.exit(have(PACKAGES, "openmpi"))
