"""Rules on whether a job finds the shared files wherever it runs: own servers and the cloud see them at one path."""

from collections.abc import Mapping, Sequence

from gpufleet.rules import coerce
from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule


@rule("any-pool-reaches-files", Severity.WARNING)
def pool_reaches(*, place: str, files: str, link: bool, sync_hours: int | None) -> Outcome:
    """A pool is where the shared files are, is linked to them, or has a copy of them.

    place, files: where the pool and the files are, in words of the label gpufleet.dev/place. sync_hours: how often the
    copy at `place` is made, None without one.

    Source: https://kubernetes.io/docs/concepts/storage/volumes/#nfs: a pod whose server is not reached stays in
    ContainerCreating until its time is up. The environment may live with it: only jobs that use the files are rejected.
    """
    if reaches(place, files, link=link, sync_hours=sync_hours):
        return passed()
    problem = f"nothing leads from there to the shared files, which are at {files}: jobs with these files are rejected"
    fix = f"give gpufleet:link, or own_servers.line: true where there is one, or submit such jobs with --place {files}"
    return failed("place", place, problem, fix)


@rule("any-pool-files-age", Severity.INFO)
def files_fresh(*, place: str, files: str, sync_hours: int, back: bool) -> Outcome:
    """A pool with a copy of the shared files sees them as they were at the last sync.

    back: whether what its jobs write is copied back.

    Source: https://docs.aws.amazon.com/datasync/latest/userguide/task-scheduling.html: once an hour at most, and a run
    that takes longer than its interval delays the next.
    """
    if place == files:
        return passed()
    returns = f"as late at {files}" if back else f"not at {files} at all"
    problem = f"sees the shared files as they were up to {sync_hours} h ago, and what its jobs write is {returns}"
    return failed("place", place, problem, "use gpufleet:link for one file system, or wait for the sync before a job")


@rule("any-job-reaches-files", Severity.ERROR)
def job_reaches(*, place: str, unreached: Sequence[str], files: str) -> Outcome:
    """A job with shared files runs only where they are reachable at its path.

    place: where the job asked to run, empty for anywhere. unreached: places of its pools without the files.

    Source: a pod whose volume is not reached stays in ContainerCreating; half of a job that overflows would hang, and
    its GPUs be paid for (mission of gpufleet, S4).
    """
    met = [each for each in unreached if place in ("", each)]
    if not met:
        return passed()
    problem = f"the job may run there, and its shared files at {files} are not reached from there"
    return failed(
        "place", join_words(met, "and"), problem, f"use --place {files}, or give the environment a gpufleet:link"
    )


def reaches(place: str, files: str, *, link: bool, sync_hours: int | None) -> bool:
    """Whether a job at `place` finds the shared files, or their copy, at their path."""
    return place == files or link or sync_hours is not None


def validate_file_access(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on pools and shared files, one by one; the whole is never rejected.

    Reads places (of the pools), files_place, link (a line between the places, made here or elsewhere), sync_hours (of a
    copy at the other place), sync_back.
    """
    files = coerce.text(args, "files_place")
    link = coerce.flag(args, "link", False)
    hours = coerce.whole(args, "sync_hours", 0) if coerce.is_whole(args.get("sync_hours")) else None
    back = coerce.flag(args, "sync_back", False)
    findings: list[Finding] = []
    for place in dict.fromkeys(coerce.texts(args, "places")):
        findings.append(pool_reaches(place=place, files=files, link=link, sync_hours=hours))
        if hours is not None and not link:
            findings.append(files_fresh(place=place, files=files, sync_hours=hours, back=back))
    return findings


def unreached_places(args: Mapping[str, object]) -> list[str]:
    """The places that cannot reach the files, by the arguments of `validate_file_access`; jobs need to know them."""
    found = [finding for finding in validate_file_access(args) if finding.rule == pool_reaches.name]
    return [str(each.value) for each in found if each.value is not None]


def validate_job_file_access(args: Mapping[str, object]) -> list[Finding]:
    """Findings on a job. Reads place, volume_claim, unreached_places, files_place; none for a job without the files."""
    unreached = coerce.texts(args, "unreached_places")
    if not coerce.text(args, "volume_claim") or not unreached:
        return []
    return [job_reaches(place=coerce.text(args, "place"), unreached=unreached, files=coerce.text(args, "files_place"))]
