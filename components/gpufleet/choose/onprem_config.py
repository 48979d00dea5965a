"""Own servers as pools of an environment: `onprem`, or beside what a cloud rents out, `hybrid`."""

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from gpufleet.choose.onprem_servers import PricedServers
from gpufleet.pools.node_labels import label_value
from gpufleet.rules.aws.onprem_servers import pool_once
from gpufleet.rules.kubernetes.onprem_nodes import validate_onprem_nodes, validate_pool_overlap
from gpufleet.rules.rule import Finding

ONPREM, HYBRID = "onprem", "hybrid"


def onprem_pools(servers: Sequence[PricedServers]) -> dict[str, dict[str, Any]]:
    """Each group as the arguments of a pool, by the pool's name: all of its servers, whatever a run takes of them.

    Where the list does not name them, they are counted through: lab-1, lab-2.
    """
    return {name: _pool(name, each) for name, each in _named(servers).items()}


def prices(servers: Sequence[PricedServers]) -> dict[str, float]:
    """USD for an hour of one GPU, by the pool's name, of those whose price is known."""
    return {
        name: round(each.usd_per_hour / each.gpus, 6)
        for name, each in _named(servers).items()
        if each.usd_per_hour is not None
    }


def onprem_keys(stack: str, servers: Sequence[PricedServers]) -> dict[str, Any]:
    """The keys that say them. stack: ONPREM or HYBRID."""
    pools = onprem_pools(servers)
    keys: dict[str, Any] = {"gpufleet:pools": pools}
    if stack == HYBRID:
        keys = {"gpufleet:own_servers": {"pools": pools}}
    return keys | ({"gpufleet:usd_per_gpu_hour": found} if (found := prices(servers)) else {})


def onprem_findings(config: Mapping[str, Any]) -> list[Finding]:
    """What the rules say of own pools in a configuration."""
    rented: Mapping[str, Any] = config.get("gpufleet:pools", {})
    pools = config.get("gpufleet:own_servers", {}).get("pools", {})
    if config["gpufleet:cloud"] == ONPREM:
        pools, rented = rented, {}
    apart = validate_pool_overlap({name: pool["nodes"] for name, pool in pools.items()})
    once = [pool_once(pool=name, elsewhere=list(rented)) for name in pools]
    return [*chain.from_iterable(map(validate_onprem_nodes, pools.values())), *once, *apart]


def remarks(stack: str, servers: Sequence[PricedServers], taken: int | None) -> list[str]:
    """What a reader has to do. taken: nodes of the run that are own servers, None where it is a cloud's."""
    guessed = [name for name, each in _named(servers).items() if not each.nodes]
    names = "`kubectl get nodes` prints" if stack == ONPREM else "you call the servers"
    lines = [f"Replace the names of nodes of {', '.join(guessed)} by what {names}."] if guessed else []
    if taken:
        lines.append(f"The run takes {taken} of them: gpufleet jobs submit --workers {taken}")
    if stack == HYBRID:
        lines.append("gpufleet:own_servers needs networks, nfs, nodeadm and cilium.bgp too: docs/hybrid.md.")
    else:
        lines.append("The environment needs gpufleet:kubeconfig and gpufleet:nfs too: docs/onprem.md.")
    return lines


def _named(servers: Sequence[PricedServers]) -> dict[str, PricedServers]:
    """Groups by pool name (lower-case letters, digits and -); a name that occurs twice gets a number."""
    found: dict[str, PricedServers] = {}
    for each in servers:
        name = re.sub("[^a-z0-9]+", "-", each.name.lower()).strip("-") or "own"
        found[name if name not in found else f"{name}-{len(found) + 1}"] = each
    return found


def _pool(name: str, each: PricedServers) -> dict[str, Any]:
    nodes = list(each.nodes) or [f"{name}-{number}" for number in range(1, each.count + 1)]
    pool = {"gpu": label_value(each.gpu_model), "gpus": each.gpus, "nodes": nodes}
    return pool | ({} if each.place == "onprem" else {"place": label_value(each.place)})
