"""The GPU pools of a cluster, as what is installed on it and the jobs on it need to know them."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from gpufleet.catalog import gpu_types
from gpufleet.catalog.network_layers import network_layers
from gpufleet.cost.prices import highest_price, node_price
from gpufleet.jobs.pool_info import PoolInfo, pool_info
from gpufleet.jobs.stack_output import PoolOutput
from gpufleet.platform.pool import PlatformPool
from gpufleet.pools.eks_pool import Taint
from gpufleet.pools.node_labels import CLOUD, label_value
from gpufleet.rules.kubernetes.queue_flavors import validate_queue_pool
from gpufleet.rules.kubernetes.queue_topology import validate_topology_pool
from gpufleet.rules.kubernetes.software import BOTTLEROCKET
from gpufleet.rules.resource_finding import ResourceFinding
from gpufleet.typed_dicts import pick

Software = Literal[
    "device-plugin",
    "gpu-operator",
    "efa-plugin",
    "mpi-operator",
    "autoscaler",
    "dcgm-exporter",
    "node-health",
    "monitoring",
    "jobset",
]
"""What may be installed on a cluster."""
Pools = Mapping[str, PlatformPool]


class CountedPool(NamedTuple):
    """A pool as the queue sees it: its nodes' labels, and all GPUs that it may ever have."""

    gpu: str
    zone: str
    place: str
    gpus: int


def pools_of_jobs(pools: Pools) -> dict[str, PoolOutput]:
    """The pools as the output `jobs` has them."""
    return {name: pick(PoolOutput, pool) for name, pool in pools.items()}


def taints_of(pools: Pools) -> list[Taint]:
    """Every taint of every pool, once."""
    found = [taint for pool in pools.values() for taint in pool.get("taints", ())]
    return [taint for number, taint in enumerate(found) if taint not in found[:number]]


def bottlerocket_pools(pools: Pools) -> list[str]:
    """The label gpufleet.dev/pool of pools whose image brings NVIDIA's device plugin along."""
    return [pool.get("label", name) for name, pool in pools.items() if pool.get("image") == BOTTLEROCKET]


def onprem_gpus(pools: Pools) -> dict[str, int]:
    """GPUs of a node by the label gpufleet.dev/pool, of pools whose types are in no catalog."""
    return {pool.get("label", name): int(pool["gpus"]) for name, pool in pools.items() if pool.get("gpus")}


def needed_software(pools: Mapping[str, Mapping[str, Any]], *, autoscaler: bool) -> list[Software]:
    """What the pools need on their cluster. autoscaler: whether the cloud's clusters bring none along."""
    needed: dict[Software, bool] = {
        "device-plugin": any(pool.get("image") != BOTTLEROCKET for pool in pools.values()),
        "efa-plugin": any(pool.get("network") == "efa" for pool in pools.values()),
        "mpi-operator": True,
        "autoscaler": autoscaler,
        "dcgm-exporter": bool(pools),
    }
    return [name for name, is_needed in needed.items() if is_needed]


def counted(pool: PlatformPool) -> CountedPool | None:
    """A pool's GPUs; None where the catalog does not know its types or it has no zone.

    Of types with different numbers of GPUs, all nodes may be the largest.
    """
    facts = pool_info("", pool)
    gpu = facts.onprem_gpu or next((label_value(record.gpu_model) for record in facts.records), None)
    each = facts.onprem_gpus or max((record.gpus for record in facts.records), default=None)
    if not facts.zones or gpu is None or each is None or facts.max is None:
        return None
    return CountedPool(gpu, facts.zones[0], facts.place, facts.max * each)


def findings_of_queue(environment: str, pools: Pools, topology: Sequence[str] | None) -> list[ResourceFinding]:
    """Whether a queue can count the clouds' pools (one zone, GPUs of one model), and place jobs by its topology."""
    models = {kind: record.gpu_model for kind, record in gpu_types().items()}
    return [
        ResourceFinding(f"{environment}-{name}", finding)
        for name, pool in pools.items()
        if "gpu" not in pool
        for finding in [
            *validate_queue_pool(pool, models),
            *(validate_topology_pool(pool, topology, network_layers()) if topology is not None else ()),
        ]
    ]


def node_price_of(
    pool: PoolInfo, usd_per_gpu_hour: Mapping[str, float], cloud: str, region: str | None
) -> float | None:
    """USD of an hour of a node: as configured, else on demand, also of Spot pools: the most that it can be."""
    if pool.name in usd_per_gpu_hour and pool.gpus is not None:
        return usd_per_gpu_hour[pool.name] * pool.gpus
    if pool.place != CLOUD or not pool.types or cloud not in ("aws", "azure"):
        return None
    return highest_price([node_price(cloud, each, region) for each in pool.types]).usd


def pools_for(team: str, pools: Mapping[str, PoolOutput], owners: Mapping[str, str]) -> dict[str, PoolOutput]:
    """The pools that a team may use: all but the other teams' own."""
    return {name: pool for name, pool in pools.items() if owners.get(name, team) == team}
