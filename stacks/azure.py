"""An environment for multi-node GPU training on Azure: an AKS cluster, Azure Batch, or both, on one storage account."""

from typing import Any

import pulumi

from gpufleet import azure
from gpufleet.azure.batch_pool import BatchPoolConfig
from gpufleet.checks.azure import check_azure
from gpufleet.config import azure_parts
from gpufleet.config.azure import AzureConfig
from gpufleet.config.environment import Environment
from gpufleet.kubernetes import cluster_provider
from gpufleet.platform import TrainingPlatform
from gpufleet.platform.environment import PlatformSoftware, platform_owner
from gpufleet.platform.teams import pool_tags
from gpufleet.typed_dicts import pick

env = Environment.load(AzureConfig)
config, part, erase = env.config, env.part, env.config["erase"]
jobs: dict[str, Any] = {"on": "kubernetes" if "cluster" in config else "azure-batch", "project": config["project"]}

with env.gathering():
    group = azure.ResourceGroup(env.name, **azure_parts.group_config(config), region=config["location"], tags=env.tags)
    check_azure(env)
    base = group.for_parts()
    network = azure.Network(part("network"), **config["network"], **base)
    nodes = azure.NodeIdentity(part("nodes"), **base, **azure_parts.vault_of(config))
    endpoint = network.for_endpoint()
    clients = network.for_clients(nodes="cluster" in config, batch="batch" in config)
    own, kept = config["files"], pick(azure_parts.KeptFiles, config)
    files = azure.SharedFiles(part("files"), **own, **base, **clients, **endpoint, **nodes.for_files(), **kept)
    images, place = config["registry"], azure_parts.endpoint_of(config["registry"], network)
    registry = azure.Registry(part("registry"), **images, **base, **place, **nodes.for_registry(), erase=erase)
    if "cluster" in config:
        cluster = azure.Cluster(
            part("cluster"), **config["cluster"], **base, **network.for_cluster(), registry_id=registry.registry_id
        )
        subnet, joining = network.for_nodes(), cluster.for_nodes()
        groups: dict[str, pulumi.Input[str]] = {}
        for name, pool in config["pools"].items():
            tagged = group.for_parts(pool_tags(env.name, config, name))
            groups[name] = azure.GpuNodeGroup(part(name), **pool, **joining, **subnet, **tagged).pool_name
        pods, record = network.for_clients(nodes=True), files.for_access_logs()
        share = azure.NfsShare(part("share"), **config["share"], **base, **pods, **record, erase=erase)
        provider = cluster_provider(part("kubernetes"), cluster.kubeconfig)
        platform = TrainingPlatform(
            env.name,
            **platform_owner(env),
            **pick(PlatformSoftware, config),
            pools=azure_parts.platform_pools(env),
            node_groups=groups,
            files={"azure_files": share.place},
            cloud="azure",
            region=config["location"],
            opts=pulumi.ResourceOptions(provider=provider, depends_on=[cluster, share]),
        )
        jobs |= platform.jobs
        env.export(cluster_name=cluster.cluster_name, kubeconfig=cluster.kubeconfig, **platform.notebooks_output)
    if "batch" in config:
        account = azure.BatchAccount(part("batch"), **config["batch"]["account"], **base, **nodes.for_batch())
        links = azure_parts.batch_links(group, network, nodes, registry, account)
        # Nodes mount and pull as soon as they start: the rights are there before, and until they are gone.
        after = pulumi.ResourceOptions(depends_on=[files, registry])
        batch: dict[str, azure.BatchPool] = {}
        for name, each in config["batch"]["pools"].items():
            intent, mounts = pick(BatchPoolConfig, each), files.for_pool(each.get("mounts"))
            batch[name] = azure.BatchPool(part(name), **intent, **links, **mounts, opts=after)
        jobs["azure_batch"] = azure_parts.batch_output(env, group, nodes, files, account, batch)
    for name, budget in azure_parts.budgets(env, group).items():
        azure.Budget(name, **budget)

env.export(
    resource_group=group.resource_group_name,
    storage_account=files.account_name,
    registry_urls=registry.repository_urls,
    jobs=jobs,
    **azure_parts.first_jobs(env),
)
