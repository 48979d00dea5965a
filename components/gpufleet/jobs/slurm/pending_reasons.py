"""Why a job on Slurm is pending, one line for each reason."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from gpufleet.documents.json import read_json
from gpufleet.jobs.slurm.client import SlurmClient
from gpufleet.jobs.slurm.status import SlurmJob

_ABOUT_NODES = ("BadConstraints", "NodeDown", "PartitionNodeLimit", "ReqNodeNotAvail", "Resources")
"""Reasons that bad nodes of the partition may be the cause of."""
_NAMED = 5
"""Most nodes that are named one by one."""


@cache
def reason_texts() -> Mapping[str, str]:
    """What each of Slurm's reasons means. Source: slurm.schedmd.com/job_reason_codes.html."""
    found: Mapping[str, str] = read_json(Path(__file__).with_name("reasons.json"))
    return found


def pending_reasons(slurm: SlurmClient, job: SlurmJob, partition: str) -> list[str]:
    """Slurm's reason first, then the nodes that take no jobs, and when it will start if Slurm expects that.

    Errors: SshUnreachable, SshError.
    """
    if job.row is None or not job.is_pending or job.row.reason == "None":
        # Slurm has not looked at it yet.
        return []
    reason = job.row.reason
    # Slurm may put nodes or words of its own behind the reason.
    word = reason.partition(",")[0].split(" ")[0].strip("()")
    known = reason_texts().get(word)
    first = f"{word}: {known}" if known else reason
    if word.startswith("Nodes_required") or reason.startswith("Nodes required"):
        word, first = "ReqNodeNotAvail", f"ReqNodeNotAvail: {reason_texts()['ReqNodeNotAvail']}"
    lines = [first]
    if word in _ABOUT_NODES:
        bad = slurm.unavailable_nodes(partition)
        lines += [f"node {each.name} is {each.state}{_because(each.reason)}" for each in bad[:_NAMED]]
        if len(bad) > _NAMED:
            lines.append(f"{len(bad) - _NAMED} more nodes of partition {partition} take no jobs")
    started = job.row.started
    if started[:1].isdigit():
        lines.append(f"Slurm expects to start it at {started} UTC")
    return lines


def _because(reason: str) -> str:
    return f" ({reason})" if reason and reason.lower() != "none" else ""
