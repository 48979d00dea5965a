"""The command line of train.py, and where a run keeps its checkpoints and its result. Needs no PyTorch."""

import argparse
import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

VOLUME = Path("/mnt")
"""Where gpufleet's jobs mount the shared volume."""


def checkpoint_folder(environment: Mapping[str, str]) -> Path:
    """The default of --checkpoints: one folder for each run whose outputs have a place of their own.

    AWS Batch names a place in a bucket, one for each child of an array: the folder on the shared volume has the same
    path. Azure Batch, Slurm and hosts name a directory. An MPIJob has none: its runs share /mnt/checkpoints.
    """
    place = urlsplit(environment.get("GPUFLEET_OUTPUTS", ""))
    if place.scheme:
        return VOLUME / "checkpoints" / place.path.strip("/")
    return Path(place.path) / "checkpoints" if place.path else VOLUME / "checkpoints"


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    """The options of ``words``; None: of this process. Ends the program where one is wrong."""
    parser = argparse.ArgumentParser(
        description="Train a small image classifier on all ranks that mpirun started.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--data", type=Path, default=VOLUME / "data", help="folder with train.npz and test.npz")
    parser.add_argument("--synthetic", action="store_true", help="make the data in memory, as make_data.py does")
    parser.add_argument(
        "--checkpoints", type=Path, default=checkpoint_folder(os.environ), help="one folder for each run"
    )
    parser.add_argument(
        "--outputs", default=os.environ.get("GPUFLEET_OUTPUTS"), help="folder or s3:// place of result.json"
    )
    parser.add_argument("--steps", type=int, default=1000, help="steps in all, those before a restart included")
    parser.add_argument("--batch", type=int, default=32, help="images of each rank in a step")
    parser.add_argument("--learning-rate", type=float, default=0.03)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--allreduce-dtype", choices=("fp32", "fp16"), default="fp32", help="fp16 halves the bytes of a step"
    )
    parser.add_argument("--bucket-mib", type=float, default=25, help="gradients that are exchanged together")
    parser.add_argument("--checkpoint-every", type=int, default=100, metavar="STEPS")
    parser.add_argument("--log-every", type=int, default=20, metavar="STEPS")
    parser.add_argument("--notice-every", type=int, default=10, metavar="STEPS", help="ask all ranks for notice")
    chosen = parser.parse_args(words)
    for name in ("steps", "batch", "learning_rate", "bucket_mib", "checkpoint_every", "log_every", "notice_every"):
        if getattr(chosen, name) <= 0:
            parser.error(f"--{name.replace('_', '-')} must be above 0")
    return chosen
