"""A GPU pool, as what is installed on its cluster and the jobs on it need to know it."""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired

from gpufleet.jobs.stack_output import PoolOutput
from gpufleet.pools.eks_pool import Taint
from gpufleet.pools.node_labels import label_value

ONPREM = "onprem"
"""Default place of on-prem servers."""
VPC_CNI, CILIUM = "vpc-cni", "cilium"
"""Networks of pods in a cluster of AWS that own servers have joined: of its cloud nodes, and of these servers."""


class PlatformPool(PoolOutput):
    """A pool as its jobs see it, and what a queue has to know besides."""

    min: NotRequired[int]
    """Fewest nodes. Default 0."""


def cloud_pool(name: str, args: Mapping[str, Any], more_taints: Sequence[Taint] = ()) -> PlatformPool:
    """A cloud's pool, from the arguments of its node group. more_taints: what the cloud adds to its nodes by itself."""
    pool: PlatformPool = {"label": name}
    for key in ("types", "zones", "network", "capacity", "min", "max", "image"):
        if key in args:
            pool[key] = args[key]
    own = [*args.get("taints", ())]
    if taints := [*own, *(taint for taint in more_taints if taint not in own)]:
        pool["taints"] = taints
    return pool


def onprem_pool(name: str, args: Mapping[str, Any]) -> PlatformPool:
    """A pool of on-prem servers, from the arguments of `NodeLabels`."""
    place = args.get("place", ONPREM)
    pool: PlatformPool = {
        "gpu": label_value(args["gpu"]),
        "gpus": args["gpus"],
        "place": place,
        "zones": [args.get("zone", place)],
        "max": len(args["nodes"]),
        "label": name,
    }
    if args.get("taints"):
        pool["taints"] = args["taints"]
    return pool
