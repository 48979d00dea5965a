"""Validation of a job on Azure Batch, before any call to Azure."""

import re

from gpufleet.jobs.azure_batch.settings import AzureBatchPoolSettings
from gpufleet.jobs.pool_info import PoolInfo
from gpufleet.jobs.request import JobRequest, node_count

_NAME = re.compile(r"[\w-]{1,64}", re.ASCII)
"""Source: azure.batch.models.BatchJobCreateOptions (id)."""
_OURS = ("GPUFLEET_AFTER_OUTPUTS", "GPUFLEET_JOB", "GPUFLEET_OUTPUTS")


def validate_job(name: str, request: JobRequest, pool: PoolInfo, batch: AzureBatchPoolSettings) -> list[str]:
    """One line for each error."""
    return [
        *_faults_of_nodes(name, request, pool, batch),
        *_misfits(name, request, pool),
        *_faults_of_words(name, request),
    ]


def _faults_of_nodes(name: str, request: JobRequest, pool: PoolInfo, batch: AzureBatchPoolSettings) -> list[str]:
    nodes = node_count(request)
    if "workers" in request and "nodes" in request and request["workers"] != request["nodes"]:
        return [f"{name}: workers={request['workers']}: conflicts with nodes={request['nodes']}; give only one of them"]
    if nodes < 1:
        return [f"{name}: nodes={nodes}: use 1 or more"]
    if pool.max is not None and nodes > pool.max:
        return [
            f"{name}: nodes={nodes}: pool {pool.name} has at most {pool.max}; use {pool.max} or fewer, or raise "
            "its max and run `pulumi up`"
        ]
    if nodes > batch.task_nodes:
        few = "one node" if batch.task_nodes == 1 else f"at most {batch.task_nodes} nodes"
        return [
            f"{name}: nodes={nodes}: pool {pool.name} is made for tasks of {few}; use another --pool, or raise its "
            "task_nodes and run `pulumi up`"
        ]
    return []


def _misfits(name: str, request: JobRequest, pool: PoolInfo) -> list[str]:
    gpus = request.get("gpus")
    if gpus is None:
        if pool.gpus is None:
            types = ", ".join(pool.types) or "its size"
            return [
                f"{name}: gpus: the catalog does not know how many a node of {pool.name} has ({types}); give --gpus"
            ]
        return []
    if gpus < 1:
        return [f"{name}: gpus={gpus}: use 1 or more"]
    if pool.gpus is not None and gpus > pool.gpus:
        return [
            f"{name}: gpus={gpus}: a node of pool {pool.name} has {pool.gpus} ({', '.join(pool.types)}); "
            f"use {pool.gpus} or fewer"
        ]
    return []


def _faults_of_words(name: str, request: JobRequest) -> list[str]:
    lines = []
    if not _NAME.fullmatch(name):
        lines.append(f"{name}: name={name}: use letters, digits, - and _, at most 64")
    if request.get("retries", 0) < 0:
        lines.append(f"{name}: retries={request['retries']}: use 0 or more")
    if request.get("time_limit_minutes", 1) < 1:
        lines.append(f"{name}: time_limit_minutes={request['time_limit_minutes']}: use 1 or more")
    for key in request.get("env", {}):
        if key.startswith("AZ_BATCH_"):
            lines.append(f"{name}: env={key}: Azure Batch sets variables of this beginning itself; use another")
        if key in _OURS:
            lines.append(f"{name}: env={key}: is set for every job; use another")
    return lines
