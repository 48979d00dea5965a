"""What the platform of an environment takes from its configuration."""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict, TypeVar

from gpufleet.config.environment import Environment
from gpufleet.platform.config import PlatformConfig
from gpufleet.platform.pools import Software
from gpufleet.platform.teams import team_option
from gpufleet.typed_dicts import pick


class PlatformOwner(PlatformConfig):
    """A platform's configuration, and whose it is."""

    environment: str
    """Name of the environment: a label on what restarts when its labels change."""
    project: str
    """What it is for: a label of its jobs."""
    purpose: NotRequired[str]
    """Why it is there, within the project. Default: the project says enough."""
    labels: NotRequired[Mapping[str, str]]
    """Labels of the objects, for instance owner, project, environment, expires-at; none of pods, which a change would
    restart."""


class PlatformSoftware(TypedDict):
    """What is installed, where the configuration says it."""

    software: NotRequired[Sequence[Software]]
    """What is installed: device-plugin or gpu-operator, efa-plugin, mpi-operator, autoscaler. Default: what the pools
    need; autoscaler where its arguments are given."""


C = TypeVar("C", bound=Mapping[str, Any])


def first_job(env: Environment[C], *, place: str | None = None, size: str = "--workers 2", build: bool = True) -> str:
    """The commands of the environment's first job, for its output. build: whether its image is built before."""
    team = f"{env.name}{team_option(pick(PlatformConfig, env.config))}"
    where = f" --place {place}" if place else ""
    image = f"gpufleet images build {team} examples/train && " if build else ""
    return f"{image}gpufleet jobs submit {team} {size}{where} --follow -- python3 train.py"


def platform_owner(env: Environment[C]) -> PlatformOwner:
    """The keys of an environment's configuration that its platform takes, with its name and labels."""
    own = {"environment": env.name, "labels": env.labels}
    return pick(PlatformOwner, {**env.config, **own})
