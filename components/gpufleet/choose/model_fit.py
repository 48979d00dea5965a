"""The scaling model compared with measurements: fitted numbers, predicted points and residuals.

For each instance type two numbers are fitted to its plain points: seconds of computing on one node and seconds of one
gradient over its network. The placed points are predicted with the same two (the model gives placement no gain), the
half-precision ones with half the bytes, without overlap and with full overlap. Nothing is fitted to those two series.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gpufleet.choose.scaling import step_seconds
from gpufleet.documents.json import read_json

READINGS = ("total", "per-node")
"""What a measured rate may be, which its source does not say. total: steps of a batch that all nodes share, so that
computing a step takes 1/n. per-node: the sum over all nodes, each with its own batch."""
READING = "total"
"""The one that the plain points of both types together fit better, though p2.xlarge alone fits the other one;
`gpufleet choose --model` shows both."""
FITTED = "plain"


@dataclass(frozen=True, slots=True)
class Measurement:
    """One measurement: steps per second of one instance type at a number of nodes with one GPU each."""

    type: str
    series: str
    nodes: int
    per_second: float
    bits: int
    double_buffering: bool


@dataclass(frozen=True, slots=True)
class FittedModel:
    """The two numbers of one instance type. error: root mean square of the fit's residuals, as a share."""

    compute_seconds: float
    exchange_seconds: float
    error: float


@dataclass(frozen=True, slots=True)
class ModelScore:
    """A point beside what the model says. residual: said / measured - 1, above 0 where the model is too fast."""

    point: Measurement
    overlap: float
    predicted: float
    fitted: bool

    @property
    def residual(self) -> float:
        """By how much the rate said is above the measured one, as a share of that."""
        return self.predicted / self.point.per_second - 1


def read_measurements() -> tuple[Mapping[str, str], tuple[Measurement, ...]]:
    """Where the measurements are from and what was not recorded, and every point."""
    content = read_json(Path(__file__).with_name("measured.json"))
    points = [
        Measurement(row["type"], row["series"], nodes, rate, row["bits"], row["double_buffering"])
        for row in content["series"]
        for nodes, rate in zip(content["nodes"], row["per_second"], strict=True)
    ]
    return {key: content[key] for key in ("source", "not_recorded")}, tuple(points)


def rate(nodes: int, found: FittedModel, reading: str, *, bits: int = 32, overlap: float = 0.0) -> float:
    """Steps per second that the model says for one GPU a node."""
    exchange = 2 * (nodes - 1) / nodes * found.exchange_seconds * bits / 32
    if reading == "total":
        return 1 / step_seconds(found.compute_seconds / nodes, exchange, overlap)
    return nodes / step_seconds(found.compute_seconds, exchange, overlap)


def fit(points: Sequence[Measurement], reading: str) -> FittedModel:
    """Least squares of the logarithm of the rate, so that a slow point weighs as much as a fast one.

    For a given ratio of the two numbers the best scale is known, so that one number is searched: over 1e-4..1e4, then
    finer around the best.
    """
    low, high = -4.0, 4.0
    best = 0.0
    for _ in range(6):
        step = (high - low) / 200
        tried = [low + step * number for number in range(201)]
        best = min(tried, key=lambda each: _scaled(points, reading, 10**each).error)
        low, high = best - step, best + step
    return _scaled(points, reading, 10**best)


def _scaled(points: Sequence[Measurement], reading: str, ratio: float) -> FittedModel:
    """The best fit whose exchange takes `ratio` times its computing."""
    unit = FittedModel(1.0, ratio, 0.0)
    logs = [math.log(rate(each.nodes, unit, reading, bits=each.bits) / each.per_second) for each in points]
    middle = statistics.fmean(logs)
    error = math.sqrt(statistics.fmean((each - middle) ** 2 for each in logs))
    return FittedModel(math.exp(middle), ratio * math.exp(middle), error)


@cache
def fitted_models(reading: str = READING) -> Mapping[str, FittedModel]:
    """The two numbers of each measured type."""
    _, points = read_measurements()
    plain = [point for point in points if point.series == FITTED]
    return {
        name: fit([point for point in plain if point.type == name], reading) for name in sorted({p.type for p in plain})
    }


def scores(reading: str = READING) -> list[ModelScore]:
    """Every measured point; those with double buffering twice, without overlap and with full overlap."""
    found = fitted_models(reading)
    _, points = read_measurements()
    return [
        ModelScore(
            point,
            overlap,
            rate(point.nodes, found[point.type], reading, bits=point.bits, overlap=overlap),
            point.series == FITTED,
        )
        for point in points
        for overlap in ((0.0, 1.0) if point.double_buffering else (0.0,))
    ]


def placement_gain() -> dict[str, float]:
    """Measured, not modelled: mean gain in rate of the placed points over the plain ones, as a share, for each type."""
    _, points = read_measurements()
    rates = {(point.type, point.series, point.nodes): point.per_second for point in points}
    gains: dict[str, list[float]] = {}
    for (name, series, nodes), value in rates.items():
        if series == "placed":
            gains.setdefault(name, []).append(math.log(value / rates[name, "plain", nodes]))
    return {name: math.exp(statistics.fmean(each)) - 1 for name, each in gains.items()}
