"""Options, comparisons and the model's scores as JSON data."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from gpufleet.choose.model_fit import (
    READING,
    READINGS,
    FittedModel,
    fitted_models,
    placement_gain,
    read_measurements,
    scores,
)
from gpufleet.choose.node_shapes import NodeComparison
from gpufleet.choose.options import Option
from gpufleet.choose.read_rate import Reading, least_lustre
from gpufleet.choose.scaling import Range


def option_to_dict(number: int, option: Option) -> dict[str, Any]:
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


def comparison_to_dict(pair: NodeComparison) -> dict[str, Any]:
    """One node against several."""
    return {
        "cloud": pair.one.cloud,
        "gpu_model": pair.one.gpu_model,
        "one": pair.one.type,
        "several": {"type": pair.several.type, "nodes": pair.several.nodes},
        "break_even_stretch": pair.break_even,
        "advice": pair.advice,
    }


def model_to_dict() -> dict[str, Any]:
    """The measurements, and under each reading of them the fitted numbers and every residual."""
    origin, _ = read_measurements()
    return {
        **origin,
        "reading": READING,
        "readings": {reading: _reading(fitted_models(reading), reading) for reading in READINGS},
        "placement_gain_measured": placement_gain(),
    }


def _reading(numbers: Mapping[str, FittedModel], reading: str) -> dict[str, Any]:
    return {
        "fitted": {name: asdict(each) for name, each in numbers.items()},
        "points": [
            {
                **asdict(score.point),
                "overlap": score.overlap,
                "said_per_second": score.predicted,
                "fitted": score.fitted,
                "residual": score.residual,
            }
            for score in scores(reading)
        ],
    }


def _ends(found: Range | None) -> dict[str, float] | None:
    return None if found is None else asdict(found)


def options_to_dict(
    options: Sequence[Option],
    pairs: Sequence[NodeComparison],
    rows: Sequence[tuple[int, Range | None, Range | None]] | None,
    taken: int | None,
    config: str | None,
) -> dict[str, Any]:
    """Everything. rows: nodes, hours and USD. taken: number of the option that was confirmed, config: its YAML."""
    return {
        "options": [option_to_dict(number, option) for number, option in enumerate(options, start=1)],
        "one_or_several": [comparison_to_dict(pair) for pair in pairs],
        "more_nodes": rows and [{"nodes": nodes, "hours": _ends(h), "usd": _ends(usd)} for nodes, h, usd in rows],
        "taken": None if taken is None else {"number": taken, "config": config},
    }


def reading_to_dict(reading: Reading, cloud: str) -> dict[str, object]:
    """The key `reading`: what the GPUs read, and the smallest file systems of Lustre that give it."""
    sizes = [asdict(each) for each in least_lustre(cloud, reading.mb_per_second)]
    return {"reading": {**asdict(reading), "mb_per_second": reading.mb_per_second, "lustre": sizes}}
