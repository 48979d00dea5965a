"""Whether a GPU computes, by more than its utilization, which a collective that waits for its peers keeps at 100 %."""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

from gpufleet.documents.json import read_json

Activity = Literal["computing", "stuck", "idle", "busy"]
"""computing: it works. stuck: a kernel runs all the time and does nothing, as in a collective whose peer is gone. idle:
no kernel runs. busy: kernels run, and nothing but their utilization is known."""


def activity_of(percent: float, sm: float | None, tensor: float | None, power: float | None) -> Activity:
    """What a GPU does at a moment.

    percent: utilization, 0 to 100. sm, tensor: shares of cycles in which SMs have warps and the tensor pipe is active,
    0 to 1; GeForce, and exporters without SYS_ADMIN, have neither. power: share of the power limit. Thresholds and
    their sources: activity.json.
    """
    least = _least()
    if percent == 0 and not tensor and (sm or 0.0) < least["tensor_active"]:
        return "idle"
    figures = {"tensor_active": tensor, "sm_active": sm, "power": power}
    told = {name: figure >= least[name] for name, figure in figures.items() if figure is not None}
    if any(told.values()) or percent < least["busy_percent"]:
        return "computing"
    # A tensor pipe without work says little: not every program multiplies matrices in half precision.
    return "stuck" if {"sm_active", "power"} & {*told} else "busy"


def activity_of_job(gpus: Iterable[Activity]) -> Activity:
    """What a job does whose GPUs do this: it computes while one of them does.

    In a stuck collective the rank that is gone has an idle GPU, and the others wait for it.
    """
    found = {*gpus}
    return next(each for each in _FIRST if each in found)


_FIRST: tuple[Activity, ...] = ("computing", "busy", "stuck", "idle")


@cache
def _least() -> Mapping[str, float]:
    content: Mapping[str, Mapping[str, Any]] = read_json(Path(__file__).with_name("activity.json"))
    return {name: float(each["at_least"]) for name, each in content.items()}
