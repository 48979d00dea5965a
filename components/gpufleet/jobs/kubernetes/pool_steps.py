"""A job's pools in order, as steps: what is known of each before, and the patch that leads from one to the next. Pure.

`gpufleet.jobs.kubernetes.overflow_program` follows them in the cluster.
"""

import copy
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from gpufleet.catalog import aws, azure
from gpufleet.durations import format_duration
from gpufleet.jobs.kubernetes.overflow_program import LABEL, STEPS
from gpufleet.jobs.pool_info import PoolInfo
from gpufleet.pools.node_labels import CLOUD


@dataclass(frozen=True)
class PoolStep:
    """One pool of the order. usd_per_hour: of the nodes that the whole job takes there; None: not known.

    market: on-demand, spot, reservation, capacity-block, or own for on-prem servers. seconds: after which the next
    step begins.
    """

    pool: str
    zone: str
    market: str
    nodes: int
    usd_per_hour: float | None
    seconds: float

    def line(self, number: int, *, last: bool) -> str:
        """The step as a user reads it before the job runs."""
        nodes = "1 node" if self.nodes == 1 else f"{self.nodes} nodes"
        limit = "until capacity comes" if last else f"at most {format_duration(self.seconds)}"
        return f"step {number}: pool {self.pool}, zone {self.zone}, {self.market}, {nodes}, {self.cost}, {limit}"

    @property
    def cost(self) -> str:
        price = "price not known" if self.usd_per_hour is None else f"{self.usd_per_hour:.2f} USD an hour"
        return f"up to {price}" if self.market == "spot" and self.usd_per_hour is not None else price


def pool_step(pool: PoolInfo, workers: int, gpus: int, seconds: float, own_rates: Mapping[str, float]) -> PoolStep:
    """The step of a pool that lies in one zone. gpus: of each worker. own_rates: USD per GPU-hour by pool's name."""
    per_node = (pool.gpus or gpus) // gpus
    nodes = math.ceil(workers / max(1, per_node))
    market = "own" if pool.place != CLOUD else pool.capacity or "on-demand"
    price = _node_price(pool, market, own_rates)
    return PoolStep(pool.name, pool.zones[0], market, nodes, None if price is None else price * nodes, seconds)


def cheaper_later(steps: Sequence[PoolStep]) -> Iterator[str]:
    """Advice on the order: a step that costs more than the one after it."""
    for earlier, later in pairwise(steps):
        # A price that is not known is neither more nor less.
        before, after = earlier.usd_per_hour, later.usd_per_hour
        if before is not None and after is not None and before > after:
            yield (
                f"pools={earlier.pool},{later.pool}: {later.pool} costs less ({later.cost}, {earlier.pool}: "
                f"{earlier.cost}); to pay less, name it first"
            )


def with_steps(manifests: Sequence[Mapping[str, Any]], steps: Sequence[PoolStep]) -> dict[str, Any]:
    """The job of the first step, with what leads to the others. manifests: the job as it is on each step's pool."""
    first = copy.deepcopy(dict(manifests[0]))
    specs = [_told_apart(each["spec"]["mpiReplicaSpecs"], step) for each, step in zip(manifests, steps, strict=True)]
    first["spec"]["mpiReplicaSpecs"] = specs[0]
    patches = [{}, *(merge_patch(before, after) for before, after in pairwise(specs))]
    rows = [
        {
            "pool": step.pool,
            "zone": step.zone,
            "market": step.market,
            "nodes": step.nodes,
            "usd_per_hour": step.usd_per_hour,
            "seconds": step.seconds,
            "patch": patch,
        }
        for step, patch in zip(steps, patches, strict=True)
    ]
    about = first["metadata"]
    first["metadata"] = {
        **about,
        "labels": {**about.get("labels", {}), LABEL: "true"},
        "annotations": {**about.get("annotations", {}), STEPS: json.dumps(rows)},
    }
    return first


def _told_apart(specs: Mapping[str, Any], step: PoolStep) -> dict[str, Any]:
    """The replica specs with a toleration that names the step, of a taint that no node has.

    Kueue 0.19.2 copies a suspended job's changed templates into its Workload only where containers or tolerations
    changed; of node selectors it takes no notice (comparePodTemplate in pkg/util/equality/podset.go).
    """
    changed = copy.deepcopy(dict(specs))
    toleration = {"key": "gpufleet.dev/step", "operator": "Equal", "value": step.pool, "effect": "NoSchedule"}
    changed["Worker"]["template"]["spec"].setdefault("tolerations", []).append(toleration)
    return changed


def merge_patch(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON merge patch (RFC 7386) that makes `after` of `before`."""
    patch: dict[str, Any] = {key: None for key in before if key not in after}
    for key, value in after.items():
        if key not in before:
            patch[key] = value
        elif isinstance(value, Mapping) and isinstance(before[key], Mapping):
            if inner := merge_patch(before[key], value):
                patch[key] = inner
        elif value != before[key]:
            patch[key] = value
    return patch


def _node_price(pool: PoolInfo, market: str, own_rates: Mapping[str, float]) -> float | None:
    """USD for an hour of a node of the dearest type; of Spot the highest price that the catalog has."""
    if pool.name in own_rates and pool.gpus:
        return float(own_rates[pool.name]) * pool.gpus
    if market not in ("on-demand", "spot"):
        return None
    for catalog in (aws(), azure()):
        region = next((name for name, zones in catalog.regions.items() if pool.zones[0] in zones), None)
        if region is None:
            continue
        ranges = [catalog.spot_range(each, region) for each in pool.types]
        high = [each[1] if each else None for each in ranges]
        prices = high if market == "spot" else [catalog.price(each, region) for each in pool.types]
        known = [each for each in prices if each is not None]
        return max(known) if known and len(known) == len(prices) else None
    return None
