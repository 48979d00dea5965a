"""Validation of a job on on-prem servers, before any connection."""

import re

from gpufleet.jobs.mpi_run import is_mpirun
from gpufleet.jobs.request import JobRequest, node_count
from gpufleet.jobs.ssh.apptainer import ApptainerContainer
from gpufleet.jobs.ssh.job_record import JOB_NAME
from gpufleet.jobs.ssh.job_script import RESERVED_VARIABLES
from gpufleet.jobs.ssh.secrets import validate_secrets

_VARIABLE = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def validate_fields(name: str, request: JobRequest, container: ApptainerContainer | None) -> list[str]:
    """A line for every fault that has nothing to do with how many nodes there are."""
    lines = []
    if not JOB_NAME.fullmatch(name):
        lines.append(f"{name}: name={name}: use letters, digits, - and _, at most 64, not - first")
    if "workers" in request and "nodes" in request and request["workers"] != request["nodes"]:
        lines.append(
            f"{name}: workers={request['workers']}: conflicts with nodes={request['nodes']}; give only one of them"
        )
    if node_count(request) < 1:
        lines.append(f"{name}: nodes={node_count(request)}: use 1 or more")
    if request.get("retries", 0) < 0:
        lines.append(f"{name}: retries={request['retries']}: use 0 or more")
    if request.get("time_limit_minutes", 1) < 1:
        lines.append(f"{name}: time_limit_minutes={request['time_limit_minutes']}: use 1 or more")
    if is_mpirun(request["command"]):
        lines.append(f"{name}: command={request['command'][0]}: leave it out; a rank is started for each GPU anyway")
    for key in request.get("env", {}):
        if not _VARIABLE.fullmatch(key):
            lines.append(f"{name}: env={key}: is not a valid variable name; use letters, digits and _")
        elif key in RESERVED_VARIABLES:
            lines.append(f"{name}: env={key}: is set for every job; use another")
    lines += validate_secrets(name, request.get("secrets", {}), RESERVED_VARIABLES)
    if container is not None and not re.fullmatch(r"/[^\n\0:,]*", container.file):
        lines.append(f"{name}: image={container.file!r}: use a path without colons, commas and line ends")
    return lines


def validate_gpus(name: str, gpus: int | None, most: int | None, where: str) -> list[str]:
    """gpus: as asked for. most: what a node has. where: what the nodes are called."""
    if gpus is None:
        return [] if most is not None else [f"{name}: gpus: unknown how many GPUs {where} has; give --gpus"]
    if gpus < 1:
        return [f"{name}: gpus={gpus}: use 1 or more"]
    if most is not None and gpus > most:
        return [f"{name}: gpus={gpus}: {where} has {most}; use {most} or fewer"]
    return []
