"""The stack's output `first_job`: commands that a user pastes as they stand, and that need no data."""

from collections.abc import Mapping, Sequence
from typing import Any

from gpufleet.config.environment import Environment
from gpufleet.platform.config import PlatformConfig
from gpufleet.platform.teams import owners_of, team_option
from gpufleet.typed_dicts import pick

_PROGRAM = "python3 train.py --synthetic"
"""It makes its data in memory: nothing is on the volume of a new environment."""
_WORKERS = 2


def first_job(
    environment: str, repositories: Sequence[str], options: str = "", *, team: str = "", build: bool = True
) -> str:
    """The command that builds the example's image, and the one that submits the job.

    repositories: those of the environment's registry; the first is named where there are several. options: of `jobs
    submit`, beside the team, the image and the program. team: the option that names it. build: whether the image is
    built first.
    """
    several = len(repositories) > 1
    repository = f" --repository {repositories[0]}" if several else ""
    # Where the environment has no registry, nothing can be built, and only the user knows an image.
    named = f" --image {repositories[0]}" if several else "" if repositories else " --image REGISTRY/IMAGE:TAG"
    options = f" {options}" if options else ""
    submit = f"gpufleet jobs submit {environment}{team}{named}{options} --follow -- {_PROGRAM}"
    if build and repositories:
        return f"gpufleet images build {environment}{team}{repository} examples/train && {submit}"
    return submit


def pool_options(pools: Mapping[str, Mapping[str, Any]], size: str = "--workers") -> str:
    """The pool, where there are several, and the number of workers: two where it has so many nodes.

    The first pool with a network for training (EFA, InfiniBand) is chosen, since it is what the environment pays for.
    size: the option that says how many. The environment's check rejects pools without a number of nodes.
    """
    fast = (name for name, pool in pools.items() if pool.get("network", "plain") != "plain")
    chosen = next(fast, next(iter(pools), None))
    most = pools[chosen].get("max", _WORKERS) if chosen is not None else _WORKERS
    number = f"{size} {min(_WORKERS, most) if isinstance(most, int) else _WORKERS}"
    return f"--pool {chosen} {number}" if len(pools) > 1 else number


def cluster_job(env: Environment[Any], repositories: Sequence[str], *, any_place: bool = False) -> str:
    """The same on an environment's cluster, for its first team. any_place: on its own servers too."""
    config = pick(PlatformConfig, env.config)
    owners, first = owners_of(config), next(iter(config.get("teams") or {}), None)
    pools = {name: pool for name, pool in env.config["pools"].items() if owners.get(name, first) == first}
    options = f"--workers {_WORKERS} --place any" if any_place else pool_options(pools)
    return first_job(env.name, repositories, options, team=team_option(config))


def repository_names(registry: Mapping[str, Any]) -> list[str]:
    """The repositories of a registry's configuration, as commands name them."""
    return [*registry.get("repositories", ()), *registry.get("existing_repositories", ())]
