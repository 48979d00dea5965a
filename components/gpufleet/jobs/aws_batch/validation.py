"""What can be said against a job on AWS Batch before AWS is asked."""

import re
from collections.abc import Mapping

from gpufleet.jobs.aws_batch.parameter_sweep import ParameterTable
from gpufleet.jobs.request import JobRequest
from gpufleet.jobs.settings import JobSettings

MOST_CHILDREN = 10_000
MOST_ATTEMPTS = 10
_NAME = re.compile(r"[A-Za-z0-9][\w-]{0,127}", re.ASCII)
"""Source of all three: botocore's model of batch (SubmitJobRequest, RetryStrategy)."""


def node_count(request: JobRequest) -> int:
    """Nodes of a multi-node job; 0 for a job of one container or an array of them."""
    nodes = request.get("nodes", request.get("workers"))
    return 0 if nodes is None or nodes == 1 else nodes


def faults(settings: JobSettings, name: str, request: JobRequest, table: ParameterTable | None, gpus: int) -> list[str]:
    """A line for every fault. gpus: of a container, where the request does not say."""
    return [
        *_faults_of_size(name, request, table),
        *_faults_of_nodes(settings, name, request),
        *_misfits(settings, name, request.get("gpus", gpus)),
        *_faults_of_limits(name, request),
    ]


def _faults_of_size(name: str, request: JobRequest, table: ParameterTable | None) -> list[str]:
    lines = []
    if not _NAME.fullmatch(name):
        lines.append(f"{name}: name={name}: use letters, digits, - and _, a letter or digit first, 128 at the most")
    array = request.get("array")
    if array is not None and not 2 <= array <= MOST_CHILDREN:
        lines.append(f"{name}: array={array}: an array has 2 to {MOST_CHILDREN:,} children; leave it out for one job")
    if table is not None and len(table) > MOST_CHILDREN:
        lines.append(f"{name}: {len(table):,} rows of parameters: an array has {MOST_CHILDREN:,} children at the most")
    if table is not None and array not in (None, len(table)):
        lines.append(f"{name}: array={array}: there are {len(table)} rows of parameters; leave out --array")
    if "workers" in request and "nodes" in request and request["workers"] != request["nodes"]:
        lines.append(f"{name}: workers={request['workers']}: is the same as nodes={request['nodes']}; give one of them")
    if node_count(request) < 0 or request.get("nodes", request.get("workers")) == 0:
        lines.append(f"{name}: nodes={request.get('nodes', request.get('workers'))}: use 1 or more")
    if node_count(request) > 1 and (table is not None or array is not None):
        lines.append(f"{name}: nodes={node_count(request)}: AWS Batch has no arrays of multi-node jobs; submit each")
    return lines


def _faults_of_nodes(settings: JobSettings, name: str, request: JobRequest) -> list[str]:
    multinode = settings.batch.multinode if settings.batch else None
    most = multinode.nodes if multinode else None
    if most is None or node_count(request) <= most:
        return []
    return [
        f"{name}: nodes={node_count(request)}: multi-node jobs have {most} nodes at the most; use {most} or fewer, or "
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
    if not 0 <= retries < MOST_ATTEMPTS:
        lines.append(f"{name}: retries={retries}: AWS Batch makes {MOST_ATTEMPTS} attempts at the most; use 0 to 9")
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
