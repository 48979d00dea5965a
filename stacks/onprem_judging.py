"""Judge an environment on an own cluster by its settings, before its first resource."""

from typing import Any

import notebook_parts
import on_cluster
import own_pools
import queueing
import teams
from gpufleet.kubernetes.kubeconfig_text import kubeconfig_faults
from gpufleet.refusal import refuse_stack
from gpufleet.rules.judged import Judged
from gpufleet.rules.kubernetes.own_nodes import judge_own_cluster, judge_own_nodes
from gpufleet.rules.kubernetes.plugin import judge_gpu_operator
from gpufleet.rules.rule import Finding
from onprem_settings import OnpremSettings
from parts import named
from settings import given

GPU_OPERATOR = "gpu-operator"


def refuse(environment: str, settings: OnpremSettings) -> None:
    """Judge every part by its plain values, so that one preview shows all faults and nothing is half made."""
    pools = {name: given(pool) for name, pool in settings.pools.items()}
    judged: dict[str, list[Finding]] = {name: judge_own_nodes(pool) for name, pool in pools.items()}
    on_it = on_cluster.arguments(environment, settings, files_of(settings), None)
    judged |= on_cluster.judge(settings, on_it, own=True)
    if GPU_OPERATOR in installed(settings):
        judged[GPU_OPERATOR] = judge_gpu_operator(gpu_operator_of(settings))
    whole = judge_own_cluster(
        {name: pool["nodes"] for name, pool in pools.items()},
        kubeconfig_faults(settings.kubeconfig),
        installed(settings),
    )
    told = own_pools.told(environment, settings.pools)
    together = queueing.judge(environment, settings, told)
    together += teams.judge(environment, settings, told, access_point=False)
    together += notebook_parts.judge(environment, settings, told)
    refuse_stack(named(environment, judged), [*(Judged(environment, each) for each in whole), *together])


def files_of(settings: OnpremSettings) -> dict[str, Any]:
    """The shared volume's source."""
    return {"nfs": settings.nfs}


def installed(settings: OnpremSettings) -> list[str]:
    """What is installed on the cluster."""
    return list(on_cluster.software(settings, own=True))


def gpu_operator_of(settings: OnpremSettings) -> dict[str, Any]:
    """The GPU operator's arguments but its labels."""
    taints = on_cluster.taints(settings)
    return given(settings.gpu_operator) | ({"tolerations": taints} if taints else {})
