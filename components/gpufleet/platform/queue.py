"""The queue of a cluster: a flavor for each pool, in the order in which jobs take them."""

from collections.abc import Mapping
from typing import Any, TypedDict

from gpufleet.kubernetes.queue import Flavor
from gpufleet.platform.config import PlatformConfig, PoolQueueConfig
from gpufleet.platform.pools import CountedPool, Pools, counted
from gpufleet.platform.teams import quotas_of
from gpufleet.pools.node_labels import CLOUD, ZONE_ID


class QueuePools(TypedDict):
    """The pools, as a `Queue` takes them."""

    flavors: Mapping[str, Flavor]
    quotas: Mapping[str, Mapping[str, int]]


def queue_pools(config: PlatformConfig, queue: PoolQueueConfig, pools: Pools) -> QueuePools:
    """A flavor for each pool, in order, and their GPUs for the teams.

    Pools that the order does not name come after the others. A pool that cannot be counted has no flavor: the rules
    refuse it.
    """
    known = {name: pool for name, each in pools.items() if (pool := counted(each))}
    first = [name for name in dict.fromkeys(queue.get("order", ())) if name in known]
    rest = sorted(set(known) - set(first), key=lambda name: (known[name].place == CLOUD, name))
    order = [*first, *rest]
    return {
        "flavors": {name: _flavor(known[name], pools[name].get("label", name)) for name in order},
        "quotas": quotas_of(config, {name: known[name].gpus for name in order}),
    }


def topology_output(config: PlatformConfig) -> dict[str, str]:
    """The level of the topology in which a job's workers are to lie, if they fit; nothing without a topology."""
    levels = config.get("queue", {}).get("topology_levels")
    return {} if levels is None else {"topology": [ZONE_ID, *levels][-1]}


def overflow_output(config: PlatformConfig, pools: Pools, namespace: str) -> dict[str, Any]:
    """What a team's jobs need to know to move from pool to pool; nothing without overflow."""
    queue = config.get("queue")
    if queue is None or "overflow" not in queue:
        return {}
    told = {key: queue["overflow"][key] for key in ("capacity_timeout_minutes", "pools") if key in queue["overflow"]}
    return {"overflow": told, "quota": dict(queue_pools(config, queue, pools)["quotas"].get(namespace, {}))}


def _flavor(pool: CountedPool, label: str) -> Flavor:
    return {"gpu": pool.gpu, "zone": pool.zone, "place": pool.place, "pool": label}
