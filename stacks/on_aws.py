"""An environment for multi-node GPU training on AWS: network, EKS, GPU pools, shared files and a registry."""

from typing import Any, NamedTuple, cast

import pulumi

import aws_link
import on_cluster
import own_servers
import teams
from aws_judging import refuse
from aws_mirror import mirror_of
from aws_parts import autoscaler_of, cluster_of, control_zones, volume_files
from aws_settings import AwsSettings
from aws_surroundings import files_of, network_of, own, registry_for, watch_costs
from gpufleet.aws.autoscaler_identity import AutoscalerIdentity, AutoscalerIdentityArgs
from gpufleet.aws.budget import Budget, BudgetArgs
from gpufleet.aws.cluster import Cluster, ClusterArgs
from gpufleet.aws.gpu_node_group import GpuNodeGroup, GpuNodeGroupArgs
from gpufleet.aws.kubeconfig import kubeconfig
from gpufleet.aws.network import Network
from gpufleet.aws.shared_files import SharedFiles
from gpufleet.kubernetes.autoscaler import Autoscaler, AutoscalerArgs
from gpufleet.kubernetes.provider import cluster_provider
from parts import tags
from settings import given


def build(environment: str, settings: AwsSettings) -> dict[str, pulumi.Input[Any]]:
    """Register everything and return the stack's outputs.

    Errors: pulumi.RunError with every fault of every part, one line each, before anything is registered.
    """
    refuse(environment, settings)
    # Karpenter's tag goes on subnets that are made here; those of an existing VPC are their owner's.
    network = network_of(environment, settings, **({} if settings.network.vpc_id else {"cluster_name": environment}))
    cluster = existing_cluster(settings) if settings.existing_cluster else new_cluster(environment, settings, network)
    pools = {
        pool: GpuNodeGroup(
            f"{environment}-{pool}",
            cast(
                GpuNodeGroupArgs,
                given(intent)
                | pool_own(environment, settings, pool)
                | cluster.joining
                | {"vpc_id": network.vpc_id, "subnet_ids": network.node_subnet_ids},
            ),
        )
        for pool, intent in settings.pools.items()
    }
    files = shared_files(environment, settings, network, cluster)
    registry = registry_for(environment, settings)
    watch_costs(environment, settings)
    for team, args in teams.budgets(environment, settings).items():
        Budget(f"{environment}-budget-{team}", cast(BudgetArgs, args | {"tags": tags(environment, settings)}))
    site = on_cluster.Site(
        provider=cluster_provider(f"{environment}-kubernetes", cluster.kubeconfig),
        # Mount targets too: a job that is ended lets go of its files.
        settled=[*cluster.settled, *([files] if files else [])],
        own=settings.existing_cluster is None,
        files=volume_files(settings, files and files.file_system_id, files and files.access_point_id),
        zone=settings.files.one_zone,
    )
    own_servers.network(environment, settings, site.options())
    told = own_servers.told(environment, settings)
    jobs = on_cluster.install(environment, settings, site, pools, told)
    if "autoscaler" in on_cluster.software(settings, own=site.own):
        autoscaler(environment, settings, cluster, site)
    outputs = aws_link.linked(environment, settings, network)
    if files is not None:
        outputs |= {"file_system_id": files.file_system_id, "access_point_id": files.access_point_id}
    if settings.own_servers is not None:
        outputs["own_servers"] = own_servers.join(environment, settings, cluster.joining, cluster.version)
    anywhere = " --place any" if settings.own_servers else ""
    whose = f"{environment}{teams.option(settings)}"
    return (
        outputs
        | mirror_of(environment, settings)
        | {
            "cluster_name": cluster.name,
            "kubeconfig": cluster.kubeconfig,
            "registry_urls": registry.repository_urls,
            "node_groups": {pool: group.node_group_name for pool, group in pools.items()},
            "jobs": jobs,
            "first_job": f"gpufleet images build {whose} examples/train && "
            f"gpufleet jobs submit {whose} --workers 2{anywhere} --follow -- python3 train.py",
        }
    )


def pool_own(environment: str, settings: AwsSettings, pool: str) -> dict[str, Any]:
    """What every component gets, with the tag of the team whose own the pool is."""
    more = teams.pool_tags(environment, settings, pool)
    return own(environment, settings) | {"tags": tags(environment, settings) | more}


def shared_files(
    environment: str, settings: AwsSettings, network: Network, cluster: "ClusterLinks"
) -> SharedFiles | None:
    """EFS; none where own servers say where the files are."""
    if settings.own_servers is not None:
        return None
    return files_of(environment, settings, network, {"nodes": cluster.joining["cluster_security_group_id"]})


def autoscaler(environment: str, settings: AwsSettings, cluster: "ClusterLinks", site: on_cluster.Site) -> None:
    """The autoscaler and its rights, which are there before it and until it is gone."""
    identity = AutoscalerIdentity(
        f"{environment}-autoscaler-identity",
        cast(
            AutoscalerIdentityArgs,
            {"cluster_name": cluster.name, "region": settings.region, "tags": tags(environment, settings)},
        ),
    )
    Autoscaler(
        f"{environment}-autoscaler",
        cast(AutoscalerArgs, autoscaler_of(settings) | {"cluster_name": identity.cluster_name}),
        site.options(identity),
    )


class ClusterLinks(NamedTuple):
    """What the rest of the stack takes from a cluster, new or existing.

    joining: arguments of node groups. settled: the cluster with its nodes and add-ons, where the stack makes it.
    """

    name: pulumi.Input[str]
    kubeconfig: pulumi.Output[str]
    joining: dict[str, Any]
    settled: list[pulumi.Resource]
    version: pulumi.Input[str] = ""
    """Of Kubernetes, where the stack makes it."""


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
    return ClusterLinks(cluster.cluster_name, cluster.kubeconfig, joining, [cluster], cluster.version)


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
    return ClusterLinks(cluster.name, pulumi.Output.secret(config), joining, [])
