"""What an environment has on its Kubernetes cluster, the same on every cloud: plugins, operator, team and volume."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import pulumi

from cluster_settings import OnClusterSettings
from gpufleet.kubernetes.device_plugin import DevicePlugin, DevicePluginArgs
from gpufleet.kubernetes.efa_plugin import EfaPlugin, EfaPluginArgs
from gpufleet.kubernetes.mpi_operator import MpiOperator, MpiOperatorArgs, known_checksums
from gpufleet.kubernetes.shared_volume import SharedVolume, SharedVolumeArgs
from gpufleet.kubernetes.team import Team, TeamArgs
from gpufleet.pool import Taint
from gpufleet.rules.kubernetes.operator import judge_mpi_operator
from gpufleet.rules.kubernetes.plugin import judge_device_plugin, judge_efa_plugin
from gpufleet.rules.kubernetes.team import judge_team
from gpufleet.rules.kubernetes.volume import judge_shared_volume
from gpufleet.rules.rule import Finding
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
    pools = [given(pool) for pool in settings.pools.values()]
    plugin = any(pool.get("image") != BOTTLEROCKET for pool in pools)
    efa = any(pool.get("network") == "efa" for pool in pools)
    autoscaler = bool(settings.pools) and not settings.SCALES_ITSELF
    needed = {"device-plugin": plugin, "efa-plugin": efa, "mpi-operator": True, "autoscaler": autoscaler}
    return [name for name, is_needed in needed.items() if is_needed]


def arguments(
    environment: str, settings: OnClusterSettings, files: Mapping[str, Any], zone: str | None
) -> dict[str, Any]:
    """The arguments of each part, by its name: plain values but for the files."""
    labels = {"labels": {"gpufleet.dev/environment": environment}}
    tolerations = {"tolerations": taints(settings)} if taints(settings) else {}
    there = {"namespace": settings.team.namespace, "source": files} | ({"zone": zone} if zone else {})
    return {
        "device-plugin": labels | tolerations,
        "efa-plugin": labels | tolerations,
        "mpi-operator": given(settings.operator) | labels,
        "team": given(settings.team) | labels,
        "volume": given(settings.volume) | there | labels,
    }


def taints(settings: OnClusterSettings) -> list[Taint]:
    """Every taint of every pool, once."""
    found = [taint for pool in settings.pools.values() for taint in taints_of(settings, pool)]
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
        "team": judge_team,
        "volume": judge_shared_volume,
    }
    installed = {*software(settings, own=own), "team", "volume"}
    return {name: judged(parts[name]) for name, judged in judges.items() if name in installed}


def install(
    environment: str, settings: OnClusterSettings, site: Site, pools: Mapping[str, pulumi.Resource]
) -> dict[str, Any]:
    """Install everything, and return the stack's output `jobs`: what `gpufleet jobs` need not be told.

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
    if "mpi-operator" in wanted:
        MpiOperator(f"{environment}-mpi-operator", cast(MpiOperatorArgs, parts["mpi-operator"]), site.options())
    team = Team(f"{environment}-team", cast(TeamArgs, parts["team"]), site.options(*pools.values()))
    volume = SharedVolume(
        f"{environment}-volume",
        cast(SharedVolumeArgs, parts["volume"]),
        pulumi.ResourceOptions.merge(site.options(), pulumi.ResourceOptions(deleted_with=team.namespace_object)),
    )
    return {
        "namespace": team.namespace,
        "service_account": team.service_account,
        "image_pull_secret": team.pull_secret,
        "volume_claim": volume.claim,
        "pools": {name: told(f"{environment}-{name}", settings, pool) for name, pool in settings.pools.items()},
    }


def told(label: str, settings: OnClusterSettings, pool: Any) -> dict[str, Any]:  # noqa: ANN401 - made at run time
    """A pool as jobs see it. label: of its nodes, gpufleet.dev/pool."""
    facts = given(pool)
    seen = {key: facts[key] for key in ("types", "zones", "network", "max") if key in facts}
    taints = taints_of(settings, pool)
    return seen | ({"taints": taints} if taints else {}) | {"label": label}
