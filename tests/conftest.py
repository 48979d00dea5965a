"""What holds for every test, and for every process that a test starts."""

import os

# Figures that the developer has refreshed must not decide whether a test passes.
os.environ["GPUFLEET_CATALOG"] = ""
