"""The MPIJob of a request that may name several pools in order."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import cast

from gpufleet.errors import UserError
from gpufleet.jobs.kubernetes.pool_steps import cheaper_later, pool_step, with_steps
from gpufleet.jobs.kubernetes.submission import KubernetesSubmission, build_submission
from gpufleet.jobs.pool_info import PoolInfo
from gpufleet.jobs.request import JobRequest, default_job_name, uses_torchrun
from gpufleet.jobs.settings import JobSettings, RecordedImages
from gpufleet.rules.messages import join_words

_ELSEWHERE = ("pool", "gpu", "place", "prefer")
"""Keys that say themselves where a job runs."""


def build_ordered_submission(
    settings: JobSettings,
    request: JobRequest,
    recorded: RecordedImages = dict,
    cuda_of: Callable[[str], str | None] = lambda image: None,
) -> KubernetesSubmission:
    """The job of `build_submission`; where it has pools in order, with a step for each that can hold it.

    Errors: UserError, also when no pool can ever hold the job: one line for each error.
    """
    names = _pool_names(settings, request)
    if names is None:
        return build_submission(settings, request, recorded, cuda_of)
    pools = [settings.pool(name) for name in names]
    name = request.get("name") or default_job_name(request["command"], datetime.now(UTC))
    known = [pool.gpus for pool in pools if pool.gpus is not None]
    if "gpus" not in request and len(known) < len(pools):
        unknown = next(pool for pool in pools if pool.gpus is None)
        raise UserError(f"{name}: gpus: how many {', '.join(unknown.types)} has is not in the catalog; give --gpus")
    gpus = request["gpus"] if "gpus" in request else min(known)
    common = {key: value for key, value in request.items() if key != "pools"} | {"name": name, "gpus": gpus}
    jobs: list[tuple[PoolInfo, KubernetesSubmission]] = []
    refused: dict[str, list[str]] = {}
    for pool in pools:
        lines = _unfit(settings, name, request["workers"] * gpus, pool)
        try:
            job = build_submission(settings, cast(JobRequest, {**common, "pool": pool.name}), recorded, cuda_of)
        except UserError as error:
            lines += str(error).splitlines()
        else:
            if not lines:
                jobs.append((pool, job))
        refused.update({pool.name: lines} if lines else {})
    if not jobs:
        raise UserError("\n".join(dict.fromkeys(line for lines in refused.values() for line in lines)))
    seconds = 60 * float(settings.overflow["capacity_timeout_minutes"])
    steps = [pool_step(pool, request["workers"], gpus, seconds, settings.usd_per_gpu_hour) for pool, _ in jobs]
    advice = [
        *(step.line(number, last=number == len(steps)) for number, step in enumerate(steps, 1)),
        *(f"pool {pool} is left out: {line}" for pool, lines in refused.items() for line in lines),
        *cheaper_later(steps),
        *dict.fromkeys(line for _, job in jobs for line in job.advice),
    ]
    return KubernetesSubmission(with_steps([job.manifest for _, job in jobs], steps), advice)


def _pool_names(settings: JobSettings, request: JobRequest) -> Sequence[str] | None:
    """The pools in order; None for a job that has none. Errors: UserError, one line."""
    names, where = request.get("pools"), settings.environment
    if uses_torchrun(request):
        if names is not None:
            raise UserError(f"{where}: pools={','.join(names)}: is for launcher=mpi; with torchrun give one pool")
        return None
    if names is None:
        ordered = settings.overflow.get("pools")
        return None if not ordered or any(key in request for key in _ELSEWHERE) else list(ordered)
    given = f"{where}: pools={','.join(names)}"
    if also := [key for key in _ELSEWHERE if key in request]:
        raise UserError(f"{given}: has no effect with {join_words(also, 'and')}; leave one of them out")
    if not settings.overflow or not (request.get("queue") or settings.queue):
        raise UserError(
            f"{given}: the environment's queue does not overflow; add gpufleet:queue.overflow, or use --pool"
        )
    if not names or len(set(names)) < len(names):
        raise UserError(f"{given}: must name each pool once; write --pools spot-a,on-demand")
    return names


def _unfit(settings: JobSettings, name: str, gpus: int, pool: PoolInfo) -> list[str]:
    """Why a pool can never be a step of the job, besides its size, which `build_submission` judges."""
    lines = []
    if len(pool.zones) != 1:
        zones = ", ".join(pool.zones) or "none that is known"
        lines.append(f"{name}: pools={pool.name}: has zones {zones}; a step is a pool in one zone")
    quota = None if settings.quota is None else int(settings.quota.get(pool.name, 0))
    if quota is not None and gpus > quota:
        lines.append(
            f"{name}: pools={pool.name}: the job needs {gpus} GPUs, and the quota of namespace {settings.namespace} "
            f"there is {quota}; use fewer workers, or raise the quota"
        )
    return lines
