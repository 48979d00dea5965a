"""Images from an .npz file, and which of them each rank sees at each step."""

import zipfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy
import torch

import make_data
from ranks import TrainingError


@dataclass(frozen=True)
class Images:
    """``pixels``: uint8 of shape [images, channels, height, width]; ``labels``: int64 of shape [images], from 0."""

    pixels: torch.Tensor
    labels: torch.Tensor

    def __len__(self) -> int:
        return len(self.labels)


def load_images(path: Path) -> Images:
    """The images of ``path``, an .npz file with the arrays `images` ([N, height, width, channels]) and `labels` ([N]).

    Raises:
        TrainingError: there is no such file, or it holds something else.
    """
    try:
        with numpy.load(path, allow_pickle=False) as file:
            pixels, labels = file["images"], file["labels"]
    except FileNotFoundError:
        raise TrainingError(f"{path}: no such file; make one with make_data.py, or give --data") from None
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as failure:
        raise TrainingError(f"{path}: is no .npz file with images and labels: {failure}") from failure
    if pixels.ndim != 4 or pixels.dtype != numpy.uint8 or labels.shape != pixels.shape[:1] or not len(labels):
        content = f"images {pixels.dtype}{list(pixels.shape)}, labels {list(labels.shape)}"
        raise TrainingError(f"{path}: {content}; it must hold images uint8[N, height, width, channels], labels [N]")
    return _images(pixels, labels)


def synthetic_images(count: int, seed: int) -> Images:
    """``count`` pictures of 16 x 16 pixels as make_data.py makes them; every rank makes the same from ``seed``."""
    made = make_data.make(count, 16, seed)
    return _images(made["images"], made["labels"])


def _images(pixels: numpy.ndarray, labels: numpy.ndarray) -> Images:
    return Images(torch.from_numpy(pixels).permute(0, 3, 1, 2).contiguous(), torch.from_numpy(labels).long())


def batch_at(position: int, size: int, images: Images, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """``size`` images and labels from ``position`` on in an endless stream that shuffles anew at each pass.

    The stream depends on nothing but ``seed``: after a restart, also with another number of ranks, training goes on
    with the images that it had not seen yet.
    """
    total = len(images)
    wanted = [_order(seed, at // total, total)[at % total] for at in range(position, position + size)]
    chosen = torch.stack(wanted)
    return images.pixels[chosen].float().div_(255), images.labels[chosen]


def varied(pixels: torch.Tensor) -> torch.Tensor:
    """``pixels`` mirrored at random and with a little noise: another picture of the same thing."""
    mirrored = torch.rand(len(pixels), 1, 1, 1) < 0.5
    return torch.where(mirrored, pixels.flip(-1), pixels) + 0.05 * torch.randn_like(pixels)


@lru_cache(maxsize=2)
def _order(seed: int, epoch: int, total: int) -> torch.Tensor:
    return torch.randperm(total, generator=torch.Generator().manual_seed(seed + epoch))
