"""Whether nodes of the type that a job's workers run on have as many GPUs as each worker wants."""

from collections.abc import Mapping
from typing import Any

from gpufleet.jobs.kubernetes.api import KubernetesApi, KubernetesApiError

GPU = "nvidia.com/gpu"
TYPE = "node.kubernetes.io/instance-type"


def gpu_capacity_error(api: KubernetesApi, worker: Mapping[str, Any]) -> str | None:
    """The fault of a worker that no node will ever take; None: it fits, or no node is there that would tell.

    Nodes of one instance type are alike, so that those which are there speak for those that are still to come. It
    helps with types that the catalog lacks; the others are validated before.
    """
    selector = worker.get("nodeSelector") or {}
    limits = (worker["containers"][0].get("resources") or {}).get("limits") or {}
    wanted = int(limits.get(GPU) or 0)
    if TYPE not in selector or wanted == 0:
        return None
    most, node = max(_gpus(api, selector[TYPE]), default=(0, ""))
    # 0: the device plugin has not come up yet.
    if most == 0 or wanted <= most:
        return None
    return (
        f"gpus_per_worker={wanted}: nodes of type {selector[TYPE]} have at most {most}, such as {node}; "
        f"use {most} or fewer"
    )


def _gpus(api: KubernetesApi, type_name: str) -> list[tuple[int, str]]:
    """GPUs and names of a type's nodes; none where nodes may not be looked at."""
    try:
        answer = api.find("/api/v1/nodes", labelSelector=f"{TYPE}={type_name}", limit=100) or {}
    except KubernetesApiError as error:
        if error.status != 403:
            raise
        return []
    return [
        (int((node["status"].get("capacity") or {}).get(GPU) or 0), str(node["metadata"]["name"]))
        for node in answer.get("items") or []
    ]
