"""An environment for multi-node GPU training on AWS: network, EKS, GPU pools, shared files and a registry."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar, cast

import pulumi
from pydantic import BaseModel

from aws_settings import AwsSettings
from gpufleet.aws.addons import ADDONS
from gpufleet.aws.budget import Budget, BudgetArgs
from gpufleet.aws.cluster import Cluster, ClusterArgs
from gpufleet.aws.gpu_node_group import GpuNodeGroup, GpuNodeGroupArgs
from gpufleet.aws.kubeconfig import kubeconfig
from gpufleet.aws.network import DEFAULT_CIDR, DEFAULT_MAX_ZONES, Network, NetworkArgs
from gpufleet.aws.registry import Registry, RegistryArgs
from gpufleet.aws.shared_files import SharedFiles, SharedFilesArgs
from gpufleet.aws.system_nodes import SystemNodes
from gpufleet.catalog import aws
from gpufleet.plan.quotas import judge_quotas
from gpufleet.refusal import refuse_stack
from gpufleet.rules import (
    judge_budget,
    judge_cluster,
    judge_network,
    judge_pool,
    judge_registry,
    judge_shared_files,
)
from gpufleet.rules.address_plan import judge_address_plan
from gpufleet.rules.cluster import judge_control_zones
from gpufleet.rules.cluster_access import judge_cluster_access
from gpufleet.rules.existing_network import judge_existing_network
from gpufleet.rules.registry_host import judge_registry_host
from gpufleet.rules.system_nodes import judge_system_nodes

T = TypeVar("T")


def build(environment: str, settings: AwsSettings) -> dict[str, pulumi.Input[Any]]:
    """Register everything and return the stack's outputs.

    Errors: pulumi.RunError with every fault of every part, one line each, before anything is registered.
    """
    refuse(environment, settings)
    own = {"region": settings.region, "tags": tags(environment, settings)}
    # Karpenter's tag goes on subnets that are made here; those of an existing VPC are their owner's.
    found_by = {} if settings.network.vpc_id else {"cluster_name": environment}
    network = Network(f"{environment}-network", cast(NetworkArgs, given(settings.network) | own | found_by))
    cluster = existing_cluster(settings) if settings.existing_cluster else new_cluster(environment, settings, network)
    pools = {
        pool: GpuNodeGroup(
            f"{environment}-{pool}",
            cast(
                GpuNodeGroupArgs,
                given(intent)
                | own
                | cluster.joining
                | {"vpc_id": network.vpc_id, "subnet_ids": network.node_subnet_ids},
            ),
        )
        for pool, intent in settings.pools.items()
    }
    files = SharedFiles(
        f"{environment}-files",
        cast(
            SharedFilesArgs,
            given(settings.files)
            | own
            | {
                "zones": mounted_zones(settings),
                "zone_names": settings.zone_names,
                "vpc_id": network.vpc_id,
                "subnet_ids": network.private_subnet_ids,
                "client_security_group_ids": {"nodes": cluster.joining["cluster_security_group_id"]},
                "erase": settings.erase,
            },
        ),
    )
    registry = Registry(
        f"{environment}-registry",
        cast(RegistryArgs, registry_of(environment, settings) | own | {"erase": settings.erase}),
    )
    if settings.budget is not None:
        watched = given(settings.budget) | {"environment": environment, "tags": tags(environment, settings)}
        Budget(f"{environment}-budget", cast(BudgetArgs, watched))
    return {
        "cluster_name": cluster.name,
        "kubeconfig": cluster.kubeconfig,
        "file_system_id": files.file_system_id,
        "access_point_id": files.access_point_id,
        "registry_urls": registry.repository_urls,
        "node_groups": {pool: group.node_group_name for pool, group in pools.items()},
    }


class ClusterLinks(NamedTuple):
    """What the rest of the stack takes from a cluster, new or existing. joining: arguments of node groups."""

    name: pulumi.Input[str]
    kubeconfig: pulumi.Output[str]
    joining: dict[str, Any]


def new_cluster(environment: str, settings: AwsSettings, network: Network) -> ClusterLinks:
    """An EKS cluster of the environment's own, called like it."""
    zones = control_zones(settings)
    cluster = Cluster(
        f"{environment}-cluster",
        cast(
            ClusterArgs,
            cluster_of(settings)
            | {
                "region": settings.region,
                "tags": tags(environment, settings),
                "cluster_name": environment,
                "subnet_ids": {zone: network.private_subnet_ids[zone] for zone in zones},
                # Where EKS puts no control planes, EC2 offers few types but GPUs: no m7i.large in use1-az3.
                "node_subnet_ids": {zone: network.node_subnet_ids[zone] for zone in zones},
            },
        ),
    )
    joining = {
        "cluster_name": cluster.ready,
        "cluster_security_group_id": cluster.cluster_security_group_id,
        "node_role_arn": cluster.node_role_arn,
        "cluster_endpoint": cluster.endpoint,
        "cluster_certificate_authority": cluster.certificate_authority,
        "service_cidr": cluster.service_cidr,
    }
    return ClusterLinks(cluster.cluster_name, cluster.kubeconfig, joining)


def existing_cluster(settings: AwsSettings) -> ClusterLinks:
    """The cluster that the configuration names; its add-ons and system nodes are its owner's."""
    cluster = settings.existing_cluster
    assert cluster is not None
    joining = {
        "cluster_name": cluster.name,
        "cluster_security_group_id": cluster.security_group_id,
        "cluster_endpoint": cluster.endpoint,
        "cluster_certificate_authority": cluster.certificate_authority,
    }
    joining |= {"service_cidr": cluster.service_cidr} if cluster.service_cidr else {}
    joining |= {"node_role_arn": cluster.node_role_arn} if cluster.node_role_arn else {}
    config = kubeconfig(cluster.name, cluster.endpoint, cluster.certificate_authority, settings.region)
    return ClusterLinks(cluster.name, pulumi.Output.secret(config), joining)


def refuse(environment: str, settings: AwsSettings) -> None:
    """Judge every part by its plain values, so that one preview shows all faults and nothing is half made."""
    region = {"region": settings.region}
    clients = {"client_security_group_ids": {"nodes": "the cluster's"}}
    files = {"zones": mounted_zones(settings), "zone_names": settings.zone_names} | clients
    pools = {pool: given(intent) for pool, intent in settings.pools.items()}
    network = given(settings.network) | region
    registry = registry_of(environment, settings) | region
    judged = {
        "network": [*judge_network(network), *judge_existing_network(network)],
        "files": judge_shared_files(given(settings.files) | region | files),
        "registry": [*judge_registry(registry), *judge_registry_host(registry)],
        **{pool: judge_pool(intent, settings.region) for pool, intent in pools.items()},
    }
    whole = list(judge_quotas(environment, named(environment, pools), settings.region, quotas_of(settings)))
    if settings.network.vpc_id is None:
        judged["network"] += judge_address_plan(network, DEFAULT_CIDR, DEFAULT_MAX_ZONES)
    if settings.budget is not None:
        judged["budget"] = judge_budget(given(settings.budget) | {"environment": environment})
    if settings.existing_cluster is None:
        cluster = cluster_of(settings)
        judged["cluster"] = [
            *judge_cluster(cluster | region | {"zones": control_zones(settings)}, "zones", refused_zones(settings)),
            *judge_control_zones(settings.cluster.zones or (), settings.network.zones),
            *judge_cluster_access(cluster, ADDONS),
            *judge_system_nodes(cluster, (SystemNodes.types, SystemNodes.min, SystemNodes.max, SystemNodes.disk_gib)),
        ]
    refuse_stack(named(environment, judged), whole)


def named(environment: str, parts: Mapping[str, T]) -> dict[str, T]:
    """The parts of the stack by their logical names."""
    return {f"{environment}-{part}": value for part, value in parts.items()}


def control_zones(settings: AwsSettings) -> list[str]:
    """Zones of the control plane: as configured, else those of the network that EKS does not refuse."""
    if settings.cluster.zones is not None:
        return list(settings.cluster.zones)
    refused = refused_zones(settings)
    return [zone for zone in settings.network.zones if zone not in refused]


def refused_zones(settings: AwsSettings) -> list[str]:
    """Zones of the network in which EKS puts no control planes, as far as the catalog knows them."""
    known = aws().regions.get(settings.region, {})
    return [zone for zone in settings.network.zones if zone in known and not known[zone].eks_control_plane]


def cluster_of(settings: AwsSettings) -> dict[str, Any]:
    """The cluster's arguments but those that the stack fills in."""
    return {key: value for key, value in given(settings.cluster).items() if key != "zones"}


def quotas_of(settings: AwsSettings) -> list[dict[str, Any]]:
    """The limits of the account that the configuration gives."""
    return [given(quota) for quota in settings.quotas]


def mounted_zones(settings: AwsSettings) -> Sequence[str]:
    """Zones with a mount target: all that have nodes; One Zone files have a single one."""
    return [settings.files.one_zone] if settings.files.one_zone else settings.network.zones


def registry_of(environment: str, settings: AwsSettings) -> dict[str, Any]:
    """The registry's arguments. Repository names are shared by the whole account: the environment's goes in front."""
    registry = given(settings.registry)
    return registry | {"repositories": [f"{environment}/{name}" for name in registry.get("repositories", [])]}


def tags(environment: str, settings: AwsSettings) -> dict[str, str]:
    """Tags of every resource: by them `gpufleet adopt` and the bill find an environment's things."""
    expires = settings.expires_at.isoformat() if settings.expires_at else "never"
    own = {"owner": settings.owner, "project": settings.project, "environment": environment, "expires-at": expires}
    return settings.tags | own


def given(settings: BaseModel) -> dict[str, Any]:
    """The arguments that the configuration really gives; the components know the defaults."""
    return settings.model_dump(exclude_none=True)
