# Copies of a try's log, for a Spot node that is taken: Azure Batch's own copy comes only when a try has ended. Blobfuse
# uploads a file when it is closed, so each copy is whole: learn.microsoft.com/azure/storage/blobs/blobfuse2-what-is
from __future__ import annotations

import contextlib
import shutil
import time
from pathlib import Path

from gpufleet.jobs.node_runtime.azure_context import variable


# For as long as this process lives, in its own thread, as a mount may hang. The folder is called after the time at
# which the try began: after an eviction a task has the same names everywhere.
def follow_log(folder: str, seconds: float) -> None:
    target = Path(folder, time.strftime("%FT%H%M%SZ", time.gmtime()))
    while True:
        time.sleep(seconds)
        copy_log(target)


def copy_log(target: Path) -> None:
    for stream in ("stdout.txt", "stderr.txt"):
        # No training ends because of its log.
        with contextlib.suppress(OSError):
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy(Path(variable("TASK_DIR"), stream), target)
