"""Run by every rank, in a shell: catches SIGTERM only, and has children as a data loader has: one catches nothing, one
catches SIGTERM too, and ends by it.

All ranks end when one of them has notice. One line of JSON from each: whether it had notice, how its children fare.
"""

import json
import signal
import subprocess
import sys
import time

from mpi4py import MPI

world = MPI.COMM_WORLD
told: list[int] = []
signal.signal(signal.SIGTERM, lambda number, frame: told.append(number))
CATCHES = "import signal, sys, time; signal.signal(signal.SIGTERM, lambda *_: sys.exit(9)); time.sleep(300)"
children = [subprocess.Popen(["sleep", "300"]), subprocess.Popen([sys.executable, "-c", CATCHES])]
print("listens", flush=True)
while not world.allreduce(len(told)):
    pass
# What a signal does to a child is seen at once; a second is for a machine with much to do.
time.sleep(1)
print(json.dumps({"rank": world.rank, "told": told, "children": [child.poll() for child in children]}), flush=True)
for child in children:
    child.kill()
world.Barrier()
