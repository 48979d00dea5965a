"""Run by every rank, in a shell: catches SIGTERM only, and has a child that catches nothing, as a data loader has.

All ranks end when one of them has notice. One line of JSON from each: whether it had notice, how its child fares.
"""

import json
import signal
import subprocess

from mpi4py import MPI

world = MPI.COMM_WORLD
told: list[int] = []
signal.signal(signal.SIGTERM, lambda number, frame: told.append(number))
child = subprocess.Popen(["sleep", "300"])
print("listens", flush=True)
while not world.allreduce(len(told)):
    child.poll()
print(json.dumps({"rank": world.rank, "told": told, "child": child.poll()}), flush=True)
child.kill()
world.Barrier()
