"""Validation of a job on AWS Batch, before any call to AWS."""

import re
from collections.abc import Mapping

from gpufleet.jobs.aws_batch.parameter_sweep import ParameterTable
from gpufleet.jobs.request import JobRequest
from gpufleet.jobs.settings import JobSettings

MAX_CHILDREN = 10_000
MAX_ATTEMPTS = 10
_NAME = re.compile(r"[A-Za-z0-9][\w-]{0,127}", re.ASCII)
"""Source of all three: botocore's model of batch (SubmitJobRequest, RetryStrategy)."""


def requested_nodes(request: JobRequest) -> int:
    """Nodes of a multi-node job; 0 for a job of one container or an array of them."""
    nodes = request.get("nodes", request.get("workers"))
    return 0 if nodes is None or nodes == 1 else nodes


def validate_job(
    settings: JobSettings, name: str, request: JobRequest, table: ParameterTable | None, gpus: int
) -> list[str]:
    """One line for each error. gpus: of a container, where the request does not say."""
    return [
        *_faults_of_size(name, request, table),
        *_faults_of_nodes(settings, name, request),
        *_misfits(settings, name, request.get("gpus", gpus)),
        *_faults_of_limits(name, request),
    ]


def _faults_of_size(name: str, request: JobRequest, table: ParameterTable | None) -> list[str]:
    lines = []
    if not _NAME.fullmatch(name):
        lines.append(f"{name}: name={name}: use letters, digits, - and _, a letter or digit first, at most 128")
    array = request.get("array")
    if array is not None and not 2 <= array <= MAX_CHILDREN:
        lines.append(f"{name}: array={array}: an array has 2 to {MAX_CHILDREN:,} children; leave it out for one job")
    if table is not None and len(table) > MAX_CHILDREN:
        lines.append(f"{name}: {len(table):,} rows of parameters: an array has at most {MAX_CHILDREN:,} children")
    if table is not None and array not in (None, len(table)):
        lines.append(f"{name}: array={array}: there are {len(table)} rows of parameters; leave out --array")
    if "workers" in request and "nodes" in request and request["workers"] != request["nodes"]:
        lines.append(
            f"{name}: workers={request['workers']}: conflicts with nodes={request['nodes']}; give only one of them"
        )
    if requested_nodes(request) < 0 or request.get("nodes", request.get("workers")) == 0:
        lines.append(f"{name}: nodes={request.get('nodes', request.get('workers'))}: use 1 or more")
    if requested_nodes(request) > 1 and (table is not None or array is not None):
        lines.append(
            f"{name}: nodes={requested_nodes(request)}: AWS Batch has no arrays of multi-node jobs; submit each"
        )
    return lines


def _faults_of_nodes(settings: JobSettings, name: str, request: JobRequest) -> list[str]:
    multinode = settings.batch.multinode if settings.batch else None
    most = multinode.nodes if multinode else None
    if most is None or requested_nodes(request) <= most:
        return []
    return [
        f"{name}: nodes={requested_nodes(request)}: multi-node jobs have at most {most} nodes; use {most} or fewer, or "
        "raise the pool's max and run `pulumi up`"
    ]


def _misfits(settings: JobSettings, name: str, gpus: int) -> list[str]:
    if gpus < 1:
        return [f"{name}: gpus={gpus}: use 1 or more"]
    known = [pool.gpus for pool in settings.pools.values()]
    if not known or None in known or gpus <= (most := max(each for each in known if each is not None)):
        return []
    types = sorted({each for pool in settings.pools.values() for each in pool.types})
    return [f"{name}: gpus={gpus}: no node has more than {most} ({', '.join(types)}); use {most} or fewer"]


def _faults_of_limits(name: str, request: JobRequest) -> list[str]:
    lines = []
    retries, minutes = request.get("retries", 0), request.get("time_limit_minutes", 1)
    if not 0 <= retries < MAX_ATTEMPTS:
        lines.append(f"{name}: retries={retries}: AWS Batch makes at most {MAX_ATTEMPTS} attempts; use 0 to 9")
    if minutes < 1:
        lines.append(f"{name}: time_limit_minutes={minutes}: use 1 or more")
    least: Mapping[str, object] = request
    lines += [
        f"{name}: {key}={value}: use 1 or more"
        for key in ("vcpus", "memory_gib", "shared_memory_gib")
        if isinstance(value := least.get(key), int) and value < 1
    ]
    taken = [key for key in request.get("env", {}) if key.startswith("AWS_BATCH")]
    lines += [f"{name}: env={key}: AWS Batch sets variables of this beginning itself; use another" for key in taken]
    return lines
