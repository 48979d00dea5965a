"""The MPIJob that an environment makes of what a researcher asks for."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

from gpufleet.errors import UserError
from gpufleet.jobs.kubernetes.mpi_job import MpiJobArgs, mpi_job
from gpufleet.jobs.request import JobRequest, name_for
from gpufleet.jobs.settings import Pool, Recorded, Settings
from gpufleet.rules.kubernetes.mpi_job import judge_mpi_job
from gpufleet.rules.rule import Status


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
