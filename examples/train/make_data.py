#!/usr/bin/env python3
"""Make a small data set: grey pictures of bars, discs and crosses in noise, in train.npz and test.npz."""

import argparse
import os
import sys
from pathlib import Path

import numpy

CLASSES = ("level bars", "upright bars", "disc", "cross")


def picture(kind: int, size: int, chance: numpy.random.Generator) -> numpy.ndarray:
    """One picture of class ``kind``: uint8[size, size, 1], at a random place, of random strength, in noise."""
    across, down = numpy.meshgrid(numpy.arange(size), numpy.arange(size))
    x, y = chance.integers(size // 4, 3 * size // 4, 2)
    width = int(chance.integers(2, 4))
    ink = (
        (down + y) // width % 2 == 0,
        (across + x) // width % 2 == 0,
        (across - x) ** 2 + (down - y) ** 2 < (size / 4) ** 2,
        (abs(across - x) < width) | (abs(down - y) < width),
    )[kind]
    bright = chance.uniform(80, 200) * ink + chance.normal(40, 25, (size, size))
    return bright.clip(0, 255).astype(numpy.uint8)[..., None]


def make(count: int, size: int, seed: int) -> dict[str, numpy.ndarray]:
    """``count`` pictures, their classes in equal shares in random order; the same for the same ``seed``."""
    chance = numpy.random.default_rng(seed)
    labels = chance.permutation(numpy.arange(count) % len(CLASSES))
    return {"images": numpy.stack([picture(int(kind), size, chance) for kind in labels]), "labels": labels}


def main() -> int:
    """Exit code 0; 1 with one line when the folder cannot be written."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=Path("/mnt/data"), help="default: %(default)s")
    parser.add_argument("--images", type=int, default=4096, help="training images; a quarter as many for the test")
    parser.add_argument("--size", type=int, default=16, help="pixels of an edge, at least 8 (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if args.size < 8 or args.images < 4 * len(CLASSES):
        parser.error(f"--size is at least 8, --images at least {4 * len(CLASSES)}")
    if os.environ.get("OMPI_COMM_WORLD_RANK", "0") != "0":
        return 0  # Under mpirun one rank writes.
    for name, count, seed in (("train", args.images, args.seed), ("test", args.images // 4, args.seed + 1)):
        path = args.folder / f"{name}.npz"
        part = path.with_suffix(".part")
        try:
            args.folder.mkdir(parents=True, exist_ok=True)
            with part.open("wb") as file:
                numpy.savez_compressed(file, **make(count, args.size, seed))
            part.replace(path)
        except OSError as failure:
            print(f"make_data.py: {path}: cannot be written: {failure.strerror}", file=sys.stderr)
            return 1
        print(f"{path}: {count} images, {path.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
