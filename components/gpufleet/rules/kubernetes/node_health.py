"""Rules on the program that looks after GPU nodes."""

from collections.abc import Mapping

from gpufleet.rules import coerce
from gpufleet.rules.generic import at_least
from gpufleet.rules.kubernetes.device_plugins import validate_object_labels
from gpufleet.rules.kubernetes.mpi_image import validate_image
from gpufleet.rules.labels import value_form
from gpufleet.rules.rule import Finding

_LEAST = {"most_percent": (20, 0), "every_seconds": (30, 1), "lasting_minutes": (5, 0), "young_minutes": (15, 0)}
"""Argument to its default and its least value."""


def validate_node_health(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on NodeHealth. Reads image, most_percent, every_seconds, lasting_minutes, young_minutes, pools,
    labels."""
    findings = [
        at_least(argument=name, value=coerce.whole(args, name, default), least=least)
        for name, (default, least) in _LEAST.items()
    ]
    for pool, gpus in coerce.mapping(args, "pools").items():
        findings.append(value_form(argument="pools", value=pool))
        if isinstance(gpus, int):
            findings.append(at_least(argument=f"pools.{pool}", value=gpus, least=1))
    return [*findings, *validate_image(args), *validate_object_labels(args)]
