"""Arguments of an environment's platform, from its configuration."""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict, TypeVar

from gpufleet.config.environment import Environment
from gpufleet.platform.config import PlatformConfig
from gpufleet.platform.pools import Software
from gpufleet.typed_dicts import pick


class PlatformOwner(PlatformConfig):
    """A platform's configuration and its owner."""

    environment: str
    """Name of the environment: a label on what restarts when its labels change."""
    project: str
    """Its project: a label of its jobs."""
    purpose: NotRequired[str]
    """Its purpose within the project. Default: none."""
    labels: NotRequired[Mapping[str, str]]
    """Labels of the objects, for instance owner, project, environment, expires-at; none of pods, which a change would
    restart."""


class PlatformSoftware(TypedDict):
    """The software on the cluster, if the configuration lists it."""

    software: NotRequired[Sequence[Software]]
    """What is installed: device-plugin or gpu-operator, efa-plugin, mpi-operator, jobset, autoscaler, dcgm-exporter,
    node-health, monitoring. Default: what the pools need, mpi-operator, dcgm-exporter; autoscaler where its arguments
    are given."""


class FilesZone(TypedDict):
    """The zone of the shared files, if they can be mounted in one zone only."""

    files_zone: NotRequired[str]
    """Zone id of files that can be mounted in one zone only. Default: any zone."""


C = TypeVar("C", bound=Mapping[str, Any])


def platform_owner(env: Environment[C]) -> PlatformOwner:
    """The keys of an environment's configuration that its platform takes, with its name and labels."""
    own = {"environment": env.name, "labels": env.labels}
    return pick(PlatformOwner, {**env.config, **own})
