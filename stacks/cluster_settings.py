"""The keys of an environment that is a Kubernetes cluster, the same on every cloud."""

from typing import ClassVar, Literal

from gpufleet.kubernetes.mpi_operator import MpiOperatorArgs
from gpufleet.kubernetes.shared_volume import SharedVolumeArgs
from gpufleet.kubernetes.team import TeamArgs
from gpufleet.pool import Pool, Taint
from settings import Section
from typed_dict import model_of

PoolSettings = model_of(Pool, Section)
OperatorSettings = model_of(MpiOperatorArgs, Section, without={"labels"})
VolumeSettings = model_of(SharedVolumeArgs, Section, without={"namespace", "source", "zone", "labels"})


class TeamSettings(model_of(TeamArgs, Section, without={"namespace", "labels"})):
    namespace: str = "training"
    """Namespace of its jobs."""


class OnClusterSettings(Section):
    """Its pools and what is installed on it."""

    SCALES_ITSELF: ClassVar[bool] = False
    """Whether the cloud's clusters bring their autoscaler along."""
    SPOT_TAINT: ClassVar[Taint | None] = None
    """What the cloud puts on Spot nodes by itself."""

    pools: dict[str, PoolSettings] = {}
    """GPU node groups by name."""
    software: list[Literal["device-plugin", "efa-plugin", "mpi-operator", "autoscaler"]] | None = None
    """What is installed on the cluster: device-plugin, efa-plugin, mpi-operator, autoscaler. Default: what the pools
    need; on an existing cluster nothing, it is its owner's."""
    operator: OperatorSettings = OperatorSettings()
    """What runs MPI jobs."""
    team: TeamSettings = TeamSettings()
    """Who trains here: a namespace with its service account, registry login and network policies."""
    volume: VolumeSettings = VolumeSettings()
    """The shared files as a volume of the team's namespace, which jobs mount at /mnt."""
