"""Everything that is known of held GPUs now: what the environment's jobs tell, and a ledger of earlier looks."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path
from typing import Any

from gpufleet.jobs.backend import Note
from gpufleet.jobs.kubernetes.api import KubernetesApi, KubernetesApiError
from gpufleet.jobs.kubernetes.job_kind import KINDS
from gpufleet.jobs.settings import JobSettings
from gpufleet.usage.allocation import GpuAllocation
from gpufleet.usage.backends import allocated_by_backend
from gpufleet.usage.collect import allocated_by_jobs, allocated_by_pods, ends_of_jobs
from gpufleet.usage.known_nodes import on_known_nodes
from gpufleet.usage.ledger import lock_ledger, merge_allocations, read_ledger, write_ledger

Object = Mapping[str, Any]


def known_records(
    settings: JobSettings,
    namespaces: Sequence[str],
    since: datetime,
    now: datetime,
    note: Note,
    *,
    ledger: Path | None,
    write: bool,
) -> list[GpuAllocation]:
    """Records of the environment from a time on, as far as they are known.

    namespaces: those to look into on Kubernetes. ledger: a file of earlier records, which count too; write: add the new
    ones to it. Errors: UserError.
    """
    ended: list[Object] = []
    if settings.on == "kubernetes":
        api = KubernetesApi.of(settings.kubeconfig, settings.environment)
        nodes = _items(api, "/api/v1/nodes", note)
        pods = list(_everywhere(api, namespaces, "/api/v1", "pods"))
        ended = [job for kind in KINDS for job in _everywhere(api, namespaces, kind.api, kind.plural)]
        seen = list(allocated_by_pods(pods, nodes, settings.environment, settings.project, now))
    else:
        seen = allocated_by_backend(settings, since, now)
    with lock_ledger(ledger) if ledger and write else nullcontext():
        before = read_ledger(ledger) if ledger else []
        by_pods: dict[str, set[str]] = {}
        for each in [*before, *seen]:
            if not each.uid.startswith("job/"):
                by_pods.setdefault(each.job_uid, set()).add(each.name)
        seen += allocated_by_jobs(ended, by_pods, settings.environment, settings.project, now)
        found = merge_allocations(
            before, on_known_nodes(seen, settings.pools), ends_of_jobs(ended), settings.environment
        )
        if ledger and write:
            write_ledger(ledger, found)
    return [each for each in found if each.environment == settings.environment]


def rates_of_pools(settings: JobSettings, usd_per_gpu_hour: Mapping[str, float]) -> dict[str, float]:
    """USD for an hour of a GPU, by the label of a pool's nodes instead of the pool's name."""
    labels = {name: pool.label for name, pool in settings.pools.items()}
    return {labels.get(name, name): float(usd) for name, usd in usd_per_gpu_hour.items()}


def _items(api: KubernetesApi, path: str, note: Note | None = None) -> Sequence[Object]:
    """A list, of a kind that may not be there; with `note`, empty for users who may not see it."""
    try:
        return (api.find(path) or {}).get("items") or []
    except KubernetesApiError as error:
        if note is None or error.status != 403:
            raise
        note(f"{error}; prices of nodes are not known then")
        return []


def _everywhere(api: KubernetesApi, namespaces: Sequence[str], group: str, kind: str) -> Iterator[Object]:
    for namespace in namespaces:
        yield from _items(api, f"{group}/namespaces/{namespace}/{kind}")
