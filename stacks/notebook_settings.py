"""The key `gpufleet:notebooks` of an environment on a cluster, and what it becomes for each team."""

from collections.abc import Mapping
from typing import Any

from gpufleet.cost.prices import dearest, node_price
from gpufleet.jobs.pool import pool_told
from gpufleet.kubernetes.notebooks import NotebooksArgs
from gpufleet.node_labels import CLOUD
from settings import Section, given
from typed_dict import model_of

OF_THE_STACK = {
    *("namespace", "environment", "purpose", "pools", "volume_claim", "users", "gid", "pull_secret", "jobs", "labels"),
    "object_labels",
}
"""Arguments that the stack knows by itself."""


class NotebookSettings(model_of(NotebooksArgs, Section, without=OF_THE_STACK)):
    host: str
    """DNS name of the hub, for instance notebooks.example.com; where there are several teams, each has a hub of its
    own at <team>.<host>."""


def notebook_args(
    settings: NotebookSettings,
    environment: str,
    team: Mapping[str, Any],
    told: Mapping[str, Mapping[str, Any]],
    *,
    several: bool,
    cloud: str,
    region: str | None,
    purpose: str | None,
    usd_per_gpu_hour: Mapping[str, float],
) -> dict[str, Any]:
    """The plain arguments of one team's notebooks: all but volume_claim, pull_secret and jobs, which are outputs.

    team: namespace, labels and, if it has them, users and gid. told: the team's pools as jobs are told of them.
    several: whether the environment has more teams than this. usd_per_gpu_hour: by pool, as configured.
    """
    own = given(settings)
    if several:
        own["host"] = f"{team['namespace']}.{settings.host}"
    people = {key: team[key] for key in ("users", "gid") if team.get(key)}
    return {
        **own,
        **people,
        **({"purpose": purpose} if purpose else {}),
        "environment": environment,
        "namespace": team["namespace"],
        "labels": dict(team.get("labels", {})),
        "pools": notebook_pools(told, usd_per_gpu_hour, cloud, region),
    }


def notebook_pools(
    told: Mapping[str, Mapping[str, Any]], usd_per_gpu_hour: Mapping[str, float], cloud: str, region: str | None
) -> dict[str, dict[str, Any]]:
    """What notebooks have to know of each pool.

    Pools whose nodes are not of one known GPU model are left out: no label says what is on them. The price is as
    configured, else on demand, also of Spot pools: the most that it can be.
    """
    pools: dict[str, dict[str, Any]] = {}
    for name, facts in told.items():
        pool = pool_told(name, facts)
        if pool.gpu is None or pool.gpus is None:
            continue
        price = usd_per_gpu_hour[name] * pool.gpus if name in usd_per_gpu_hour else None
        if price is None and pool.place == CLOUD and pool.types and cloud in ("aws", "azure"):
            price = dearest([node_price(cloud, each, region) for each in pool.types]).usd
        taints = {"taints": list(pool.taints)} if pool.taints else {}
        known = {} if price is None else {"usd_per_hour": price}
        pools[name] = {"gpu": pool.gpu, "gpus": pool.gpus, "place": pool.place} | known | taints
    return pools
