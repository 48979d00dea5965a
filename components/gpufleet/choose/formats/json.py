"""Options, pairs and the model's scores for programs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from gpufleet.choose.model_fit import READING, READINGS, Fitted, fitted, placement_gain, read_measured, scores
from gpufleet.choose.node_shapes import Pair
from gpufleet.choose.options import Option
from gpufleet.choose.scaling import Range


def option_as_json(number: int, option: Option) -> dict[str, Any]:
    """An option with what follows from it; unknown is null."""
    return {
        "number": number,
        **{key: value for key, value in asdict(option).items() if key not in ("hours", "stretch", "budget")},
        "gpus": option.gpus,
        "hours": _ends(option.hours),
        "stretch": _ends(option.stretch),
        "usd": _ends(option.usd),
        "spot_usd": _ends(option.spot_usd),
        "within_budget": option.verdict or None,
    }


def pair_as_json(pair: Pair) -> dict[str, Any]:
    """One node against several."""
    return {
        "cloud": pair.one.cloud,
        "gpu_model": pair.one.gpu_model,
        "one": pair.one.type,
        "several": {"type": pair.several.type, "nodes": pair.several.nodes},
        "break_even_stretch": pair.break_even,
        "advice": pair.advice,
    }


def model_as_json() -> dict[str, Any]:
    """The measurements, and under each reading of them the fitted numbers and every residual."""
    origin, _ = read_measured()
    return {
        **origin,
        "reading": READING,
        "readings": {reading: _reading(fitted(reading), reading) for reading in READINGS},
        "placement_gain_measured": placement_gain(),
    }


def _reading(numbers: Mapping[str, Fitted], reading: str) -> dict[str, Any]:
    return {
        "fitted": {name: asdict(each) for name, each in numbers.items()},
        "points": [
            {
                **asdict(score.point),
                "overlap": score.overlap,
                "said_per_second": score.said,
                "fitted": score.fitted,
                "residual": score.residual,
            }
            for score in scores(reading)
        ],
    }


def _ends(found: Range | None) -> dict[str, float] | None:
    return None if found is None else asdict(found)


def options_as_json(
    options: Sequence[Option],
    pairs: Sequence[Pair],
    rows: Sequence[tuple[int, Range | None, Range | None]] | None,
    taken: int | None,
    config: str | None,
) -> dict[str, Any]:
    """Everything. rows: nodes, hours and USD. taken: number of the option that was confirmed, config: its YAML."""
    return {
        "options": [option_as_json(number, option) for number, option in enumerate(options, start=1)],
        "one_or_several": [pair_as_json(pair) for pair in pairs],
        "more_nodes": rows and [{"nodes": nodes, "hours": _ends(h), "usd": _ends(usd)} for nodes, h, usd in rows],
        "taken": None if taken is None else {"number": taken, "config": config},
    }
