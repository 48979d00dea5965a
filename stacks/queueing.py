"""The queue of an environment on a cluster: a flavor for each pool, from what its jobs are told of the pools."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from cluster_settings import OnClusterSettings
from gpufleet.catalog import gpu_types
from gpufleet.jobs.pool import pool_told
from gpufleet.node_labels import CLOUD, label_value
from gpufleet.rules.judged import Judged
from gpufleet.rules.kubernetes.queue import judge_queue
from gpufleet.rules.kubernetes.queue_pools import judge_queue_order, judge_queue_pool
from parts import named
from settings import given


class Counted(NamedTuple):
    """A pool as the queue sees it: its nodes' labels, and all GPUs that it may ever have."""

    gpu: str
    zone: str
    place: str
    gpus: int


def judge(environment: str, settings: OnClusterSettings, told: Mapping[str, Mapping[str, Any]]) -> list[Judged]:
    """Findings on the queue, if there is one. told: every pool as jobs are told of it."""
    if settings.queue is None:
        return []
    models = {kind: record.gpu_model for kind, record in gpu_types().items()}
    found = [Judged(environment, each) for each in judge_queue_order(settings.queue.order, list(told))]
    clouds = {name: judge_queue_pool(pool, models) for name, pool in told.items() if "gpu" not in pool}
    found += [Judged(name, each) for name, findings in named(environment, clouds).items() for each in findings]
    name = f"{environment}-queue"
    return [*found, *(Judged(name, each) for each in judge_queue(name, queue_of(settings, told)))]


def queue_of(settings: OnClusterSettings, told: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The queue's arguments but its labels: a flavor for each pool, in order, and their GPUs for the teams.

    Pools that the order does not name come after the others. A pool that cannot be counted has no flavor: `judge`
    refuses it.
    """
    assert settings.queue is not None
    pools = {name: pool for name, each in told.items() if (pool := counted(each))}
    wanted = [name for name in settings.queue.order or () if name in pools]
    rest = sorted(set(pools) - set(wanted), key=lambda name: (pools[name].place == CLOUD, name))
    order = [*dict.fromkeys(wanted), *rest]
    flavors = {name: _flavor(pools[name]) | {"pool": told[name]["label"]} for name in order}
    own = {key: value for key, value in given(settings.queue).items() if key != "order"}
    return own | {"flavors": flavors, "quotas": quotas(settings, {name: pools[name].gpus for name in order})}


def _flavor(pool: Counted) -> dict[str, str]:
    return {"gpu": pool.gpu, "zone": pool.zone, "place": pool.place}


def quotas(settings: OnClusterSettings, whole: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """GPUs of each team in each pool. whole: all GPUs of each pool, which a single team has."""
    if not settings.teams:
        return {settings.team.namespace: dict(whole)}
    given_of = {name: team.quota or {} for name, team in settings.teams.items()}
    return {name: {pool: gpus for pool, gpus in own.items() if pool in whole} for name, own in given_of.items()}


def counted(pool: Mapping[str, Any]) -> Counted | None:
    """A pool's GPUs; None where the catalog does not know its types or it has no zone.

    Of types with different numbers of GPUs, all nodes may be the largest.
    """
    told = pool_told("", pool)
    if not told.zones or not (told.own_gpu or told.records):
        return None
    gpu = told.own_gpu or label_value(told.records[0].gpu_model)
    each = told.own_gpus or max(record.gpus for record in told.records)
    return Counted(gpu, told.zones[0], told.place, pool["max"] * each)
