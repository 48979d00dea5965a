"""A small convolutional classifier."""

import torch
from torch import nn


class Classifier(nn.Module):
    """Two convolutions and two dense layers, for images of any size; about 280,000 parameters.

    No batch normalisation: its running means would be sent before every forward pass, past the count of bytes.
    """

    def __init__(self, channels: int, classes: int) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(channels, 32, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(4),
        )
        self.head = nn.Sequential(
            nn.Flatten(), nn.Linear(64 * 4 * 4, 256), nn.ReLU(), nn.Dropout(0.1), nn.Linear(256, classes)
        )

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self.head(self.features(pixels))
        return scores
