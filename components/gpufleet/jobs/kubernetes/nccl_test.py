"""An all-reduce across the nodes, checked against a minimum: a run of nccl-tests as an MPI job."""

import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime

from gpufleet.jobs.events import Event, EventKind
from gpufleet.jobs.kubernetes.api import KubernetesApi, KubernetesObject
from gpufleet.jobs.kubernetes.check_result import CheckResult, failed_check, passed_check, unknown_check
from gpufleet.jobs.kubernetes.follow import KubernetesJobFollower
from gpufleet.jobs.kubernetes.jobs import cancel_job
from gpufleet.jobs.kubernetes.nccl_parser import NcclRun, parse_nccl_output
from gpufleet.jobs.kubernetes.node_readiness import is_fake
from gpufleet.jobs.kubernetes.submission import build_submission
from gpufleet.jobs.kubernetes.submit import create_job
from gpufleet.jobs.pool_info import PoolInfo
from gpufleet.jobs.request import JobRequest, default_job_name
from gpufleet.jobs.settings import JobSettings

FLOOR = 0.5
"""Least bus bandwidth as a part of a node's network bandwidth. Our choice, below what healthy nodes were reported with:
four p4d.24xlarge (400 Gbit/s) 29.6 GB/s, three 31.8, two 57 (NVIDIA/nccl#527), that is 0.59 and more."""

IMAGE = "public.ecr.aws/hpc-cloud/nccl-tests:cuda12.8.1-efa1.43.2-ofiv1.16.3-ncclv2.27.7-1-testsv2.16.9"
"""AWS's image with EFA, aws-ofi-nccl, NCCL, OpenMPI and nccl-tests, as public examples for EKS use it (SkyPilot's for
HyperPod; awslabs/awsome-distributed-ai#936 names this tag). Its NCCL 2.27.7 was reported to fail on Blackwell: give
--image there. We could not run it."""

PROGRAM = "/opt/nccl-tests/build/all_reduce_perf"
SIZE = "1G"
LIMIT_SECONDS = 1200.0
"""Longest wait for images, the run and its log."""
_LEAST_BYTES = 2**27
"""Below 128 MiB a run measures latency."""

_FABRICS = {
    "efa": ("EFA", "use an image with aws-ofi-nccl: --image; look at the EFA device plugin and the pods' ulimit -l"),
    "infiniband": ("InfiniBand", "use an image with libibverbs: --image; look at the RDMA device plugin"),
}
"""Networks other than TCP: their names, and what to do where NCCL does not take them."""
_WRITABLE = "gpufleet: writable on"


def check_bandwidth(
    api: KubernetesApi,
    settings: JobSettings,
    pool: PoolInfo,
    wanted: int,
    nodes: Sequence[KubernetesObject],
    say: Callable[[str], None],
    *,
    image: str = IMAGE,
    floor: float = FLOOR,
) -> list[CheckResult]:
    """Run the all-reduce and check its result; the job is always deleted afterwards. Errors: UserError."""
    if any(is_fake(node) for node in nodes):
        return [unknown_check("bandwidth", "the nodes are fake: no container runs on them", "run it on real nodes")]
    request = JobRequest(
        workers=wanted,
        command=rank_command(volume=settings.volume_claim is not None),
        pool=pool.label,
        image=image,
        name=default_job_name(["check-bandwidth"], datetime.now(UTC)),
        time_limit_minutes=int(LIMIT_SECONDS // 60),
    )
    manifest = build_submission(settings, request).manifest
    name = manifest["metadata"]["name"]
    create_job(api, manifest, say)
    say(f"{name}: submitted")
    try:
        events = _until_its_end(api, settings.namespace, name, say)
    finally:
        cancel_job(api, settings.namespace, name)
    return check_events(events, pool, wanted, floor, volume=settings.volume_claim is not None)


def rank_command(*, volume: bool) -> list[str]:
    """What each rank runs. It writes before it measures: a volume that cannot be written ends the run at once.

    Ranks of one node write at the same time, each to its own file. `uname` is in every image, `hostname` is not. NCCL
    tells rank 0 alone which network it takes: of all ranks its log would be longer than a kubelet keeps.
    """
    file = '"/mnt/.gpufleet-check-$(uname -n)-$$"'
    touch = f'touch {file} && rm {file} && echo "{_WRITABLE} $(uname -n)" && ' if volume else ""
    log = '[ "$OMPI_COMM_WORLD_RANK" != 0 ] || export NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT; '
    return ["sh", "-c", f"{touch}{{ {log}exec {PROGRAM} -b {SIZE} -e {SIZE} -n 20 -g 1; }}"]


def check_events(
    events: Sequence[Event], pool: PoolInfo, wanted: int, floor: float, *, volume: bool
) -> list[CheckResult]:
    """The checks of a finished run, from its events. Pure."""
    lines = [event.text for event in events if event.kind is EventKind.LINE]
    end = next((event for event in events if event.kind is EventKind.END), None)
    checks = [_written(lines, wanted)] if volume else []
    if end is None:
        held = [event.text for event in events if event.kind is EventKind.WAITING]
        why = held[-1] if held else "it did not end"
        return [*checks, _failed(f"no result after {LIMIT_SECONDS / 60:.0f} min: {why}", "fix that and check again")]
    run = parse_nccl_output(lines)
    if run.no_network and pool.network in _FABRICS:
        fabric, fix = _FABRICS[pool.network]
        return [*checks, _failed(f"NCCL cannot use {fabric}", fix)]
    if end.code:
        said = next((line for line in reversed(lines) if line.strip()), "")
        return [*checks, _failed(end.text + (f"; last output: {said}" if said else ""), "fix that and check again")]
    return [*checks, check_run(run, pool, wanted, floor)]


def check_run(run: NcclRun, pool: PoolInfo, wanted: int, floor: float) -> CheckResult:
    """One run of nccl-tests against the floor."""
    row = run.largest
    if row is None:
        return _failed("the run printed no result of nccl-tests", "look at the image: --image")
    if run.wrong:
        return _failed(f"{run.wrong} values were wrong", "a GPU or its memory is broken: run dcgmi diag on each node")
    if run.hosts and len(run.hosts) < wanted:
        return _failed(f"it ran on {len(run.hosts)} of {wanted} nodes", "look at the hostfile and mpirun's options")
    got = f"{row.busbw:.1f} GB/s bus bandwidth with {row.size / 2**20:.0f} MiB on {wanted} nodes{_over(run)}"
    if wanted < 2:
        return unknown_check(
            "bandwidth", f"{got}: one node's GPUs do not use the network", "check with --nodes 2 or more"
        )
    if _misses(run, pool):
        fabric, fix = _FABRICS[pool.network]
        return _failed(f"{got}, not over the pool's {fabric}", fix)
    if pool.network_gbps is None:
        types = ", ".join(pool.types)
        return unknown_check("bandwidth", f"{got}; the network of {types} is not in the catalog", "compare it yourself")
    least = floor * pool.network_gbps / 8
    share = f"{8 * row.busbw / pool.network_gbps:.0%} of {pool.network_gbps:g} Gbit/s"
    against = f"{got}, {share}, floor {least:.1f} GB/s ({floor:.0%})"
    if row.size < _LEAST_BYTES:
        return unknown_check("bandwidth", f"{got}: too small a size to tell", "run with 128 MiB or more")
    if row.busbw < least:
        return _failed(against, "look for one slow node by halves: check each half of the nodes")
    return passed_check("bandwidth", against)


def _over(run: NcclRun) -> str:
    """The network that NCCL took, to append."""
    if run.network is None:
        return ""
    provider = "TCP" if run.network == "Socket" else run.provider
    return f" over {run.network}" + (f" ({provider})" if provider else "")


def _misses(run: NcclRun, pool: PoolInfo) -> bool:
    """Whether NCCL took another network than the pool's EFA or InfiniBand. Its plugins for InfiniBand are called IB...

    Older libfabric calls its provider for EFA efa;ofi_rxr (NVIDIA/nccl#229).
    """
    if run.network is None or pool.network not in _FABRICS:
        return False
    return not (run.provider or "").startswith("efa") if pool.network == "efa" else not run.network.startswith("IB")


def _written(lines: Iterable[str], wanted: int) -> CheckResult:
    hosts = {line.partition(_WRITABLE)[2].strip() for line in lines if _WRITABLE in line}
    found = f"written from {len(hosts)} of {wanted} nodes"
    if len(hosts) >= wanted:
        return passed_check("volume writes", found)
    return failed_check("volume writes", found, "look at the access point's user and the mount target of that zone")


class _TimeIsUp(Exception):
    """The job has not ended in time."""


def _until_its_end(api: KubernetesApi, namespace: str, name: str, say: Callable[[str], None]) -> list[Event]:
    """What happens to the job in LIMIT_SECONDS, with or without its end.

    While a job waits forever, nothing happens that one could count the time by: the clock itself ends it.
    """
    ends = time.monotonic() + LIMIT_SECONDS

    def clock() -> float:
        now = time.monotonic()
        if now > ends:
            raise _TimeIsUp
        return now

    events: list[Event] = []
    try:
        for event in KubernetesJobFollower(api, namespace, name, "run the check again", clock=clock).events():
            events.append(event)
            if event.kind is not EventKind.LINE:
                say(event.text)
    except _TimeIsUp:
        pass
    return events


def _failed(text: str, fix: str) -> CheckResult:
    return failed_check("bandwidth", text, fix)
