"""A hub for each team of a cluster, where `notebooks` asks for them."""

from collections.abc import Mapping

from gpufleet.jobs.pool_info import pool_info
from gpufleet.jobs.stack_output import PoolOutput
from gpufleet.kubernetes.notebook_profiles import NotebookPool
from gpufleet.kubernetes.notebooks import NotebooksConfig
from gpufleet.platform.pools import node_price_of


def notebook_pools(
    pools: Mapping[str, PoolOutput], usd_per_gpu_hour: Mapping[str, float], cloud: str, region: str | None
) -> dict[str, NotebookPool]:
    """What notebooks have to know of each pool.

    Pools whose nodes are not of one known GPU model are left out: no label says what is on them.
    """
    found: dict[str, NotebookPool] = {}
    for name, output in pools.items():
        pool = pool_info(name, output)
        if pool.gpu is None or pool.gpus is None:
            continue
        found[name] = {"gpu": pool.gpu, "gpus": pool.gpus, "place": pool.place}
        price = node_price_of(pool, usd_per_gpu_hour, cloud, region)
        if price is not None:
            found[name]["usd_per_hour"] = price
        if pool.taints:
            found[name]["taints"] = list(pool.taints)
    return found


def hub_config(notebooks: NotebooksConfig, namespace: str, *, several: bool) -> NotebooksConfig:
    """A team's hub; where there are several teams, at an address of its own."""
    if not several:
        return notebooks
    own: NotebooksConfig = {**notebooks, "host": f"{namespace}.{notebooks['host']}"}
    return own
