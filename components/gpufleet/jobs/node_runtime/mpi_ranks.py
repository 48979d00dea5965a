# Ranks that mpirun starts; torchrun_ranks is its counterpart.
from __future__ import annotations

# A variable that only ranks have.
RANK_VARIABLE = b"OMPI_COMM_WORLD_RANK="
