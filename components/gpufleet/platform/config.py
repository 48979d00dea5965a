"""What an environment says of its cluster's software, teams, volume, queue and notebooks: the same on every cloud."""

from collections.abc import Mapping, Sequence
from typing import Annotated, NotRequired, TypedDict

from gpufleet.kubernetes.dcgm_exporter import DcgmExporterConfig
from gpufleet.kubernetes.device_plugin import DevicePluginConfig
from gpufleet.kubernetes.jobset_controller import JobSetConfig
from gpufleet.kubernetes.monitoring import MonitoringConfig
from gpufleet.kubernetes.mpi_operator import MpiOperatorConfig
from gpufleet.kubernetes.node_health import NodeHealthConfig
from gpufleet.kubernetes.notebooks import NotebooksConfig
from gpufleet.kubernetes.queue import QueueConfig
from gpufleet.kubernetes.shared_volume import SharedVolumeConfig
from gpufleet.kubernetes.team import TeamConfig
from gpufleet.typed_dicts import NumberRange


class SingleTeamConfig(TeamConfig):
    """The only team."""

    namespace: NotRequired[str]
    """Namespace of its jobs. Default training."""


class TeamBudgetConfig(TypedDict):
    """A budget for a team's own pools."""

    usd_per_month: Annotated[float, NumberRange(0, above=True)]
    """What the team's own pools may cost in a month, in USD, above 0."""
    emails: Sequence[str]
    """Who hears of it."""
    actual_percents: NotRequired[Sequence[float]]
    """Percentages at which they hear that it has been spent. Default 80 and 100."""
    forecast_percents: NotRequired[Sequence[float]]
    """Percentages at which they hear that it will be by the end of the month. Default 100."""


class TeamOfSeveralConfig(TeamConfig):
    """One of several teams, by its namespace."""

    quota: NotRequired[Mapping[str, int]]
    """GPUs of each pool that its jobs may hold at a time, for instance {v100: 8}; a pool that is not named is 0. With
    a queue, and only with one."""
    pools: NotRequired[Sequence[str]]
    """Pools that are this team's alone: other teams' jobs do not see them, and the nodes of a cloud carry the tag
    team. Default: none; all are shared."""
    budget: NotRequired[TeamBudgetConfig]
    """A budget for these pools. Default: none."""


class PoolQueueConfig(QueueConfig):
    """The queue, and the order in which it fills pools."""

    order: NotRequired[Sequence[str]]
    """Pools in the order in which a job that may run on several takes the first with room for all of it. Default: own
    servers before place cloud, else by name."""


class TeamNotebooksConfig(NotebooksConfig):
    """JupyterHub, and on which side of a cluster it is."""

    place: NotRequired[str]
    """Place of the nodes that hub and notebooks run on, where own servers have joined a cloud's cluster: cloud, or the
    servers'. Pools of another place have no profile. Default cloud."""


class PlatformConfig(TypedDict):
    """What is on a cluster besides its nodes."""

    device_plugin: NotRequired[DevicePluginConfig]
    """NVIDIA's device plugin."""
    dcgm_exporter: NotRequired[DcgmExporterConfig]
    """NVIDIA's exporter of GPU metrics, which tells `gpufleet ps` whether jobs compute."""
    node_health: NotRequired[NodeHealthConfig]
    """The program that cordons bad GPU nodes, where software names it: see docs/health.md."""
    monitoring: NotRequired[MonitoringConfig]
    """Prometheus and Grafana, where software names monitoring: see docs/dashboards.md."""
    operator: NotRequired[MpiOperatorConfig]
    """What runs MPI jobs."""
    jobset: NotRequired[JobSetConfig]
    """What runs jobs of torchrun, where software names it: see docs/jobs.md."""
    team: NotRequired[SingleTeamConfig]
    """Who trains here: a namespace with its service account, registry login and network policies."""
    teams: NotRequired[Mapping[str, TeamOfSeveralConfig]]
    """Several teams instead of one, by their namespaces; `gpufleet jobs --team` says whose."""
    usd_per_gpu_hour: NotRequired[Mapping[str, float]]
    """What an hour of one GPU costs, by pool: on-prem servers, which are in no price list, or reserved nodes. For
    `gpufleet usage`; default: by the catalog, and of on-prem servers unknown."""
    volume: NotRequired[SharedVolumeConfig]
    """The shared files as a volume of the team's namespace, which jobs mount at /mnt."""
    notebooks: NotRequired[TeamNotebooksConfig]
    """JupyterHub for each team: see docs/notebooks.md. Where there are several teams, each has its own hub at
    <team>.<host>. Default: none."""
    queue: NotRequired[PoolQueueConfig]
    """Kueue: jobs wait until all of their workers fit, and continue to the next pool where the first is full. Each pool
    lies in one zone then, with GPUs of one model. Default: none."""
