"""The network that an image is built for: what NCCL needs to train over it is in the image, not on the node."""

from collections.abc import Iterable, Mapping

from gpufleet.errors import UserError
from gpufleet.jobs.pool_info import PoolInfo
from gpufleet.rules.messages import join_words

ARGUMENT = "NETWORK"
"""The build argument, plain, efa or infiniband, of a Dockerfile that can be built for each; see examples/train."""

_PLAIN = "plain"


def network_argument(pools: Iterable[PoolInfo], declared: Iterable[str], environment: str) -> Mapping[str, str]:
    """The build argument NETWORK: the pools' EFA or InfiniBand, else plain. Empty for a Dockerfile without it.

    An image for EFA or InfiniBand is for all pools of the environment: on the others, jobs train over TCP with it.
    declared: names of the build arguments that the Dockerfile has. Errors: UserError where pools have both networks.
    """
    if ARGUMENT not in declared:
        return {}
    networks = {pool.name: pool.network for pool in pools if pool.network != _PLAIN}
    known = sorted(set(networks.values()))
    if len(known) > 1:
        choices = [f"{ARGUMENT}={each}" for each in known]
        each = "; ".join(f"{name}: {network}" for name, network in networks.items())
        raise UserError(f"{environment}: which network? use --build-arg {join_words(choices)} ({each})")
    return {ARGUMENT: known[0] if known else _PLAIN}
