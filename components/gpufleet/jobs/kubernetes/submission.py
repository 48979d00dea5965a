"""The job that an environment makes of what a researcher asks for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

from gpufleet.catalog import AwsGpuType
from gpufleet.errors import UserError
from gpufleet.jobs.kubernetes.jobset_job import jobset_job, name_errors
from gpufleet.jobs.kubernetes.mpi_job import MpiJobArgs, mpi_job
from gpufleet.jobs.kubernetes.mpi_pods import PLACE
from gpufleet.jobs.kubernetes.pool_selection import PoolSelection, select_pools
from gpufleet.jobs.pool_info import PoolInfo
from gpufleet.jobs.request import JobRequest, default_job_name, uses_torchrun
from gpufleet.jobs.settings import JobSettings, RecordedImages
from gpufleet.pools.node_labels import ZONE_ID
from gpufleet.rules.cuda import validate_image_cuda
from gpufleet.rules.kubernetes.mpi_job import validate_mpi_job
from gpufleet.rules.rule import Status
from gpufleet.users.team_users import select_user
from gpufleet.users.user import User


@dataclass(frozen=True)
class KubernetesSubmission:
    """advice: what rules say against it without refusing it, a line each."""

    manifest: dict[str, Any]
    advice: list[str]


def build_submission(
    settings: JobSettings,
    request: JobRequest,
    recorded: RecordedImages = dict,
    cuda_of: Callable[[str], str | None] = lambda image: None,
) -> KubernetesSubmission:
    """The MPIJob that the environment makes of a request, or the JobSet where torchrun starts the ranks.

    recorded: asked for a repository's image where the request names neither tag nor digest. Default: there is none.
    cuda_of: the CUDA version of an image by its full name; None: not known.
    Errors: UserError with one line for each error that can be found without the cluster.
    """
    choice = select_pools(settings, request)
    name = request.get("name") or default_job_name(request["command"], datetime.now(UTC))
    gpus = request["gpus"] if "gpus" in request else _all_of_a_node(name, choice.pools)
    args = _arguments(settings, request, choice, gpus, settings.image(request.get("image"), recorded))
    findings = validate_mpi_job(name, args)
    lines = [each.line(name) for each in findings if each.rejects]
    if not lines and uses_torchrun(request):
        lines = name_errors(name, request["workers"])
    if not lines:
        unfit = [size_errors(name, request["workers"], gpus, pool) for pool in choice.pools]
        lines = [line for each in unfit for line in each] if all(unfit) else []
    if not lines:
        unable = [cuda_errors(name, cuda_of(args["image"]), pool) for pool in choice.pools]
        lines = list(dict.fromkeys(line for each in unable for line in each)) if all(unable) else []
    if lines:
        raise UserError("\n".join(lines))
    manifest = jobset_job(name, args) if uses_torchrun(request) else mpi_job(name, args)
    return KubernetesSubmission(manifest, [each.line(name) for each in findings if each.status is not Status.PASS])


def _all_of_a_node(name: str, pools: Sequence[PoolInfo]) -> int:
    """GPUs that a node of any of these pools has. Errors: UserError where that is not known of all."""
    counts = []
    for pool in pools:
        if pool.gpus is None:
            raise UserError(f"{name}: gpus: how many {', '.join(pool.types)} has is not in the catalog; give --gpus")
        counts.append(pool.gpus)
    return min(counts)


def size_errors(name: str, workers: int, gpus: int, pool: PoolInfo) -> list[str]:
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
            f"{name}: workers={workers}: pool {pool.name} has at most {pool.max} nodes, room for {most} workers of "
            f"{each}; use {most} or fewer, or raise the pool's max and run `pulumi up`"
        ]
    return []


def cuda_errors(name: str, cuda: str | None, pool: PoolInfo) -> list[str]:
    """Why an image of this CUDA version cannot run on a pool, as far as its nodes are known; None: not known.

    Nodes of AKS and on-prem servers have drivers that only their owner knows: there the GPU model alone is judged.
    """
    image = pool.image or ("al2023" if any(isinstance(each, AwsGpuType) for each in pool.records) else "the node")
    findings = validate_image_cuda(cuda, image, pool.gpu_models) if cuda else []
    return [each.line(name) for each in findings if each.status is Status.FAIL and each.rejects]


def _arguments(settings: JobSettings, request: JobRequest, choice: PoolSelection, gpus: int, image: str) -> MpiJobArgs:
    args = MpiJobArgs(
        namespace=settings.namespace,
        workers=request["workers"],
        gpus_per_worker=gpus,
        image=image,
        command=list(request["command"]),
    )
    queue = request.get("queue", settings.queue)
    if any(pool.onprem_gpu for pool in choice.pools):
        args["launcher_on_gpu_nodes"] = True
    if any(pool.pod_network for pool in choice.pools):
        args["launcher_domain"] = PLACE
    if len(choice.pools) == 1:
        _place(args, choice.pools[0], queue)
    else:
        _places(args, choice, request, queue)
    unreached = sorted({pool.place for pool in choice.pools if not pool.reaches_files})
    if unreached:
        args["unreached_places"] = unreached
        args["files_place"] = next((pool.place for pool in settings.pools.values() if pool.reaches_files), "")
    user = select_user(settings.users, request.get("user"), settings.environment)
    given: dict[str, object | None] = {
        "uid": user.uid if user else None,
        "gid": user.gid if user else None,
        "user": user.name if user else None,
        "groups": list(user.groups) if user and user.groups else None,
        "labels": cost_labels(settings, user) or None,
        "volume_claim": request.get("volume_claim", settings.volume_claim),
        "read_claims": {**settings.read_claims, **request.get("read_claims", {})} or None,
        "image_pull_secret": request.get("image_pull_secret", settings.image_pull_secret),
        "service_account": settings.service_account,
        "queue": queue,
        "prefer_topology": settings.topology if queue and queue == settings.queue else None,
        "env": request.get("env"),
        "secrets": request.get("secrets"),
        "retries": request.get("retries"),
        "grace_seconds": request.get("grace_seconds"),
        "shared_memory_gib": request.get("shared_memory_gib"),
        "time_limit_seconds": 60 * request["time_limit_minutes"] if "time_limit_minutes" in request else None,
    }
    args.update(cast("MpiJobArgs", {key: value for key, value in given.items() if value is not None}))
    return args


def cost_labels(settings: JobSettings, user: User | None) -> dict[str, str]:
    """Labels by which `gpufleet usage` and the cloud's bill split what a pod costs: those that are known."""
    words = {"project": settings.project, "team": settings.team, "user": user.name if user else None}
    return {f"gpufleet.dev/{key}": word for key, word in words.items() if word}


def _place(args: MpiJobArgs, pool: PoolInfo, queue: str | None) -> None:
    """Where the workers run. A zone is named only where all nodes of the pool are in it, and so carry its label.

    Kueue knows nothing of pools: with a queue, GPU type and place keep it from flavors of other nodes.
    """
    args["pool"] = pool.label
    if queue:
        args["place"] = pool.place
        args.update({"gpu": pool.gpu} if pool.gpu else {})
    if pool.taints:
        args["tolerations"] = pool.taints
    if len(pool.types) == 1:
        args["instance_type"] = pool.types[0]
    if len(pool.zones) == 1:
        args["zone"] = pool.zones[0]
    if pool.efa and pool.gpus:
        args["network"] = "efa"
        args["efa_per_worker"] = max(1, pool.efa * args["gpus_per_worker"] // pool.gpus)


def _places(args: MpiJobArgs, choice: PoolSelection, request: JobRequest, queue: str | None) -> None:
    """The same for a job that may run on several pools: by GPU type and place, all workers in one neighbourhood.

    Nodes of one zone, and on-prem servers of one place, carry the same gpufleet.dev/zone-id.
    """
    if "gpu" in request:
        args["gpu"] = request["gpu"]
    if choice.place:
        args["place"] = choice.place
    if choice.prefer and ("prefer" in request or not queue):
        args["prefer_place"] = choice.prefer
    zones = {zone for pool in choice.pools for zone in pool.zones}
    if len(zones) == 1 and all(len(pool.zones) == 1 for pool in choice.pools):
        args["zone"] = zones.pop()
    else:
        args["neighbours"] = ZONE_ID
    taints = [taint for pool in choice.pools for taint in pool.taints]
    if taints:
        args["tolerations"] = [taint for number, taint in enumerate(taints) if taint not in taints[:number]]
