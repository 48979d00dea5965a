"""An environment for multi-node GPU training on your own Kubernetes cluster: nothing is made in any cloud.

Nodes, network and the NFS server are there already. This labels the nodes by GPU type and place, and installs what
every environment has on its cluster.
"""

from typing import Any, cast

import pulumi

import on_cluster
import own_pools
import teams
from gpufleet.kubernetes.gpu_operator import GpuOperator, GpuOperatorArgs
from gpufleet.kubernetes.node_place import OwnNodes, OwnNodesArgs
from gpufleet.kubernetes.provider import cluster_provider
from onprem_judging import GPU_OPERATOR, files_of, gpu_operator_of, installed, refuse
from onprem_settings import OnpremSettings
from settings import given


def build(environment: str, settings: OnpremSettings) -> dict[str, pulumi.Input[Any]]:
    """Register everything and return the stack's outputs.

    Errors: pulumi.RunError with every fault of every part, one line each, before anything is registered.
    """
    refuse(environment, settings)
    site = on_cluster.Site(
        provider=cluster_provider(f"{environment}-kubernetes", settings.kubeconfig),
        settled=[],
        own=True,
        files=files_of(settings),
    )
    pools = {
        name: OwnNodes(f"{environment}-{name}", cast(OwnNodesArgs, given(pool)), site.options())
        for name, pool in settings.pools.items()
    }
    if GPU_OPERATOR in installed(settings):
        # Its labels go on pods of drivers, which a move of the environment's end must not restart.
        args = gpu_operator_of(settings) | {"labels": {"gpufleet.dev/environment": environment}}
        GpuOperator(f"{environment}-{GPU_OPERATOR}", cast(GpuOperatorArgs, args), site.options())
    jobs = on_cluster.install(environment, settings, site, pools, own_pools.told(environment, settings.pools))
    whose = f"{environment}{teams.option(settings)}"
    return {
        "kubeconfig": pulumi.Output.secret(settings.kubeconfig),
        "registry_urls": settings.repositories,
        "jobs": jobs,
        "first_job": f"gpufleet jobs submit {whose} --workers 2 --place any --follow -- python3 train.py",
    }
