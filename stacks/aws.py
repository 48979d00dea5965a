"""An environment for multi-node GPU training on AWS: network, EKS, GPU pools, shared files and a registry."""

import pulumi

from gpufleet import aws
from gpufleet.checks.aws import check_aws
from gpufleet.config import aws_parts, onprem_servers
from gpufleet.config.aws import AwsConfig
from gpufleet.config.environment import Environment
from gpufleet.config.first_job import cluster_job, repository_names
from gpufleet.config.registry import image_mirror, registry_config
from gpufleet.kubernetes import cluster_provider
from gpufleet.platform import TrainingPlatform, cloud_pool
from gpufleet.platform.environment import platform_owner
from gpufleet.platform.teams import pool_tags

env = Environment.load(AwsConfig)
config, part, region, tags = env.config, env.part, env.config["region"], env.tags

with env.gathering(*onprem_servers.SHARED_ARGUMENTS):
    check_aws(env)
    network = aws.Network(part("network"), **config["network"], region=region, tags=tags, cluster_name=env.name)
    cluster = aws_parts.cluster_of(env, network)
    joining, subnets = cluster.for_nodes(), network.for_nodes()
    groups = {
        name: aws.GpuNodeGroup(
            part(name), **pool, **joining, **subnets, region=region, tags=tags | pool_tags(env.name, config, name)
        )
        for name, pool in config["pools"].items()
    }
    images, roles = registry_config(env), aws_parts.pull_roles(config, cluster, groups)
    registry = aws.Registry(
        part("registry"), **images, pull_role_names=roles, region=region, tags=tags, erase=config["erase"]
    )
    image_mirror(env)
    onprem_servers.site_link(env, network)
    for name, budget in aws_parts.budgets(env).items():
        aws.Budget(name, **budget)

    # Their networks are let in before the line is up: over it, one reaches the cluster's API from there.
    hybrid = onprem_servers.hybrid_nodes(env, joining)
    files = None if hybrid else aws_parts.cluster_files(env, network, cluster)
    aws_parts.data_sync(env, files)
    rented = {name: cloud_pool(part(name), pool) for name, pool in config["pools"].items()}
    pools = onprem_servers.all_pools(env, rented)
    software = aws_parts.cluster_software(env, cluster)
    if onprem_servers.installs_on_cluster(config):
        provider = cluster_provider(part("kubernetes"), cluster.kubeconfig)
        # Images may come through the registry; a job that is ended lets go of its files, and mount targets.
        before = [*cluster.resources, registry, *([files] if files else [])]
        on_cluster = pulumi.ResourceOptions(provider=provider, depends_on=before)
        onprem_servers.on_cluster(env, cluster, hybrid, on_cluster)
        platform = TrainingPlatform(
            env.name,
            **platform_owner(env),
            **software,
            **aws_parts.files_zone(config),
            pools=pools,
            node_groups={name: group.node_group_name for name, group in groups.items()},
            files=files.for_volume() if files else onprem_servers.volume(config),
            cloud="aws",
            region=region,
            opts=on_cluster,
        )
        first_job = cluster_job(env, repository_names(config["registry"]), any_place="own_servers" in config)
        env.export(jobs=platform.jobs, first_job=first_job, **platform.notebooks_output)

env.export(
    cluster_name=cluster.cluster_name,
    kubeconfig=cluster.kubeconfig,
    registry_urls=registry.repository_urls,
    node_groups={name: group.node_group_name for name, group in groups.items()},
    **onprem_servers.phase_output(config),
)
