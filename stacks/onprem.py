"""An environment for multi-node GPU training on your own Kubernetes cluster: nothing is made in any cloud.

Nodes, network and the NFS server are there already. This labels the nodes by GPU type and place, and installs what
every environment has on its cluster.
"""

import pulumi

from gpufleet.checks.onprem import check_onprem
from gpufleet.config.environment import Environment
from gpufleet.config.first_job import cluster_job
from gpufleet.config.onprem import OnpremConfig
from gpufleet.kubernetes import NodeLabels, cluster_provider
from gpufleet.platform import TrainingPlatform, onprem_pool
from gpufleet.platform.environment import PlatformSoftware, platform_owner
from gpufleet.typed_dicts import pick

env = Environment.load(OnpremConfig)
config, part = env.config, env.part

with env.gathering():
    pools = {name: onprem_pool(part(name), pool) for name, pool in config["pools"].items()}
    check_onprem(env, pools)
    on_cluster = pulumi.ResourceOptions(provider=cluster_provider(part("kubernetes"), config["kubeconfig"]))
    labelled = {name: NodeLabels(part(name), **pool, opts=on_cluster) for name, pool in config["pools"].items()}
    platform = TrainingPlatform(
        env.name,
        **platform_owner(env),
        **pick(PlatformSoftware, config),
        pools=pools,
        node_groups={name: nodes.pool for name, nodes in labelled.items()},
        files={"nfs": config["nfs"]},
        gpu_operator=config["gpu_operator"],
        opts=on_cluster,
    )

env.export(
    kubeconfig=pulumi.Output.secret(config["kubeconfig"]),
    registry_urls=config["repositories"],
    jobs=platform.jobs,
    first_job=cluster_job(env, [*config["repositories"]], any_place=True),
    **platform.notebooks_output,
)
