"""An environment for multi-node GPU training on AWS: network, EKS, GPU pools, shared files and a registry."""

from pathlib import Path

import pulumi

from gpufleet import aws
from gpufleet.checks.aws import check_aws
from gpufleet.config.aws import AwsConfig
from gpufleet.config.aws_parts import (
    budgets,
    cluster_of,
    cluster_software,
    data_sync,
    files_config,
    files_zone,
    pull_roles,
)
from gpufleet.config.environment import Environment
from gpufleet.config.first_job import cluster_job, repository_names
from gpufleet.config.onprem_servers import (
    SHARED_ARGUMENTS,
    all_pools,
    hybrid_args,
    installs_on_cluster,
    onprem_servers,
    site_link,
)
from gpufleet.config.registry import image_mirror, registry_config
from gpufleet.kubernetes import cluster_provider
from gpufleet.kubernetes.volume_source import VolumeSource
from gpufleet.platform import TrainingPlatform, cloud_pool
from gpufleet.platform.environment import platform_owner
from gpufleet.platform.teams import pool_tags

env = Environment.load(AwsConfig)
config, part, region, tags = env.config, env.part, env.config["region"], env.tags

with env.gathering(*SHARED_ARGUMENTS):
    check_aws(env)
    network = aws.Network(part("network"), **config["network"], region=region, tags=tags, cluster_name=env.name)
    cluster = cluster_of(env, network)
    joining, subnets = cluster.for_nodes(), network.for_nodes()
    groups = {
        name: aws.GpuNodeGroup(
            part(name), **pool, **joining, **subnets, region=region, tags=tags | pool_tags(env.name, config, name)
        )
        for name, pool in config["pools"].items()
    }
    images, roles = registry_config(env), pull_roles(config, cluster, groups)
    registry = aws.Registry(
        part("registry"), **images, pull_role_names=roles, region=region, tags=tags, erase=config["erase"]
    )
    image_mirror(env, Path(__file__).parents[1])
    site_link(env, network)
    for name, budget in budgets(env).items():
        aws.Budget(name, **budget)

    # Images of the software may come through the registry.
    before = [*cluster.resources, registry]
    hybrid = None
    if "own_servers" in config:
        own = config["own_servers"]
        source: VolumeSource = {"nfs": own["nfs"]}
        # Their networks are let in before the line is up: over it, one reaches the cluster's API from there.
        hybrid = aws.HybridNodes(part("own-servers"), **hybrid_args(env, own, joining))
        data_sync(env, {})
    else:
        files = aws.SharedFiles(part("files"), **files_config(env), **network.for_files(), **cluster.for_files())
        source = files.for_volume()
        data_sync(env, files.for_sync())
        # Mount targets too: a job that is ended lets go of its files.
        before.append(files)
        env.export(file_system_id=files.file_system_id, access_point_id=files.access_point_id)
    pools = all_pools(env, {name: cloud_pool(part(name), pool) for name, pool in config["pools"].items()})
    software = cluster_software(env, cluster)
    if installs_on_cluster(config):
        provider = cluster_provider(part("kubernetes"), cluster.kubeconfig)
        on_cluster = pulumi.ResourceOptions(provider=provider, depends_on=before)
        if hybrid is not None:
            onprem_servers(env, config["own_servers"], cluster, hybrid, on_cluster)
        platform = TrainingPlatform(
            env.name,
            **platform_owner(env),
            **software,
            **files_zone(config),
            pools=pools,
            node_groups={name: group.node_group_name for name, group in groups.items()},
            files=source,
            cloud="aws",
            region=region,
            opts=on_cluster,
        )
        first_job = cluster_job(env, repository_names(config["registry"]), any_place="own_servers" in config)
        env.export(jobs=platform.jobs, first_job=first_job)
        if "notebooks" in config:
            env.export(notebooks=platform.notebooks)

env.export(
    cluster_name=cluster.cluster_name,
    kubeconfig=cluster.kubeconfig,
    registry_urls=registry.repository_urls,
    node_groups={name: group.node_group_name for name, group in groups.items()},
)
if "own_servers" in config or "phase" in config:
    env.export(phase="cluster" if installs_on_cluster(config) else "cloud")
