"""Which of an environment's pools a job may run on: by name, or by GPU type and place. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from gpufleet.errors import UserError
from gpufleet.jobs.pool_info import PoolInfo
from gpufleet.jobs.request import JobRequest
from gpufleet.jobs.settings import JobSettings
from gpufleet.pools.node_labels import CLOUD
from gpufleet.rules.messages import join_words, use_one_of

ANY_PLACE = "any"
"""The word of `--place` for every place."""


@dataclass(frozen=True)
class PoolSelection:
    """Pools that a job may run on, at least one, and the place that it takes first; None: there is nothing to prefer.

    place: the only one that it may run in; None: any.
    """

    pools: Sequence[PoolInfo]
    place: str | None = None
    prefer: str | None = None


def select_pools(settings: JobSettings, request: JobRequest) -> PoolSelection:
    """The pools for a request: those of its GPU type in its place, else as `JobSettings.pool` finds it.

    Errors: UserError, one line, for a pool, GPU type or place that the environment has not.
    """
    gpu, place, prefer = request.get("gpu"), request.get("place"), request.get("prefer")
    where = settings.environment
    if prefer is not None and place not in (None, ANY_PLACE):
        raise UserError(f"{where}: prefer={prefer}: has no effect with place={place}; leave one of them out")
    if gpu is None and place is None and prefer is None:
        return PoolSelection([settings.pool(request.get("pool"))])
    pools = [settings.pool(request["pool"])] if "pool" in request else list(settings.pools.values())
    if not pools:
        settings.pool(None)
    pools = _of(where, "gpu", gpu, pools)
    pools = _of(
        where, "place", None if place == ANY_PLACE else place, pools, (ANY_PLACE,), f" with gpu={gpu}" if gpu else ""
    )
    places = sorted({pool.place for pool in pools})
    if prefer is not None and prefer not in places:
        raise UserError(f"{where}: prefer={prefer}: no nodes there to choose from; {use_one_of(prefer, places)}")
    if len(places) == 1:
        return PoolSelection(pools, place=places[0])
    own = [each for each in places if each != CLOUD]
    # On-prem servers cost no more when they are used.
    return PoolSelection(pools, prefer=prefer or (own[0] if len(own) < len(places) else None))


def _of(
    where: str, key: str, wanted: str | None, pools: Sequence[PoolInfo], more: Sequence[str] = (), among: str = ""
) -> list[PoolInfo]:
    """The pools with this GPU type or place. Errors: UserError with those that there are."""
    found = [pool for pool in pools if wanted is None or getattr(pool, key) == wanted]
    if found:
        return found
    assert wanted is not None
    there = sorted({str(getattr(pool, key)) for pool in pools if getattr(pool, key)})
    if not there:
        names = join_words([pool.name for pool in pools], "and")
        raise UserError(f"{where}: {key}={wanted}: the {key} of pool {names} is not known; use --pool")
    raise UserError(f"{where}: {key}={wanted}: no pool has it{among}; {use_one_of(wanted, [*there, *more])}")
