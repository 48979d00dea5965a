"""The keys of an environment that is a Kubernetes cluster, the same on every cloud."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from gpufleet.kubernetes.mpi_operator import MpiOperatorArgs
from gpufleet.kubernetes.queue import QueueArgs
from gpufleet.kubernetes.shared_volume import SharedVolumeArgs
from gpufleet.kubernetes.team import TeamArgs
from gpufleet.pool import Pool, Taint
from notebook_settings import NotebookSettings
from settings import Section, SharedSettings
from typed_dict import model_of

PoolSettings = model_of(Pool, Section)
OperatorSettings = model_of(MpiOperatorArgs, Section, without={"labels"})
VolumeSettings = model_of(SharedVolumeArgs, Section, without={"namespace", "source", "zone", "labels"})


class TeamSettings(model_of(TeamArgs, Section, without={"namespace", "labels", "volume_claim"})):
    namespace: str = "training"
    """Namespace of its jobs."""


class TeamBudgetSettings(Section):
    usd_per_month: float
    """What the team's own pools may cost in a month, in USD, above 0."""
    emails: list[str]
    """Who hears of it."""
    actual_percents: list[float] | None = None
    """Percentages at which they hear that it has been spent. Default 80 and 100."""
    forecast_percents: list[float] | None = None
    """Percentages at which they hear that it will be by the end of the month. Default 100."""


class TeamsSettings(model_of(TeamArgs, Section, without={"namespace", "labels", "volume_claim"})):
    quota: dict[str, int] | None = None
    """GPUs of each pool that its jobs may hold at a time, for instance {v100: 8}; a pool that is not named is 0. With
    a queue, and only with one."""
    pools: list[str] | None = None
    """Pools that are this team's alone: no other team's jobs are told of them, and the nodes of a cloud carry the tag
    team. Default: none; all are shared."""
    budget: TeamBudgetSettings | None = None
    """A budget for these pools. Default: none."""


class QueueSettings(model_of(QueueArgs, Section, without={"flavors", "quotas", "topology", "local", "labels"})):
    order: list[str] | None = None
    """Pools in the order in which a job that may run on several takes the first with room for all of it. Default: own
    servers before place cloud, else by name."""


class OnClusterSettings(SharedSettings):
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
    teams: dict[str, TeamsSettings] = {}
    """Several teams instead of one, by their namespaces; `gpufleet jobs --team` says whose."""
    usd_per_gpu_hour: dict[str, Annotated[float, Field(ge=0)]] = {}
    """What an hour of one GPU costs, by pool: own servers, which are in no price list, or reserved nodes. For
    `gpufleet usage`; default: by the catalog, and of own servers unknown."""
    volume: VolumeSettings = VolumeSettings()
    """The shared files as a volume of the team's namespace, which jobs mount at /mnt."""
    notebooks: NotebookSettings | None = None
    """JupyterHub for each team: see docs/notebooks.md. Default: none."""
    queue: QueueSettings | None = None
    """Kueue: jobs wait until all of their workers fit, and go on to the next pool where the first is full. Each pool
    lies in one zone then, with GPUs of one model. Default: none."""

    @property
    def priced_in(self) -> str | None:
        """The cloud's region, by which its nodes are priced; None where they are nobody's but your own."""
        return None

    @property
    def every_pool(self) -> Mapping[str, Any]:
        """All pools of the cluster by name: the cloud's, and own servers that have joined it."""
        return self.pools
