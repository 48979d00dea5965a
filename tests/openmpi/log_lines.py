"""What train.py printed, as numbers."""

import re
from dataclasses import dataclass

_STEP = re.compile(
    r"^step=(?P<step>\d+) loss=(?P<loss>[\d.]+) it/s=(?P<rate>[\d.]+) bytes/step=(?P<payload>\d+)"
    r" dtype=(?P<dtype>fp\d\d) buckets=(?P<buckets>[\d.]+) head_start_ms=(?P<head_start>[\d.]+)$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Line:
    """A line of progress: mean over the steps since the line before."""

    step: int
    loss: float
    rate: float
    payload: int
    dtype: str
    buckets: float
    head_start: float


def progress(text: str) -> list[Line]:
    return [
        Line(
            step=int(found["step"]),
            loss=float(found["loss"]),
            rate=float(found["rate"]),
            payload=int(found["payload"]),
            dtype=found["dtype"],
            buckets=float(found["buckets"]),
            head_start=float(found["head_start"]),
        )
        for found in _STEP.finditer(text)
    ]


def number(name: str, text: str) -> float:
    """The number of the only `name=NUMBER` in ``text`` that is the first or second word of its line."""
    (found,) = re.findall(rf"^(?:\w+ )?{name}=([\d.]+)", text, re.MULTILINE)
    return float(found)
