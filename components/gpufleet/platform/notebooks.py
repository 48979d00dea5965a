"""A hub for each team of a cluster, where `notebooks` asks for them."""

from collections.abc import Collection, Mapping, Sequence
from typing import TypedDict

from gpufleet.jobs.pool_info import pool_info
from gpufleet.jobs.stack_output import PoolOutput
from gpufleet.kubernetes.notebook_profiles import NotebookPool
from gpufleet.kubernetes.notebooks import NotebooksConfig
from gpufleet.platform.config import TeamNotebooksConfig
from gpufleet.platform.pool import PlatformPool
from gpufleet.platform.pools import node_price_of, taints_of
from gpufleet.pools.eks_pool import Taint
from gpufleet.pools.node_labels import CLOUD, PREFIX, REGION_LABEL
from gpufleet.typed_dicts import pick


def notebook_pools(
    pools: Mapping[str, PoolOutput],
    usd_per_gpu_hour: Mapping[str, float],
    cloud: str,
    region: str | None,
    place: str | None = None,
) -> dict[str, NotebookPool]:
    """What notebooks have to know of each pool. place: the only one where they run; None: any.

    Pools whose nodes are not of one known GPU model are left out: no label says what is on them.
    """
    found: dict[str, NotebookPool] = {}
    for name, output in pools.items():
        pool = pool_info(name, output)
        if pool.gpu is None or pool.gpus is None or place not in (None, pool.place):
            continue
        found[name] = {"gpu": pool.gpu, "gpus": pool.gpus, "place": pool.place}
        price = node_price_of(pool, usd_per_gpu_hour, cloud, region)
        if price is not None:
            found[name]["usd_per_hour"] = price
        if pool.taints:
            found[name]["taints"] = list(pool.taints)
    return found


class HubNodes(TypedDict, total=False):
    """Where hub and notebooks run, if not on any node without taints."""

    node_selector: Mapping[str, str]
    taints: Sequence[Taint]


def hub_place(notebooks: TeamNotebooksConfig, places: Collection[str], cloud: str) -> str | None:
    """The only place that a hub's notebooks run in; None: any, as all nodes have one network.

    Network policies of the cloud's nodes do not know the pods of own servers, nor the other way round: docs/teams.md.
    """
    return notebooks.get("place", CLOUD) if cloud and set(places) - {CLOUD} else None


def hub_nodes(place: str | None, pools: Mapping[str, PlatformPool], region: str) -> HubNodes:
    """The nodes of a hub at a place, None: any. On own servers it tolerates their taints: there may be no other node.

    A node of the cloud without a pool has none of our labels; nodes that joined EKS have no region.
    """
    if place == CLOUD:
        return {"node_selector": {REGION_LABEL: region}}
    own = {name: pool for name, pool in pools.items() if pool.get("place", CLOUD) != CLOUD}
    if not own:
        return {}
    here = {name: pool for name, pool in own.items() if place in (None, pool["place"])}
    tolerated: HubNodes = {"taints": taints_of(here)}
    return tolerated if place is None else {**tolerated, "node_selector": {f"{PREFIX}place": place}}


def hub_config(
    notebooks: TeamNotebooksConfig, namespace: str, *, several: bool, storage_class: str | None = None
) -> NotebooksConfig:
    """A team's hub; where there are several teams, at its own address. storage_class: the cluster's."""
    own = pick(NotebooksConfig, notebooks)
    if several and "host" in own:
        own["host"] = f"{namespace}.{own['host']}"
    if storage_class is not None and needs_storage_class(notebooks):
        own["storage_class"] = storage_class
    return own


def needs_storage_class(notebooks: TeamNotebooksConfig) -> bool:
    """Whether a hub keeps its database on a volume, and no class for it is named."""
    return notebooks.get("database", "volume") == "volume" and "storage_class" not in notebooks


def needs_cloud_volume(notebooks: TeamNotebooksConfig) -> bool:
    """The same, of a hub on nodes of the cloud, whose volumes own servers cannot mount."""
    return needs_storage_class(notebooks) and notebooks.get("place", CLOUD) == CLOUD
