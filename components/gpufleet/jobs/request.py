"""A job as a researcher asks for it, and as the manifest that the environment makes of it."""

import re
import secrets
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NotRequired, TypedDict, cast

import yaml

from gpufleet.errors import UserError
from gpufleet.jobs.kubernetes.mpi_job import MpiJobArgs, mpi_job
from gpufleet.jobs.settings import Pool, Recorded, Settings
from gpufleet.rules.arguments import judge_arguments
from gpufleet.rules.kubernetes.mpi_job import judge_mpi_job
from gpufleet.rules.rule import Status
from gpufleet.rules.wording import one_line


class JobRequest(TypedDict):
    """Keys of a job's YAML file; each is an option of `gpufleet jobs submit` too."""

    workers: int
    """Pods with GPUs, each on a node of its own or sharing one, all in one zone."""
    command: Sequence[str]
    """What every rank runs."""
    name: NotRequired[str]
    """Default: made from the command and the time."""
    gpus: NotRequired[int]
    """GPUs of each worker. Default: all of a node."""
    pool: NotRequired[str]
    """Default: the environment's only one."""
    image: NotRequired[str]
    """NAME[:TAG] of the environment's registry, or a full name. A NAME alone is the image that `gpufleet images build`
    pushed last; so is the default, for the only repository."""
    env: NotRequired[Mapping[str, str]]
    queue: NotRequired[str]
    """Default: the environment's."""
    retries: NotRequired[int]
    """Default 0."""
    grace_seconds: NotRequired[int]
    """Default: what AWS's or Azure's Spot notice leaves."""
    time_limit_minutes: NotRequired[int]
    """Default: none."""
    shared_memory_gib: NotRequired[int]
    image_pull_secret: NotRequired[str]
    """Default: the environment's."""
    volume_claim: NotRequired[str]
    """Default: the environment's shared volume."""
    after: NotRequired[str]
    """Submit it when this job has succeeded."""


def read_request(file: Path) -> dict[str, object]:
    """A job's YAML file. Errors: UserError for a file that cannot be read or is no mapping."""
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}; give a job's YAML file") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"{file}: is no YAML: {one_line(' '.join(str(error).split()))}") from error
    if not isinstance(content, dict):
        raise UserError(f"{file}: is no mapping; write `workers: 2` and `command: [python3, train.py]`")
    if isinstance(content.get("command"), str):
        content["command"] = _words(content["command"], file)
    return content


def checked(request: Mapping[str, object], where: str) -> JobRequest:
    """Errors: UserError with a line for every unknown, missing or wrongly typed key."""
    lines = [each.line(where) for each in judge_arguments(request, JobRequest) if each.refuses]
    if not lines and not request["command"]:
        lines = [f"{where}: command=[]: there is nothing to run; end the line with -- python3 train.py"]
    if lines:
        raise UserError("\n".join(lines))
    return cast("JobRequest", dict(request))


@dataclass(frozen=True)
class Planned:
    """advice: what rules say against it without refusing it, a line each."""

    manifest: dict[str, Any]
    advice: list[str]


def planned(settings: Settings, request: JobRequest, recorded: Recorded = dict) -> Planned:
    """The MPIJob that the environment makes of a request.

    recorded: asked for a repository's image where the request names neither tag nor digest. Default: there is none.
    Errors: UserError with a line for every fault that can be known without the cluster.
    """
    pool = settings.pool(request.get("pool"))
    name = request.get("name") or name_for(request["command"], datetime.now(UTC))
    gpus = request.get("gpus", pool.gpus)
    if gpus is None:
        raise UserError(f"{name}: gpus: how many {', '.join(pool.types)} has is not in the catalog; give --gpus")
    args = _arguments(settings, request, pool, gpus, settings.image(request.get("image"), recorded))
    findings = judge_mpi_job(name, args)
    lines = [each.line(name) for each in findings if each.refuses] or misfits(name, request["workers"], gpus, pool)
    if lines:
        raise UserError("\n".join(lines))
    return Planned(mpi_job(name, args), [each.line(name) for each in findings if each.status is not Status.PASS])


def misfits(name: str, workers: int, gpus: int, pool: Pool) -> list[str]:
    """Why a job can never run on a pool, as far as the catalog knows its types."""
    if pool.gpus is None:
        return []
    if gpus > pool.gpus:
        types = ", ".join(pool.types)
        return [
            f"{name}: gpus={gpus}: some nodes of pool {pool.name} ({types}) have {pool.gpus}; use {pool.gpus} or fewer"
        ]
    most = None if pool.max is None else pool.max * (pool.gpus // gpus)
    if most is not None and workers > most:
        each = "1 GPU" if gpus == 1 else f"{gpus} GPUs"
        return [
            f"{name}: workers={workers}: pool {pool.name} has {pool.max} nodes at the most, room for {most} workers of "
            f"{each}; use {most} or fewer, or raise the pool's max and run `pulumi up`"
        ]
    return []


def _arguments(settings: Settings, request: JobRequest, pool: Pool, gpus: int, image: str) -> MpiJobArgs:
    args = MpiJobArgs(
        namespace=settings.namespace,
        workers=request["workers"],
        gpus_per_worker=gpus,
        image=image,
        command=list(request["command"]),
    )
    _place(args, pool)
    given: dict[str, object | None] = {
        "volume_claim": request.get("volume_claim", settings.volume_claim),
        "image_pull_secret": request.get("image_pull_secret", settings.image_pull_secret),
        "service_account": settings.service_account,
        "queue": request.get("queue", settings.queue),
        "env": request.get("env"),
        "retries": request.get("retries"),
        "grace_seconds": request.get("grace_seconds"),
        "shared_memory_gib": request.get("shared_memory_gib"),
        "time_limit_seconds": 60 * request["time_limit_minutes"] if "time_limit_minutes" in request else None,
    }
    args.update(cast("MpiJobArgs", {key: value for key, value in given.items() if value is not None}))
    return args


def _place(args: MpiJobArgs, pool: Pool) -> None:
    """Where the workers run. A zone is said only where all nodes of the pool are in it, and so carry its label."""
    args["pool"] = pool.label
    if pool.taints:
        args["tolerations"] = pool.taints
    if len(pool.types) == 1:
        args["instance_type"] = pool.types[0]
    if len(pool.zones) == 1:
        args["zone"] = pool.zones[0]
    if pool.efa and pool.gpus:
        args["network"] = "efa"
        args["efa_per_worker"] = max(1, pool.efa * args["gpus_per_worker"] // pool.gpus)


def name_for(command: Sequence[str], now: datetime) -> str:
    """A name that says what runs, and when it was submitted: train-1121-150405-3f2a."""
    program = next((word for word in command if word.endswith((".py", ".sh"))), command[0] if command else "job")
    stem = re.sub(r"[^a-z0-9]+", "-", Path(program).stem.lower()).strip("-")
    # A DNS label begins with a letter, and the operator puts -worker-511 behind it.
    stem = stem if stem[:1].isalpha() else f"job-{stem}".rstrip("-")
    return f"{stem[:24].rstrip('-')}-{now:%m%d-%H%M%S}-{secrets.token_hex(2)}"


def _words(command: str, file: Path) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise UserError(f"{file}: command={command}: {error}; write a list: [python3, train.py]") from error
