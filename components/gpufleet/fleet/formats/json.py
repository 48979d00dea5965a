"""The result of `gpufleet ps` as JSON data: the whole, and the summary for a webhook."""

from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from gpufleet.cost.line_item import FIGURES, Total
from gpufleet.fleet.environment import EnvironmentSummary
from gpufleet.fleet.gpu_jobs import GpuJob
from gpufleet.fleet.report import FleetReport

if TYPE_CHECKING:
    from gpufleet.fleet.clusters import ClusterState

SCHEMA = 1
"""Version of the format; it changes when a field is removed or changes its meaning."""


def fleet_to_dict(report: FleetReport) -> dict[str, Any]:
    """The whole report. docs/ps.md describes the fields; fields are only ever added."""
    return {
        "schema": SCHEMA,
        "backend": report.backend,
        "now": report.now.isoformat(timespec="seconds"),
        "usd_per_hour": {figure: _usd(report.total(figure)) for figure in FIGURES},
        "environments": [_environment(each, report) for each in report.environments],
        "clusters": [cluster_to_dict(each) for each in report.clusters],
        "faults": report.faults,
    }


def webhook_summary(report: FleetReport) -> dict[str, Any]:
    """The body that is posted to a webhook: `text` for chat services, and the same as data."""
    expired = [_environment(each, report) for each in report.expired]
    hung = [{"cluster": cluster.context} | _job(job) for cluster, job in report.hung]
    return {
        "schema": SCHEMA,
        "text": "\n".join(_words(report)),
        "now": report.now.isoformat(timespec="seconds"),
        "usd_per_hour": {figure: _usd(report.total(figure)) for figure in FIGURES},
        "environments": sum(1 for each in report.environments if each.resources),
        "expired": expired,
        "hung": hung,
        "faults": report.faults,
    }


def _words(report: FleetReport) -> Iterator[str]:
    there = [each for each in report.environments if each.resources]
    floor, ceiling = report.total("floor"), report.total("ceiling")
    yield f"gpufleet: {len(there)} environments, ${floor.hour:,.2f}/h at the least, ${ceiling.hour:,.2f}/h at the most"
    if not ceiling.complete:
        yield "not every price is known, so that both are more"
    for each in report.expired:
        assert each.end is not None
        cost = f"${each.costs['floor'].hour:,.2f}/h at the least"
        yield f"past its end by {each.end.distance(report.now)}: {each.name}, of {each.owner or 'nobody'}, {cost}"
    for cluster, job in report.hung:
        minutes = int(job.idle.total_seconds() // 60)
        where = f"{job.namespace}/{job.name} on {cluster.context}"
        yield f"hung: {where}: {job.gpus} GPUs {job.activity} for {minutes} minutes"
    if report.faults:
        yield f"{len(report.faults)} could not be read"


def _environment(each: EnvironmentSummary, report: FleetReport) -> dict[str, Any]:
    cluster = report.cluster_of(each)
    return {
        "stack": each.stack,
        "project": each.project or None,
        "owner": each.owner,
        "ownership": asdict(each.ownership),
        "ownership_doubt": each.doubt or None,
        "purpose": each.purpose,
        "created": _time(each.created),
        "expires": each.end.day.isoformat() if each.end else None,
        "ends": _time(each.end.moment) if each.end else None,
        "grace_hours": each.grace / timedelta(hours=1) if each.grace else None,
        "end_doubt": each.end_doubt or None,
        "expired": each.expired(report.now),
        "last_update": _time(each.updated),
        "updating": each.updating,
        "locked_since": _time(each.lock.since if each.lock else None),
        "resources": each.resources,
        "only_data": each.only_data,
        "gpus": {
            "now": cluster.gpus if cluster else None,
            "at_last_update": each.gpus_at_last_update if each.resources else 0,
            "at_most": each.gpus_most if each.resources else 0,
        },
        "usd_per_hour": {figure: _usd(each.costs[figure]) for figure in FIGURES} if each.costs else None,
        "cluster": cluster.context if cluster else None,
        "notes": list(each.notes),
        "fault": each.fault or None,
    }


def cluster_to_dict(each: "ClusterState") -> dict[str, Any]:
    """A cluster and its jobs. docs/ps.md describes the fields; fields are only ever added."""
    return {
        "context": each.context,
        "host": each.host or None,
        "on": each.on,
        "gpus": None if each.fault or each.on != "kubernetes" else each.gpus,
        "jobs": [_job(job) for job in each.jobs],
        "exporters": each.exporters,
        "silent_exporters": each.silent,
        "bad_nodes": [{**asdict(node), "since": _time(node.since)} for node in each.bad_nodes],
        "fault": each.fault or None,
    }


def _job(job: GpuJob) -> dict[str, Any]:
    return {
        "namespace": job.namespace,
        "name": job.name,
        "gpus": job.gpus,
        "pods": job.pods,
        "since": _time(job.since),
        "user": job.user or None,
        "project": job.project or None,
        "gpu_percent": job.percent,
        "activity": job.activity,
        "idle_minutes": int(job.idle.total_seconds() // 60),
        "hung": job.hung,
    }


def _usd(total: Total) -> dict[str, Any]:
    """A figure; with lines of unknown price it is a lower bound."""
    return {"usd": round(total.hour, 6), "complete": total.complete, "unknown_lines": total.unknown}


def _time(moment: datetime | None) -> str | None:
    return moment.isoformat(timespec="seconds") if moment else None
