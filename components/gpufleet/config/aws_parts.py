"""Arguments of the parts of an AWS environment, from its configuration."""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

from gpufleet.aws.autoscaler_identity import AutoscalerIdentity
from gpufleet.aws.budget import BudgetArgs
from gpufleet.aws.cluster import Cluster, ClusterConfig
from gpufleet.aws.existing_cluster import ExistingCluster
from gpufleet.aws.network import Network
from gpufleet.aws.remote_networks import RemoteNetworks
from gpufleet.aws.shared_files import SharedFilesConfig
from gpufleet.config.aws import AwsConfig
from gpufleet.config.aws_account import AwsAccountConfig
from gpufleet.config.environment import Environment
from gpufleet.kubernetes.autoscaler import AutoscalerArgs
from gpufleet.platform.environment import FilesZone
from gpufleet.platform.pool import PlatformPool
from gpufleet.platform.pools import Software, needed_software
from gpufleet.platform.teams import budgets_of, team_tag
from gpufleet.rules.aws.cluster import rejected_zones
from gpufleet.typed_dicts import pick


class JoinedCluster(TypedDict, total=False):
    """What a cluster needs to know of on-prem servers that join it."""

    remote_networks: RemoteNetworks
    efs_driver: bool


class FilesOfEnvironment(SharedFilesConfig):
    """The shared files, and where and for whom they are made."""

    zones: Sequence[str]
    zone_names: Mapping[str, str]
    region: str
    tags: Mapping[str, str]
    erase: bool


class ClusterSoftware(TypedDict):
    """What is installed on the cluster, and the autoscaler's arguments where it is among that."""

    software: Sequence[Software]
    autoscaler: NotRequired[AutoscalerArgs]


def cluster_of(env: Environment[AwsConfig], network: Network) -> Cluster | ExistingCluster:
    """The EKS cluster: the environment's own, called like it, or the one that the configuration names."""
    config, region = env.config, env.config["region"]
    if "existing_cluster" in config:
        return ExistingCluster(config["existing_cluster"], region)
    zones = config["network"]["zones"]
    refused = rejected_zones(region, zones)
    cluster: ClusterConfig = {"zones": [zone for zone in zones if zone not in refused], **config["cluster"]}
    joined: JoinedCluster = {}
    if "own_servers" in config:
        # No pod mounts EFS then: its driver does not run on on-prem servers.
        joined = {"remote_networks": config["own_servers"]["networks"], "efs_driver": False}
    return Cluster(
        env.part("cluster"),
        **cluster,
        **joined,
        **network.for_cluster(),
        region=region,
        tags=env.tags,
        cluster_name=env.name,
    )


def files_config(env: Environment[AwsAccountConfig]) -> FilesOfEnvironment:
    """The file system; One Zone files have a single mount target."""
    config, files = env.config, env.config["files"]
    return {
        **files,
        "zones": [files["one_zone"]] if "one_zone" in files else config["network"]["zones"],
        "zone_names": config["zone_names"],
        "region": config["region"],
        "tags": env.tags,
        "erase": config["erase"],
    }


def files_zone(config: AwsConfig) -> FilesZone:
    """The zone of One Zone files; nothing for others."""
    return {"files_zone": config["files"]["one_zone"]} if "one_zone" in config["files"] else {}


def cluster_software(
    env: Environment[AwsConfig], cluster: Cluster | ExistingCluster, pools: Mapping[str, PlatformPool]
) -> ClusterSoftware:
    """As configured, else what the pools need, and nothing on a cluster that is somebody else's.

    Makes the autoscaler's identity, which is there before it and until it is gone.
    """
    config, region = env.config, env.config["region"]
    software: Sequence[Software] = []
    if "software" in config:
        software = config["software"]
    elif "existing_cluster" not in config:
        software = needed_software(pools, autoscaler=bool(config["pools"]))
    if "autoscaler" not in software:
        return {"software": software}
    name = env.part("autoscaler-identity")
    identity = AutoscalerIdentity(name, cluster_name=cluster.cluster_name, region=region, tags=env.tags)
    links = {"cluster_name": identity.cluster_name, "region": region}
    return {"software": software, "autoscaler": pick(AutoscalerArgs, {**config["autoscaler"], **links})}


def environment_budget(env: Environment[AwsAccountConfig]) -> dict[str, BudgetArgs]:
    """The environment's budget by the name of its component; empty without one."""
    if "budget" not in env.config:
        return {}
    return {env.part("budget"): {**env.config["budget"], "environment": env.name, "tags": env.tags}}


def team_budgets(env: Environment[AwsConfig]) -> dict[str, BudgetArgs]:
    """Each team's budget by the name of its component."""
    return {
        env.part(f"budget-{team}"): {
            **budget,
            "environment": env.name,
            "team": team_tag(env.name, team),
            "tags": env.tags,
        }
        for team, budget in budgets_of(env.config).items()
    }
