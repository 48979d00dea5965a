"""What an environment has on its Kubernetes cluster, the same on every cloud: plugins, operator, team and volume."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import pulumi

import notebook_parts
import queueing
import teams
from cluster_settings import OnClusterSettings
from gpufleet.kubernetes.device_plugin import DevicePlugin, DevicePluginArgs
from gpufleet.kubernetes.efa_plugin import EfaPlugin, EfaPluginArgs
from gpufleet.kubernetes.mpi_operator import MpiOperator, MpiOperatorArgs, known_checksums
from gpufleet.kubernetes.queue import Queue, QueueArgs, local_queue
from gpufleet.kubernetes.shared_volume import SharedVolume, SharedVolumeArgs
from gpufleet.kubernetes.team import Team, TeamArgs
from gpufleet.pool import Taint
from gpufleet.rules.kubernetes.operator import judge_mpi_operator
from gpufleet.rules.kubernetes.plugin import judge_device_plugin, judge_efa_plugin
from gpufleet.rules.kubernetes.volume import judge_shared_volume
from gpufleet.rules.rule import Finding
from ngc_key import judge_configured_team
from parts import labels as ownership
from settings import given

BOTTLEROCKET = "bottlerocket"
"""Its image brings NVIDIA's device plugin along."""


class Site(NamedTuple):
    """A cluster to install on.

    provider: of its API. settled: what has to be there before anything is installed, and to stay until it is gone:
    nodes and add-ons. own: whether the environment made the cluster. files: of the shared volume. zone: of files that
    can be mounted in one zone only.
    """

    provider: pulumi.ProviderResource
    settled: Sequence[pulumi.Resource]
    own: bool
    files: Mapping[str, Any]
    zone: str | None = None

    def options(self, *needed: pulumi.Resource) -> pulumi.ResourceOptions:
        """Of what is installed on the cluster, after `needed` too."""
        return pulumi.ResourceOptions(provider=self.provider, depends_on=[*self.settled, *needed])


def software(settings: OnClusterSettings, *, own: bool) -> Sequence[str]:
    """What is installed: as configured, else what the pools need, and nothing on a cluster that is not the stack's."""
    if settings.software is not None:
        return settings.software
    if not own:
        return ()
    pools = [given(pool) for pool in settings.every_pool.values()]
    plugin = any(pool.get("image") != BOTTLEROCKET for pool in pools)
    efa = any(pool.get("network") == "efa" for pool in pools)
    autoscaler = bool(settings.pools) and not settings.SCALES_ITSELF
    needed = {"device-plugin": plugin, "efa-plugin": efa, "mpi-operator": True, "autoscaler": autoscaler}
    return [name for name, is_needed in needed.items() if is_needed]


def arguments(
    environment: str, settings: OnClusterSettings, files: Mapping[str, Any], zone: str | None
) -> dict[str, Any]:
    """The arguments of each part, by its name: plain values but for the files."""
    labels = {"labels": ownership(environment, settings)}
    tolerations = {"tolerations": taints(settings)} if taints(settings) else {}
    there = {"source": files} | ({"zone": zone} if zone else {})
    every: dict[str, Any] = {}
    for namespace in teams.every(settings):
        end, own = teams.suffix(settings, namespace), teams.labels_of(settings, namespace, labels["labels"])
        every[f"team{end}"] = teams.team_args(settings, namespace, labels["labels"])
        every[f"volume{end}"] = given(settings.volume) | there | {"namespace": namespace, "labels": own}
    return {
        "device-plugin": labels | tolerations,
        "efa-plugin": labels | tolerations,
        "mpi-operator": given(settings.operator) | labels,
        "queue": labels,
    } | every


def taints(settings: OnClusterSettings) -> list[Taint]:
    """Every taint of every pool, once."""
    found = [taint for pool in settings.every_pool.values() for taint in taints_of(settings, pool)]
    return [taint for number, taint in enumerate(found) if taint not in found[:number]]


def taints_of(settings: OnClusterSettings, pool: Any) -> list[Taint]:  # noqa: ANN401 - a model made at run time
    """Taints of a pool's nodes, besides the one of all GPU nodes: as configured, and what the cloud adds to Spot."""
    own = [cast(Taint, given(taint)) for taint in pool.taints or ()]
    spot = [settings.SPOT_TAINT] if settings.SPOT_TAINT and pool.capacity == "spot" else []
    return own + [taint for taint in spot if taint not in own]


def judge(settings: OnClusterSettings, parts: Mapping[str, Any], *, own: bool) -> dict[str, list[Finding]]:
    """Findings on what will be installed, by its name."""
    judges = {
        "device-plugin": judge_device_plugin,
        "efa-plugin": judge_efa_plugin,
        "mpi-operator": lambda args: judge_mpi_operator(args, tuple(known_checksums())),
    }
    installed = {*software(settings, own=own)}
    for namespace in teams.every(settings):
        end = teams.suffix(settings, namespace)
        judges |= {f"team{end}": judge_configured_team, f"volume{end}": judge_shared_volume}
        installed |= {f"team{end}", f"volume{end}"}
    return {name: judged(parts[name]) for name, judged in judges.items() if name in installed}


def install(
    environment: str,
    settings: OnClusterSettings,
    site: Site,
    pools: Mapping[str, pulumi.Resource],
    told: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """Install everything, and return the stack's output `jobs`: what `gpufleet jobs` need not be told.

    told: every pool as jobs are told of it.

    The team comes after the pools and so goes before them: deleting its namespace ends its jobs and their services
    while the nodes and the file system are still there to let go of.
    """
    parts = arguments(environment, settings, site.files, site.zone)
    wanted = software(settings, own=site.own)
    if "device-plugin" in wanted:
        name = f"{environment}-device-plugin"
        DevicePlugin(name, cast(DevicePluginArgs, parts["device-plugin"]), site.options())
    if "efa-plugin" in wanted:
        EfaPlugin(f"{environment}-efa-plugin", cast(EfaPluginArgs, parts["efa-plugin"]), site.options())
    operators: list[pulumi.Resource] = []
    if "mpi-operator" in wanted:
        operator = cast(MpiOperatorArgs, parts["mpi-operator"])
        operators = [MpiOperator(f"{environment}-mpi-operator", operator, site.options())]
    before: list[pulumi.Resource] = [*pools.values()]
    queue = None
    if settings.queue is not None:
        queue = cast(QueueArgs, queueing.queue_of(settings, told) | parts["queue"])
        # Kueue looks for the kinds of jobs that it manages when it starts.
        before.append(Queue(f"{environment}-queue", {**queue, "local": False}, site.options(*operators)))
    made: dict[str, dict[str, Any]] = {}
    for namespace in teams.every(settings):
        made[namespace] = with_team(environment, settings, site, namespace, parts, before, queue, told)
    return teams.output(settings, made, told)


def with_team(
    environment: str,
    settings: OnClusterSettings,
    site: Site,
    namespace: str,
    parts: Mapping[str, Any],
    before: Sequence[pulumi.Resource],
    queue: QueueArgs | None,
    told: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """A team's namespace, volume and queue, and what its jobs need to know of them.

    parts: the arguments of each part. before: what outlives the team.
    """
    end = teams.suffix(settings, namespace)
    team = Team(f"{environment}-team{end}", cast(TeamArgs, parts[f"team{end}"]), site.options(*before))
    inside = pulumi.ResourceOptions.merge(
        site.options(team), pulumi.ResourceOptions(deleted_with=team.namespace_object)
    )
    volume = SharedVolume(
        f"{environment}-volume{end}",
        cast(SharedVolumeArgs, parts[f"volume{end}"]),
        pulumi.ResourceOptions.merge(site.options(), pulumi.ResourceOptions(deleted_with=team.namespace_object)),
    )
    queued: dict[str, Any] = {}
    if queue is not None:
        queued["queue"] = local_queue(f"{environment}-queue", namespace, queue.get("labels", {}), inside)
    made = queued | {
        "namespace": team.namespace,
        "service_account": team.service_account,
        "image_pull_secret": team.pull_secret,
        "volume_claim": volume.claim,
    }
    notebook_parts.install(environment, settings, namespace, made, told, inside)
    return made


def told(environment: str, settings: OnClusterSettings) -> dict[str, dict[str, Any]]:
    """The cloud's pools by name, as jobs see them. label: of their nodes, gpufleet.dev/pool."""

    def seen(pool: Any) -> dict[str, Any]:  # noqa: ANN401 - made at run time
        facts = given(pool)
        taints = taints_of(settings, pool)
        found = {key: facts[key] for key in ("types", "zones", "network", "max") if key in facts}
        return found | ({"taints": taints} if taints else {})

    return {name: seen(pool) | {"label": f"{environment}-{name}"} for name, pool in settings.pools.items()}
