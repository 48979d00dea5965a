"""Run by every rank: an all-reduce of mpi4py over a buffer of 1 MiB; one line of JSON from each rank."""

import json
import socket

import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
mine = numpy.full(131072, world.rank + 1, dtype=numpy.float64)
total = numpy.zeros_like(mine)
world.Allreduce(mine, total, op=MPI.SUM)
said = {"rank": world.rank, "size": world.size, "host": socket.gethostname()}
print(json.dumps({**said, "least": total.min(), "most": total.max()}), flush=True)
