"""Stop mode: the `up` by which `gpufleet stop` scales GPU pools to zero. `fleet/stop_transform.py` does the scaling."""

import os
from collections.abc import Mapping

VARIABLES: Mapping[bool, str] = {True: "GPUFLEET_STOP", False: "GPUFLEET_START"}
"""Environment variables with names of pools, one per line: the pools to stop (True), and those to start again with the
program's number of nodes (False). `gpufleet stop` sets them."""


def stop_requested() -> bool:
    """Whether this run of the program only stops pools."""
    return bool(os.environ.get(VARIABLES[True]))
