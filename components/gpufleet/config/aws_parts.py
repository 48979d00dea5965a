"""Arguments of the parts of an AWS environment, from its configuration."""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import pulumi

from gpufleet.aws.autoscaler_identity import AutoscalerIdentity
from gpufleet.aws.budget import BudgetArgs
from gpufleet.aws.cluster import Cluster, ClusterConfig
from gpufleet.aws.data_sync import DataSync, DataSyncArgs
from gpufleet.aws.existing_cluster import ExistingCluster
from gpufleet.aws.gpu_node_group import GpuNodeGroup
from gpufleet.aws.lustre_files import LustreFiles, LustreFilesArgs
from gpufleet.aws.managed_prometheus import ManagedPrometheus, ManagedPrometheusArgs
from gpufleet.aws.network import Network
from gpufleet.aws.remote_networks import RemoteNetworks
from gpufleet.aws.shared_files import DEFAULT_DIRECTORY, SharedFiles, SharedFilesConfig
from gpufleet.config.aws import AwsConfig
from gpufleet.config.aws_account import AwsAccountConfig
from gpufleet.config.environment import Environment
from gpufleet.kubernetes.autoscaler import AutoscalerArgs
from gpufleet.kubernetes.efa_plugin import EfaPluginConfig
from gpufleet.kubernetes.remote_write import RemoteWrite
from gpufleet.platform.environment import FilesZone
from gpufleet.platform.monitoring import needs_ebs_class
from gpufleet.platform.notebooks import needs_cloud_volume
from gpufleet.platform.pools import Software, needed_software
from gpufleet.platform.teams import budgets_of, team_tag
from gpufleet.rules.aws.cluster import rejected_zones
from gpufleet.typed_dicts import pick


class ClusterUse(TypedDict, total=False):
    """What a cluster needs to know of what is on it: on-prem servers that join it, and volumes of its pods."""

    remote_networks: RemoteNetworks
    efs_driver: bool
    ebs_driver: bool
    fsx_driver: bool


class FilesOfEnvironment(SharedFilesConfig):
    """The shared files, and where and for whom they are made."""

    zones: Sequence[str]
    zone_names: Mapping[str, str]
    region: str
    tags: Mapping[str, str]
    erase: bool


class ClusterSoftware(TypedDict):
    """What is installed on the cluster, and the arguments of what is among that."""

    software: Sequence[Software]
    ebs_driver: bool
    efa_plugin: NotRequired[EfaPluginConfig]
    autoscaler: NotRequired[AutoscalerArgs]
    remote_write: NotRequired[RemoteWrite]


def cluster_of(env: Environment[AwsConfig], network: Network) -> Cluster | ExistingCluster:
    """The EKS cluster: the environment's own, called like it, or the one that the configuration names."""
    config, region = env.config, env.config["region"]
    if "existing_cluster" in config:
        return ExistingCluster(config["existing_cluster"], region)
    zones = config["network"]["zones"]
    refused = rejected_zones(region, zones)
    cluster: ClusterConfig = {"zones": [zone for zone in zones if zone not in refused], **config["cluster"]}
    use: ClusterUse = {"ebs_driver": needs_ebs(config)}
    if "lustre" in config:
        use |= {"efs_driver": False, "fsx_driver": True}
    if "own_servers" in config:
        # No pod mounts EFS then: its driver does not run on on-prem servers.
        use |= {"remote_networks": config["own_servers"]["networks"], "efs_driver": False}
    return Cluster(
        env.part("cluster"),
        **cluster,
        **use,
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


def shared_files(
    env: Environment[AwsAccountConfig], network: Network, cluster: Cluster | ExistingCluster
) -> SharedFiles:
    """The file system, and the outputs that name it."""
    args = files_config(env)
    files = SharedFiles(env.part("files"), **args, **network.for_files(), **cluster.for_files())
    env.export(file_system_id=files.file_system_id, access_point_id=files.access_point_id)
    return files


def cluster_files(
    env: Environment[AwsConfig], network: Network, cluster: Cluster | ExistingCluster
) -> SharedFiles | LustreFiles:
    """The shared files of the cluster's pods, on FSx for Lustre or on EFS, and the outputs that name them."""
    if "lustre" not in env.config:
        return shared_files(env, network, cluster)
    config = env.config
    links = {**network.for_files(), **cluster.for_files(), "region": config["region"], "tags": env.tags}
    args = pick(LustreFilesArgs, {**config["lustre"], **links, "erase": config["erase"]})
    files = LustreFiles(env.part("lustre"), **args)
    env.export(file_system_id=files.file_system_id, mount_address=files.mount_address)
    return files


def data_sync(env: Environment[AwsAccountConfig], files: SharedFiles | LustreFiles | None) -> None:
    """The copy of own files, where the configuration has one. files: the shared files, if there are any."""
    if "data_sync" not in env.config:
        return
    wanted = env.config["data_sync"]
    if wanted["to"] == "efs" and not isinstance(files, SharedFiles):
        # The environment's check has rejected it.
        return
    directory = env.config["files"].get("directory", DEFAULT_DIRECTORY)
    # Jobs see this directory of the file system as their /mnt.
    link = files.for_sync() if isinstance(files, SharedFiles) else {}
    place = {**link, "cloud_path": f"{directory.rstrip('/')}/data"} if wanted["to"] == "efs" else {}
    args = pick(DataSyncArgs, {**place, **wanted, "region": env.config["region"], "tags": env.tags})
    env.export(data_sync=DataSync(env.part("data-sync"), **args).task_arn)


def files_zone(config: AwsConfig) -> FilesZone:
    """The zone of One Zone files; nothing for others."""
    return {"files_zone": config["files"]["one_zone"]} if "one_zone" in config["files"] else {}


def software_of(config: AwsConfig) -> Sequence[Software]:
    """As configured, else what the pools need, and nothing on a cluster that is somebody else's."""
    if "software" in config or "existing_cluster" in config:
        return config.get("software", [])
    return needed_software(pools_of(config), autoscaler=bool(config["pools"]))


def needs_ebs(config: AwsConfig) -> bool:
    """Whether notebooks or Prometheus keep their data on volumes of EBS, on a cluster that is made here."""
    if "existing_cluster" in config:
        return False
    hub = "notebooks" in config and needs_cloud_volume(config["notebooks"])
    return hub or ("monitoring" in software_of(config) and needs_ebs_class(config.get("monitoring", {})))


def pools_of(config: AwsConfig) -> dict[str, Mapping[str, Any]]:
    """The arguments of every pool, the cloud's and those of on-prem servers."""
    own = config["own_servers"]["pools"] if "own_servers" in config else {}
    return {**config["pools"], **own}


def cluster_software(env: Environment[AwsConfig], cluster: Cluster | ExistingCluster) -> ClusterSoftware:
    """What is installed on the cluster.

    Makes the identities of the autoscaler and of Prometheus, which are there before these and until they are gone.
    """
    config, region = env.config, env.config["region"]
    software = software_of(config)
    whole: dict[str, Any] = {"software": software, "ebs_driver": needs_ebs(config)}
    if "efa_plugin" in config:
        whole["efa_plugin"] = config["efa_plugin"]
    if "managed_prometheus" in config:
        own = {"cluster_name": cluster.cluster_name, "region": region, "tags": env.tags, "erase": config["erase"]}
        args = pick(ManagedPrometheusArgs, {**config["managed_prometheus"], **own})
        prometheus = ManagedPrometheus(env.part("prometheus"), **args)
        env.export(prometheus_workspace=prometheus.workspace_id)
        whole["remote_write"] = prometheus.for_monitoring()
    if "autoscaler" not in software:
        return pick(ClusterSoftware, whole)
    name = env.part("autoscaler-identity")
    identity = AutoscalerIdentity(name, cluster_name=cluster.cluster_name, region=region, tags=env.tags)
    links = {"cluster_name": identity.cluster_name, "region": region}
    return pick(ClusterSoftware, {**whole, "autoscaler": {**config["autoscaler"], **links}})


def pull_roles(
    config: AwsConfig, cluster: Cluster | ExistingCluster, groups: Mapping[str, GpuNodeGroup]
) -> dict[str, pulumi.Input[str]]:
    """The roles of nodes that may fill the registry's caches: those made here, whose rights nobody else has."""
    if (config.get("existing_cluster") or config["cluster"]).get("node_role_arn") is not None:
        return {}
    if isinstance(cluster, Cluster):
        return {"nodes": cluster.node_role_name}
    return {name: group.node_role_arn.apply(lambda arn: arn.rsplit("/", 1)[-1]) for name, group in groups.items()}


def environment_budget(env: Environment[AwsAccountConfig]) -> dict[str, BudgetArgs]:
    """The environment's budget by the name of its component; empty without one."""
    if "budget" not in env.config:
        return {}
    return {env.part("budget"): {**env.config["budget"], "environment": env.name, "tags": env.tags}}


def budgets(env: Environment[AwsConfig]) -> dict[str, BudgetArgs]:
    """The budgets of the environment and of its teams, by the names of their components."""
    return environment_budget(env) | {
        env.part(f"budget-{team}"): {
            **budget,
            "environment": env.name,
            "team": team_tag(env.name, team),
            "tags": env.tags,
        }
        for team, budget in budgets_of(env.config).items()
    }
